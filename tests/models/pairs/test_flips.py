"""FlipCounts between two runs, counted in SQL and by hand."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.core.stats.flips import FlipCounts
from scoring.models import (
    CaseVerdict,
    DatasetVersion,
    Output,
    OutputSet,
    Run,
    RunStep,
    Score,
    Verdict,
)
from scoring.models.pairs.flips import count_flips, count_scorer_flips
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.finished_runs import run_with
from tests.support.thoroughness import examples
from tests.support.undone import undone

KEYS = [f"k{number}" for number in range(6)]
LETTERS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR, "s": Verdict.SKIPPED}


def run_over(version: DatasetVersion, letters: str) -> Run:
    """A run whose verdicts are these letters; "-" stands for no output."""
    outputs = OutputSet.objects.create(version=version, series="a")
    run = Run.objects.create(team=version.dataset.team, output_set=outputs, name="w")
    for case, letter in zip(version.cases.order_by("position"), letters, strict=True):
        if letter != "-":
            output = Output.objects.create(output_set=outputs, case=case, text="")
            CaseVerdict.objects.create(
                run=run, output=output, position=case.position, verdict=LETTERS[letter]
            )
    return run


def by_hand(before: Run, after: Run) -> FlipCounts:
    old, new = (dict(run.verdicts.values_list("output__case__key", "verdict"))
                for run in (before, after))  # fmt: skip
    both = [(old[key], new[key]) for key in old.keys() & new.keys()]
    return FlipCounts(len(both), both.count((1, 0)), both.count((0, 1)))


def test_flips_between_runs_of_one_version(
    make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, FlipCounts]] = [
        ("pppp", "pppp", FlipCounts(4, 0, 0)),
        ("ppff", "fppf", FlipCounts(4, 1, 1)),
        ("pfes", "eppp", FlipCounts(4, 1, 0)),  # neither error nor skip flips
        ("pf-p", "ff-f", FlipCounts(3, 0, 2)),
        ("pp--", "--pp", FlipCounts(0, 0, 0)),
    ]
    for before, after, flips in cases:
        with subtests.test(before=before, after=after, flips=flips), undone():
            version = make_dataset([{"key": key} for key in KEYS[:4]])
            one, other = run_over(version, before), run_over(version, after)
            assert count_flips(one, other) == flips == by_hand(one, other)
            assert count_flips(other, one) == FlipCounts(flips.pairs, flips.broke, flips.fixed)


def test_another_version_is_matched_by_key(make_dataset: MakeDataset) -> None:
    old = make_dataset([{"key": key} for key in ("a", "b", "c", "gone")])
    new = make_dataset([{"key": key} for key in ("new", "c", "b", "a")])
    before, after = run_over(old, "ppff"), run_over(new, "fppf")
    # a: pass → fail, b: pass → pass, c: fail → pass
    assert count_flips(before, after) == FlipCounts(3, 1, 1) == by_hand(before, after)


def test_cases_with_trials_flip_by_their_mean(make_dataset: MakeDataset) -> None:
    """The first case has 2 of 3 right, the second 1 of 3; neither flips for what a trial does."""
    version = make_dataset([{"key": key} for key in "abc"])
    once = run_with(version, {"close": [1, 1, "error"]})
    thrice = run_with(version, {"close": [0, 1, 1, 0, 0, 1, 1, "error", "error"]}, trials=3)
    for count in (count_flips, lambda *runs: count_scorer_flips(*runs)["close"]):
        assert count(thrice, thrice) == FlipCounts(3, 0, 0)
        assert count(once, thrice)[1:] == (0, 1)
        assert count(thrice, once)[1:] == (1, 0)
    assert count_flips(once, thrice).pairs == 3
    assert count_scorer_flips(once, thrice)["close"].pairs == 2


@pytest.mark.parametrize("order", [KEYS[:4], KEYS[3::-1]])
def test_each_scorers_verdicts_are_counted_alone(
    make_dataset: MakeDataset, order: list[str]
) -> None:
    version = make_dataset([{"key": key} for key in KEYS[:4]])
    both = [scorer_of(version, name) for name in ("close", "same")]
    before = run_in_week(version, 1, letters="pfep", scorers=[*both, scorer_of(version, "gone")])
    other = make_dataset([{"key": key} for key in order])
    letters = dict(zip(KEYS, "fppp", strict=False))
    after = run_in_week(other, 2, letters="".join(letters[key] for key in order), scorers=both)
    same = Score.objects.filter(scorer__run=after, scorer__name="same")
    same.filter(output__case__key=KEYS[0]).update(score=1.0, verdict=Verdict.PASS)
    assert count_scorer_flips(before, after) == {
        "close": FlipCounts(3, 1, 1),
        "same": FlipCounts(3, 1, 0),
    }
    assert count_scorer_flips(after, before) == {
        "close": FlipCounts(3, 1, 1),
        "same": FlipCounts(3, 0, 1),
    }


letters = st.text("pfes-", min_size=6, max_size=6)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=letters, after=letters, order=st.permutations(KEYS))
def test_counts_are_those_by_hand_whatever_the_order(
    make_dataset: MakeDataset, before: str, after: str, order: list[str]
) -> None:
    version = make_dataset([{"key": key} for key in KEYS])
    other = make_dataset([{"key": key} for key in order])
    one = run_over(version, before)
    for of in (version, other):
        two = run_over(of, after)
        assert count_flips(one, two) == by_hand(one, two)


def test_a_step_holds_until_a_run_is_scored_again(make_dataset: MakeDataset) -> None:
    from django.utils import timezone

    version, now = make_dataset([{}]), timezone.now()
    before, after = run_over(version, ["p"]), run_over(version, ["f"])
    before.finished_at = after.finished_at = now
    step = RunStep(
        before=before, after=after, before_finished_at=now, after_finished_at=now,
        pairs=1, fixed=0, broke=1,
    )  # fmt: skip
    assert step.flips == FlipCounts(1, 0, 1)
    assert not step.holds_for(before, after)  # its scorers are not counted
    step.scorers = {"close": [1, 1, 0]}
    assert step.flips_of("close") == FlipCounts(1, 1, 0)
    assert step.flips_of("gone") == FlipCounts(0, 0, 0)
    assert step.holds_for(before, after)
    after.finished_at = timezone.now()
    assert not step.holds_for(before, after)
