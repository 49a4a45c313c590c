from __future__ import annotations

import pytest

from scoring.core.contract import forced_fail
from scoring.engine.runs import planning
from scoring.models import Run, Scorer, Suite
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish, rows_of, verdicts_of
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db


def score_again(run: Run, *entries: tuple[Scorer, float]) -> Run:
    again = planning.create_run(run.output_set, scorers=entries, name="again")
    finish(again)
    return again


def test_a_config_change_scores_only_that_scorer(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    kept, changed = make_scorer("spy", "kept"), make_scorer("spy", "changed", label="old")
    first = make_run(["1", "0", "0.25"], kept, changed)
    finish(first)
    assert len(spy.asked) == 6
    spy.asked.clear()
    changed.revise({"label": "new"}, by=None)
    changed.refresh_from_db()
    again = score_again(first, (kept, 0.5), (changed, 0.5))
    assert spy.asked == ["1", "0", "0.25"]
    assert rows_of(again) == rows_of(first)
    assert verdicts_of(again) == verdicts_of(first)
    assert (again.pass_count, again.fail_count) == (1, 2)


def test_another_threshold_costs_no_scoring_and_gives_new_verdicts(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    scorer = make_scorer("spy", threshold=0.5)
    spy.answers["forced"] = forced_fail("invalid_json", "not JSON")
    first = make_run(["0.6", "0.4", "skip", "forced"], scorer)
    finish(first)
    spy.asked.clear()
    again = score_again(first, (scorer, 0.3))
    assert spy.asked == []
    assert [(row[4], row[5], row[7]) for row in rows_of(again)] == [
        (0.6, 0, ""),
        (0.4, 0, ""),
        (None, None, "nothing to judge"),
        (0.0, 1, "not JSON"),
    ]
    higher = score_again(first, (scorer, 0.9))
    assert [(row[5], row[7]) for row in rows_of(higher)][:2] == [
        (1, "0.6 is below the threshold 0.9"),
        (1, "0.4 is below the threshold 0.9"),
    ]


def test_copied_rows_equal_freshly_scored_ones(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    scorer = make_scorer("spy")
    first = make_run(["0.6", "0.4", "1"], scorer)
    finish(first)
    copied = score_again(first, (scorer, 0.61))
    Run.objects.exclude(pk=first.pk).update(state="cancelled")
    Run.objects.filter(pk=first.pk).update(state="cancelled")
    fresh = score_again(first, (scorer, 0.61))
    assert len(spy.asked) == 6
    assert rows_of(copied) == rows_of(fresh)


def test_errors_are_not_copied_but_tried_again(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    scorer = make_scorer("spy")
    first = make_run(["1", "error", "0"], scorer)
    finish(first)
    spy.asked.clear()
    spy.answers["error"] = Spy().answer("1")
    again = score_again(first, (scorer, 0.5))
    assert spy.asked == ["error"]
    assert [row[4] for row in rows_of(again)] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("state", ["queued", "running", "cancelling", "cancelled"])
def test_only_a_finished_run_lends_its_scores(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy, state: str
) -> None:
    scorer = make_scorer("spy")
    first = make_run(["1"], scorer)
    finish(first)
    Run.objects.update(state=state)
    score_again(first, (scorer, 0.5))
    assert spy.asked == ["1", "1"]


def test_another_output_set_lends_nothing(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    scorer = make_scorer("spy")
    finish(make_run(["1"], scorer))
    finish(make_run(["1"], scorer))
    assert spy.asked == ["1", "1"]


def test_an_equal_scorer_of_another_name_lends_its_scores(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    first = make_run(["1"], make_scorer("spy", "one"))
    finish(first)
    again = score_again(first, (make_scorer("spy", "two"), 0.5))
    assert spy.asked == ["1"]
    assert rows_of(again)[0][0] == "two"
    assert Suite.objects.count() == 1
