"""The states of broken cases, by waivers and decisions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.models import CaseDecision, CaseDecisionState, DatasetVersion, Run, User
from scoring.models.reviews.broken_cases import (
    BrokenCases,
    CaseState,
    failing_scorers,
    waived_flips,
)
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waived_runs import waive

KEYS = "abcdef"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": key} for key in KEYS])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    """a and b broke by both scorers, c and d by one of them, e stays well, f failed before."""
    before = run_with(version, {"close": [1, 1, 1, 1, 1, 0], "tone": [1, 1, 1, 1, 1, 1]})
    after = run_with(version, {"close": [0, 0, 0, 1, 1, 0], "tone": [0, 0, 1, 0, 1, 0]})
    return before, after


def output(run: Run, key: str) -> int:
    return run.output_set.outputs.get(case__key=key).pk


def states(runs: tuple[Run, Run]) -> dict[str, str]:
    cases = BrokenCases(*runs)
    return {key: cases.state_of(output(runs[1], key)).value for key in "abcd"}


def test_a_case_is_waived_once_every_scorer_that_fails_it_is(
    runs: tuple[Run, Run], alice: User
) -> None:
    waive(runs[1], "a", "close", alice)
    assert states(runs)["a"] == "open"
    waive(runs[1], "a", "tone", alice, days=3)
    waive(runs[1], "c", "tone", alice)  # close fails it
    waive(runs[1], "d", "tone", alice)
    waive(runs[1], "f", "close", alice)  # did not break
    assert states(runs) == {"a": "waived", "b": "open", "c": "open", "d": "waived"}
    cases = BrokenCases(*runs)
    case = cases.waived[output(runs[1], "a")]
    assert [waiver.scorer.name for waiver in case.waivers] == ["close", "tone"]
    assert case.until == timezone.localdate() + timedelta(days=3)
    assert cases.counts(4) == (2, 0, 0, 2)
    assert [each.pair.key for each in cases.waiver_use.used] == ["a", "d"]


def test_a_waiver_of_another_dataset_excuses_nothing(
    runs: tuple[Run, Run], make_dataset: MakeDataset, alice: User
) -> None:
    other = run_with(make_dataset([{"key": "d"}], "Other"), {"tone": [0]})
    waive(other, "d", "tone", alice)
    assert states(runs)["d"] == "open"
    assert waived_flips(BrokenCases(*runs), "tone").cases == 0


def test_after_one_of_the_dates_it_is_open_again(runs: tuple[Run, Run], alice: User) -> None:
    waive(runs[1], "a", "close", alice)
    waive(runs[1], "a", "tone", alice, days=-1)
    waive(runs[1], "d", "tone", alice, days=0)
    assert states(runs) == {"a": "open", "b": "open", "c": "open", "d": "waived"}
    use = BrokenCases(*runs).waiver_use
    assert ([c.pair.key for c in use.used], [c.pair.key for c in use.expired]) == (["d"], ["a"])
    tomorrow = BrokenCases(*runs, today=timezone.localdate() + timedelta(days=1))
    assert [case.pair.key for case in tomorrow.waiver_use.expired] == ["a", "d"]


def test_a_decision_shows_before_a_waiver_and_a_rejection_undoes_it(
    runs: tuple[Run, Run], alice: User
) -> None:
    for key in "cd":
        waive(runs[1], key, {"c": "close", "d": "tone"}[key], alice)
    decide = CaseDecision.objects.decide
    decide(runs, [output(runs[1], "c")], CaseDecisionState.ACCEPTED, by=alice)
    decide(runs, [output(runs[1], "d")], CaseDecisionState.REJECTED, by=alice)
    assert states(runs) == {"a": "open", "b": "open", "c": "accepted", "d": "rejected"}
    cases = BrokenCases(*runs)
    assert [case.pair.key for case in cases.waiver_use.used] == ["c"]
    assert (cases.counts(4), cases.counts(4).unsigned) == ((2, 1, 1, 0), 3)
    assert cases.outputs_in(CaseState.ACCEPTED) == {output(runs[1], "c")}
    assert cases.outputs_in(CaseState.OPEN) == {output(runs[1], key) for key in "cd"}


def test_waivers_go_by_key_through_versions_and_trials(
    make_dataset: MakeDataset, version: DatasetVersion, alice: User
) -> None:
    before = run_with(version, {"close": [1.0] * 12}, trials=2)
    later = make_dataset([{"key": key} for key in "fedcba"])
    after = run_with(later, {"close": [0.0, 0.9] + [0.0] * 10}, trials=2)
    waive(after, "f", "close", alice)
    waive(after, "a", "close", alice)
    used = BrokenCases(before, after).waiver_use.used
    assert [(case.pair.key, case.trial) for case in used] == [("f", 0), ("a", 0)]


def test_without_waivers_little_is_asked(runs: tuple[Run, Run]) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert BrokenCases(*runs).counts(4) == (4, 0, 0, 0)
    assert len(queries) <= 4  # two of them lead to the dataset


def test_failing_scorers_are_named_in_order(runs: tuple[Run, Run]) -> None:
    ids = [scorer.version.scorer_id for scorer in runs[1].scorers.select_related("version")]
    wanted = [output(runs[1], key) for key in "ae"]
    assert failing_scorers(runs[1], wanted) == {wanted[0]: ids}
