"""Decisions on broken cases: one for each output of a comparison, taken back on record."""

from __future__ import annotations

import pytest

from scoring.models import AuditEntry, CaseDecision, CaseDecisionState, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

ACCEPTED, REJECTED = CaseDecisionState.ACCEPTED, CaseDecisionState.REJECTED


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abc"])
    return run_with(version, {"close": [1.0] * 3}), run_with(version, {"close": [0.0] * 3})


def outputs_of(run: Run) -> list[int]:
    return list(run.output_set.outputs.order_by("pk").values_list("pk", flat=True))


def states(runs: tuple[Run, Run]) -> dict[int, str]:
    return dict(CaseDecision.objects.between(*runs).values_list("output", "state"))


def test_the_latest_decision_counts(runs: tuple[Run, Run], alice: User) -> None:
    first, second, _ = outputs_of(runs[1])
    CaseDecision.objects.decide(runs, [first, second], ACCEPTED, by=alice)
    CaseDecision.objects.decide(runs, [first], REJECTED, by=alice, reason=" No. ")
    assert states(runs) == {first: REJECTED, second: ACCEPTED}
    entry = AuditEntry.objects.about(runs[1]).get(action="case.rejected")
    assert (entry.new["cases"], entry.new["reason"]) == (["a"], "No.")
    assert entry.new["baseline"] == str(runs[0].uuid)
    assert entry.old == {"decided": [{"output": first, "state": "accepted"}]}


def test_cleared_cases_are_open_again(runs: tuple[Run, Run], alice: User) -> None:
    first, second, third = outputs_of(runs[1])
    CaseDecision.objects.decide(runs, [first, second], ACCEPTED, by=alice)
    CaseDecision.objects.clear(runs, [second, third], by=alice)
    assert states(runs) == {first: ACCEPTED}
    entry = AuditEntry.objects.get(action="case.reopened")
    assert entry.new["cases"] == ["b"]
    assert entry.old == {"decided": [{"output": second, "state": "accepted"}]}
    CaseDecision.objects.clear(runs, [third], by=alice)
    assert AuditEntry.objects.filter(action="case.reopened").count() == 1


def test_they_hold_for_one_comparison(runs: tuple[Run, Run], alice: User) -> None:
    CaseDecision.objects.decide(runs, outputs_of(runs[1]), ACCEPTED, by=alice)
    assert not CaseDecision.objects.between(runs[1], runs[0]).exists()
    other = run_with(runs[0].output_set.version, {"close": [1.0] * len(outputs_of(runs[0]))})
    assert not CaseDecision.objects.between(other, runs[1]).exists()
    CaseDecision.objects.clear((other, runs[1]), outputs_of(runs[1]), by=alice)
    assert CaseDecision.objects.between(*runs).count() == len(outputs_of(runs[1]))
