"""Cases of several trials flip by their means, and count once."""

from __future__ import annotations

from random import Random

import pytest

from scoring.engine.thresholds.case_means import count_always_failing, read_case_means
from scoring.engine.thresholds.distribution import read_distributions
from scoring.engine.thresholds.flips import CaseFlips, find_flips
from scoring.models import Output, Run, RunScorer, Score, ScoreHistogram
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given
from tests.support.suite_runs import suite_run

pytestmark = pytest.mark.django_db
CHOICES: list[Given] = ["error", "skip", *(n / 8 for n in range(9))]


def scorer_of(run: Run, name: str = "close") -> RunScorer:
    return RunScorer.objects.select_related("run", "summary").get(run=run, name=name)


def case_verdicts(run: Run) -> dict[int, int]:
    """By the position of the case."""
    rows = run.verdicts.filter(of_case__isnull=False)
    return dict(rows.values_list("position", "of_case"))


@pytest.mark.parametrize("is_stored", [True, False])
def test_flips_are_those_of_a_run_judged_by_the_new_threshold(
    make_dataset: MakeDataset, is_stored: bool
) -> None:
    random = Random(2)
    version = make_dataset([{}] * 50)
    scores = {name: random.choices(CHOICES, k=150) for name in ("close", "same")}
    first = suite_run(version, scores, trials=3)
    if not is_stored:
        ScoreHistogram.objects.all().delete()
    scorer = scorer_of(first)
    flipped = 0
    for new in (0.0, 1.0, 0.375, 5 / 12, *(random.random() for _ in range(6))):
        again = suite_run(version, scores, trials=3, thresholds={"close": new})
        passed = scorer_of(again).summary.passed
        assert read_distributions([scorer], [new])[scorer.pk].count_passed(new) == passed
        flips = find_flips(scorer, 0.5, new)
        assert isinstance(flips, CaseFlips)
        cases = flips.page(size=100).cases
        assert len(cases) == abs(passed - scorer.summary.passed)
        before, after = case_verdicts(first), case_verdicts(again)
        changed = {place for place in before if before[place] != after[place]}
        assert {case.position for case in cases if case.changes_case} == changed
        assert flips.count_case_verdicts() == len(changed)
        assert all(case.trial == 0 for case in cases)
        flipped += len(cases)
        again.delete()
    assert flipped > 30


def test_pages_go_through_all_cases_both_ways(make_dataset: MakeDataset) -> None:
    means = [0.6, 0.5, 0.9, 0.6, 0.55, 0.6, 0.2]
    scores: list[Given] = [score for mean in means for score in (mean - 0.1, mean + 0.1)]
    run = suite_run(make_dataset([{}] * 7), {"close": scores}, trials=2)
    flips = find_flips(scorer_of(run), 0.5, 0.7)
    first = flips.page(size=2)
    second = flips.page(size=2, after=first.after)
    third = flips.page(size=2, after=second.after)
    pages = [first, second, third]
    assert [[c.position for c in page.cases] for page in pages] == [[2, 5], [1, 4], [6]]
    assert (first.before, third.after) == (None, None)
    assert flips.page(size=2, before=third.before).cases == second.cases
    assert flips.page(size=2, before=second.before) == first
    hidden = Output.objects.get(case__position=1, trial=1).pk
    left = flips.page(without=frozenset([hidden])).cases
    assert [case.position for case in left] == [2, 5, 4, 6]


def test_a_case_of_faults_alone_passes_nowhere(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0, 0, 0, 0, 0, 0.5]}, trials=2)
    scores = list(Score.objects.order_by("output__case__position", "output__trial"))
    for place in (0, 1, 2):  # both trials of the first case, one of the second
        Score.objects.filter(pk=scores[place].pk).update(code="invalid_json")
    scorer = scorer_of(run)
    assert count_always_failing([scorer]) == {scorer.pk: 1}
    assert [each.always_fails for each in read_case_means(scorer, 0, 1)] == [True, False, False]
    scorer.summary.faults = {"invalid_json": 3}
    assert read_distributions([scorer], [0.0])[scorer.pk].count_passed(0.0) == 2
    assert [case.position for case in find_flips(scorer, 0.2, 0).page().cases] == [2]
