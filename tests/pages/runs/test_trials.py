"""A run whose cases have several trials: figures over cases, and the unsteady ones."""

from __future__ import annotations

from statistics import fmean, median

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scoring.models import Output, OutputSet, Run
from tests.conftest import MakeDataset
from tests.pages.runs.steps import MakeSet, keys, url
from tests.support.run_states import CLOSE, EXACT, finished_run
from tests.support.undone import undone

#: By case: the outputs of its three trials; `yes` is what is expected.
TRIALS = [("yes", "yes", "yes"), ("yes", "yet", "no"), ("no", "no", "no"), ("yes", "no", None)]
EXACT_SCORES = [[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0]]
UNSTEADY = ["case-2", "case-4"]


@pytest.fixture
def outputs(make_set: MakeSet) -> OutputSet:
    made = make_set([texts[0] for texts in TRIALS])
    first = list(made.outputs.select_related("case").order_by("pk"))
    for trial in (1, 2):
        Output.objects.bulk_create(
            Output(output_set=made, case=output.case, trial=trial, text=texts[trial])
            for output, texts in zip(first, TRIALS, strict=True)
        )
    return made


@pytest.fixture
def tried(outputs: OutputSet) -> Run:
    return finished_run(outputs, EXACT)


def test_figures_are_over_cases(bobs: Client, tried: Run) -> None:
    for query, how, scores in [
        ("", "mean", [fmean(each) for each in EXACT_SCORES]),
        ("?trials=mean", "mean", [fmean(each) for each in EXACT_SCORES]),
        ("?trials=median", "median", [median(each) for each in EXACT_SCORES]),
        ("?trials=min", "min", [min(each) for each in EXACT_SCORES]),
        ("?trials=odd", "mean", [fmean(each) for each in EXACT_SCORES]),
        ("?trials=pass@9", "mean", [fmean(each) for each in EXACT_SCORES]),
    ]:
        answer = bobs.get(url(tried, query))
        (figure,) = answer.context["figures"]
        assert (figure.how, figure.case_count) == (how, 4)
        shown = " ".join(answer.text.split())
        if how == "mean":
            assert figure.mean.value == pytest.approx(fmean(scores))
            assert figure.mean.interval is not None
            assert figure.pass_rate.value == sum(score >= 1 for score in scores) / 4
        else:  # a trial failed to run
            assert (figure.mean, figure.pass_rate) == (None, None)
            low, high = figure.bounds.mean
            assert low <= fmean(scores) <= high
            assert (f"{low:.2f} to {high:.2f}" if low < high else f"{low:.2f} </td>") in shown
        assert "(11 of 12 outputs)" in shown
        assert "1 case with a failed trial" in shown
        assert f'<option value="{how}" selected>' in answer.text


def test_pass_at_k_is_a_rate_without_a_mean(
    bobs: Client, tried: Run, subtests: pytest.Subtests
) -> None:
    given: list[tuple[int, float]] = [
        (1, (1 + 1 / 3 + 0 + 2 / 3) / 4),
        (2, (1 + 2 / 3 + 0 + 1) / 4),
        (3, (1 + 1 + 0 + 1) / 4),
    ]
    Output.objects.filter(text=None).update(text="yes")
    run = finished_run(tried.output_set, EXACT, name="whole")
    for k, chance in given:
        with subtests.test(k=k, chance=chance), undone():
            (figure,) = bobs.get(url(run, f"?trials=pass@{k}")).context["figures"]
            assert (figure.mean, figure.case_count, figure.bounds) == (None, 4, None)
            assert figure.pass_rate.value == pytest.approx(chance)


def test_a_case_with_a_trial_that_failed_to_run_does_not_drop_out_of_pass_at_k(
    bobs: Client, tried: Run
) -> None:
    """Left out, it would flatter: here by half of what the two others make."""
    (figure,) = bobs.get(url(tried, "?trials=pass@1")).context["figures"]
    low, high = (1 + 1 / 3 + 0 + 1 / 3) / 4, (1 + 1 / 3 + 0 + 2 / 3) / 4
    assert (figure.pass_rate, figure.case_count) == (None, 4)
    assert figure.bounds.pass_rate == pytest.approx([low, high])
    page = " ".join(bobs.get(url(tried, "?trials=pass@1")).text.split())
    assert "41.7\u202f% to 50.0\u202f%" in page.replace("\xa0", "\u202f") or "41.7" in page
    assert "Failed trials could have scored anything" in page


def test_the_way_stays_in_every_link_of_the_table(bobs: Client, tried: Run) -> None:
    answer = bobs.get(url(tried, "?trials=min&verdict=fail"))
    (figure,) = answer.context["figures"]
    assert "trials=min" in figure.unsteady.query
    assert all("trials=min" in heading.url for heading in answer.context["cases"].headings())
    assert '<input type="hidden" name="verdict" value="fail">' in answer.text
    assert '<input type="hidden" name="trials" value="min">' in answer.text


def test_a_run_with_one_trial_a_case_offers_no_ways(bobs: Client, run: Run) -> None:
    answer = bobs.get(url(run, "?trials=min"))
    assert answer.context["trial_figures"] == []
    assert all(figure.mean == figure.summary.mean_estimate for figure in answer.context["figures"])
    assert "A case counts as" not in answer.text
    assert "Unsteady" not in answer.text


class TestUnsteady:
    def test_only_cases_whose_trials_straddle_are_listed(self, bobs: Client, tried: Run) -> None:
        answer = bobs.get(url(tried, "?unsteady=on"))
        assert sorted(set(keys(answer))) == UNSTEADY
        assert len(keys(answer)) == 6, "every trial of an unsteady case has its row"
        (chip,) = answer.context["cases"].filter_chips()
        assert (chip.text, "unsteady" in chip.url) == ("unsteady", False)

    def test_it_goes_with_every_other_filter(
        self, bobs: Client, outputs: OutputSet, subtests: pytest.Subtests
    ) -> None:
        cases: list[tuple[str, list[str]]] = [
            ("?unsteady=on&scorer=exact", UNSTEADY),
            ("?unsteady=on&scorer=close", ["case-2", "case-4"]),
            ("?unsteady=on&sort=exact", UNSTEADY),
            ("?unsteady=on&sort=exact&scorer=close", ["case-2", "case-4"]),
            ("?unsteady=on&verdict=pass", UNSTEADY),
            ("?unsteady=on&q=yet", ["case-2"]),
            ("?unsteady=on&scorer=exact&max=0.5&sort=close", UNSTEADY),
        ]
        for query, found in cases:
            with subtests.test(query=query, found=found), undone():
                run = finished_run(outputs, EXACT, CLOSE)
                answer = bobs.get(url(run, query))
                assert sorted(set(keys(answer))) == found

    @pytest.mark.parametrize("few", [0, 2_000])
    def test_few_or_many_are_found_alike(
        self, bobs: Client, tried: Run, few: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("scoring.models.case_list.selection.MAX_POSITIONS", few)
        for query in ("?unsteady=on", "?unsteady=on&sort=exact", "?unsteady=on&scorer=exact"):
            assert sorted(set(keys(bobs.get(url(tried, query))))) == UNSTEADY, query

    def test_their_rows_are_marked(self, bobs: Client, tried: Run) -> None:
        answer = bobs.get(url(tried))
        marked = {row.key for row in answer.context["cases"].page.rows if row.is_unsteady}
        assert sorted(marked) == UNSTEADY
        assert answer.text.count("Some trials of this case pass and others fail") == 6

    def test_the_scorer_tells_how_many_and_leads_to_them(self, bobs: Client, tried: Run) -> None:
        (figure,) = bobs.get(url(tried)).context["figures"]
        assert figure.unsteady.number == 2
        assert sorted(set(keys(bobs.get(url(tried, figure.unsteady.query))))) == UNSTEADY


def test_the_page_needs_few_queries(bobs: Client, tried: Run, subtests: pytest.Subtests) -> None:
    cases: list[str] = ["", "?sort=exact&verdict=pass", "?unsteady=on&sort=exact&verdict=pass&q=y"]
    for query in cases:
        with subtests.test(query=query), undone():
            with CaptureQueriesContext(connection) as captured:
                assert bobs.get(url(tried, query)).status_code == 200
            assert len(captured) <= 24


def test_missing_trials_of_a_case_are_no_trials(
    bobs: Client, make_dataset: MakeDataset, outputs: OutputSet
) -> None:
    """A case with one scored trial among others with three counts with that one."""
    case = outputs.outputs.order_by("pk")[0].case
    outputs.outputs.filter(case=case, trial__gt=0).delete()
    (figure,) = bobs.get(url(finished_run(outputs, EXACT))).context["figures"]
    assert figure.mean.value == pytest.approx(fmean([1, 1 / 3, 0, 0.5]))
