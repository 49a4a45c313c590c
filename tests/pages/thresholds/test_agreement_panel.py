"""The figures and lines of agreement on the page of a threshold."""

from __future__ import annotations

from evalsite.pages.thresholds.agreement_panel import AgreementPanel
from scoring.core.stats.calibration import ScoredLabel
from scoring.engine.thresholds.agreement import Agreement

LABELS = [
    ScoredLabel(score, passes)
    for score, passes in ((0.2, False), (0.4, True), (0.5, False), (0.6, True), (0.9, True))
]
AGREEMENT = Agreement(LABELS, version=2, run_count=3)


def names(panel: AgreementPanel) -> list[tuple[str, float]]:
    return [(row.name, row.threshold) for row in panel.rows()]


def test_rows_are_of_the_thresholds_that_matter_each_once() -> None:
    assert AGREEMENT.best is not None
    best = AGREEMENT.best.threshold
    assert names(AgreementPanel(AGREEMENT, 0.5, 0.5)) == [("current", 0.5), ("best", best)]
    assert names(AgreementPanel(AGREEMENT, 0.5, best)) == [("current", 0.5), ("new", best)]
    (current, *_) = AgreementPanel(AGREEMENT, 0.5, 0.5).rows()
    assert current.table == AGREEMENT.table_at(0.5) == (2, 1, 1, 1)


def test_lines_go_over_the_scores_that_occur() -> None:
    chart = AgreementPanel(AGREEMENT, 0.5, 0.5).chart
    assert list(chart.lines) == ["kappa", "precision", "recall"]
    ends = [line.rpartition("H")[2] for line in chart.lines.values()]
    assert ends == [str(chart.width * 0.9)] * 3
    assert chart.lines["recall"].startswith("M0 0.0V0.0")  # all that people pass pass at 0.2
    assert chart.good is not None


def test_scores_that_say_nothing_have_no_best_threshold() -> None:
    panel = AgreementPanel(Agreement([ScoredLabel(0.5, True)], 1, 1), 0.5, 0.5)
    assert panel.best is None
    assert panel.chart.good is None
    assert names(panel) == [("current", 0.5)]
