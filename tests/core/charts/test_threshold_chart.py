from __future__ import annotations

from scoring.core.charts.threshold_chart import agreement_chart, threshold_chart


def test_a_line_falls_after_each_threshold_up_to_which_its_rate_holds() -> None:
    curve = [(0.25, 1.0), (0.75, 0.5), (1.0, 0.0)]
    chart = threshold_chart([curve], 0.5, 0.7, width=100, height=40)
    assert chart.lines == ("M0 0.0V0.0H25.0V20.0H75.0V40.0H100.0",)
    assert (chart.current_x, chart.new_x) == (50, 70)


def test_axes_go_from_0_to_1() -> None:
    chart = threshold_chart([], 0, 1, width=100, height=40)
    assert [(tick.at, tick.text) for tick in chart.threshold_ticks][::5] == [(0, "0"), (100, "1")]
    assert [(tick.at, tick.text) for tick in chart.rate_ticks][::4] == [(40, "0%"), (0, "100%")]


def test_a_run_without_scores_has_no_line() -> None:
    assert threshold_chart([[]], 0.5, 0.5).lines == ()


def test_agreement_is_drawn_from_0_up_with_the_range_that_is_as_good() -> None:
    curves = {"kappa": [(0.5, -0.25), (1.0, 0.5)], "recall": []}
    chart = agreement_chart(curves, (0.25, 0.75), width=100, height=40)
    assert chart.lines == {"kappa": "M0 40.0V40.0H50.0V20.0H100.0"}
    assert chart.good == (25, 50)
    assert [(tick.at, tick.text) for tick in chart.ticks] == [(40, "0"), (20, "0.5"), (0, "1")]
    assert agreement_chart({}, None).good is None
