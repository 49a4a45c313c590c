from __future__ import annotations

from random import Random

import pytest

from scoring.core.contract import forced_fail
from scoring.engine.runs import planning
from scoring.engine.thresholds.distribution import read_distributions
from scoring.engine.thresholds.flips import FlipCursor, OutputFlips
from scoring.models import Case, CaseVerdict, Run, Score
from tests.conftest import MakeDataset
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy
from tests.support.suite_runs import suite_run

pytestmark = pytest.mark.django_db


def scorer_verdicts(run: Run) -> dict[int, int | None]:
    rows = Score.objects.filter(scorer__run=run, scorer__position=0)
    return dict(rows.values_list("output", "verdict"))


def case_verdicts(run: Run) -> dict[int, int]:
    return dict(CaseVerdict.objects.filter(run=run).values_list("output", "verdict"))


def changed(before: dict[int, int], after: dict[int, int]) -> set[int]:
    return {output for output in before if before[output] != after[output]}


def test_flips_are_those_of_a_run_scored_with_the_new_threshold(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    random = Random(11)
    spy.answers["forced"] = forced_fail("invalid_json", "not JSON")
    words = ["error", "skip", "forced", "0", "1", *(str(n / 9) for n in range(10))]
    outputs = [random.choice(words) for _ in range(120)]
    scorer = make_scorer("spy", threshold=0.5)
    other = make_scorer("exact_match", "other")
    expected = [random.choice([output, "else", ...]) for output in outputs]
    first = make_run(outputs, scorer, other, expected=expected)
    finish(first)
    frozen = first.scorers.select_related("summary").get(name="spy")
    thresholds = [0.0, 1.0, 4 / 9, *(random.random() for _ in range(7))]
    flipped_somewhere = set()
    for new in thresholds:
        again = planning.create_run(
            first.output_set, scorers=[(scorer, new), (other, 1.0)], name="again"
        )
        finish(again)
        flips = OutputFlips(frozen, 0.5, new)
        wanted = changed(scorer_verdicts(first), scorer_verdicts(again))
        page = flips.page(size=200).cases
        assert {case.cursor.output for case in page} == wanted
        assert len(page) == flips.rows.count()
        changed_cases = changed(case_verdicts(first), case_verdicts(again))
        assert {case.cursor.output for case in page if case.changes_case} == changed_cases
        assert flips.count_case_verdicts() == len(changed_cases)
        distribution = read_distributions([frozen], [new])[frozen.pk]
        assert distribution.count_passed(new) == again.scorers.get(name="spy").summary.passed
        flipped_somewhere |= wanted
    assert len(flipped_somewhere) > 50


def test_pages_go_through_all_cases_both_ways(make_dataset: MakeDataset) -> None:
    scores = [0.6, 0.5, 0.9, 0.6, 0.55, 0.6, 0.2, "error"]
    run = suite_run(make_dataset([{}] * 8), {"close": scores})
    flips = OutputFlips(run.scorers.get(), 0.5, 0.7)
    first = flips.page(size=2)
    assert first.before is None
    second = flips.page(size=2, after=first.after)
    third = flips.page(size=2, after=second.after)
    pages = [first, second, third]
    assert [[c.position for c in page.cases] for page in pages] == [[2, 5], [1, 4], [6]]
    assert third.after is None
    assert flips.page(size=2, before=third.before).cases == second.cases
    assert flips.page(size=2, before=second.before) == first


def test_no_case_flips_between_equal_thresholds(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.5, 0.6]})
    assert OutputFlips(run.scorers.get(), 0.5, 0.5).page().cases == []


def test_a_case_says_its_key_trial_and_score(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.75]})
    (case,) = OutputFlips(run.scorers.get(), 0.9, 0.75).page().cases
    assert case[:5] == (Case.objects.get().key, 1, 0, 0.75, True)


@pytest.mark.parametrize(
    ("text", "cursor"),
    [
        ("0.25,7", FlipCursor(0.25, 7)),
        ("", None),
        ("0.5", None),
        ("nan,3", None),
        ("inf,3", None),
        ("0.5,-1", None),
        ("0.5,99999999999999999999", None),
    ],
)
def test_cursors_are_read_as_written(text: str, cursor: FlipCursor | None) -> None:
    assert FlipCursor.parse(text) == cursor
    if cursor:
        assert str(cursor) == text
