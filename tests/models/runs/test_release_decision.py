"""Release decisions: one stands for a run, with a reason and its evidence, and can be withdrawn."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scoring.models import AuditEntry, ReleaseDecision, ReleaseState, Run, RunState, User
from scoring.models.runs.release_decision import StaleReleaseError
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

APPROVED, REJECTED = ReleaseState.APPROVED, ReleaseState.REJECTED


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return run_with(make_dataset([{"key": "a"}]), {"close": [1.0]})


def decide(run: Run, by: User, state: ReleaseState = APPROVED, why: str = "ok") -> ReleaseDecision:
    evidence = {"broke": 3}
    return ReleaseDecision.objects.decide(run, state, why, evidence, baseline=None, by=by)


def test_the_latest_decision_stands(run: Run, alice: User, bob: User) -> None:
    first = decide(run, alice)
    second = decide(run, bob, REJECTED, " No. ")
    first.refresh_from_db()
    assert (first.withdrawn_by, second.reason) == (bob, "No.")
    assert list(ReleaseDecision.objects.of(run)) == [second, first]
    assert ReleaseDecision.objects.of(run).standing().get() == second
    entry = AuditEntry.objects.about(run).get(action="release.rejected")
    assert (entry.old["state"], entry.new["evidence"]) == ("approved", {"broke": 3})


def test_a_decision_on_what_no_longer_stands_is_refused(run: Run, alice: User, bob: User) -> None:
    def decide_seeing(seen: str | None) -> ReleaseDecision:
        return ReleaseDecision.objects.decide(
            run, APPROVED, "ok", {}, baseline=None, by=alice, seen=seen
        )

    first = decide_seeing("")
    with pytest.raises(StaleReleaseError, match="approved the run in the meantime") as refused:
        decide_seeing("")
    assert refused.value.current == first
    second = decide_seeing(str(first.uuid))
    decide_seeing(None).withdraw(by=bob)
    with pytest.raises(StaleReleaseError, match="withdrew the decision in the meantime") as refused:
        decide_seeing(str(second.uuid))
    assert refused.value.current is None
    assert ReleaseDecision.objects.of(run).count() == 3


@pytest.mark.parametrize("why", ["", "  "])
def test_a_reason_is_needed(run: Run, alice: User, why: str) -> None:
    with pytest.raises(ValidationError) as refused:
        decide(run, alice, why=why)
    assert list(refused.value.message_dict) == ["reason"]


def test_an_unfinished_run_cannot_be_decided(run: Run, alice: User) -> None:
    run.state = RunState.CANCELLED
    with pytest.raises(ValidationError, match="only a finished run"):
        decide(run, alice)
    assert not ReleaseDecision.objects.exists()


def test_it_is_withdrawn_once_and_restored(run: Run, alice: User) -> None:
    decision = decide(run, alice)
    assert decision.withdraw(by=alice)
    assert not decision.withdraw(by=alice)
    assert not ReleaseDecision.objects.of(run).standing().exists()
    assert decision.restore(by=alice)
    assert ReleaseDecision.objects.of(run).standing().get() == decision
    decision.withdraw(by=alice)
    decide(run, alice)
    assert not decision.restore(by=alice)
    actions = AuditEntry.objects.about(run).filter(action__startswith="release.")
    assert list(actions.order_by("number").values_list("action", flat=True)) == [
        "release.approved",
        "release.withdrawn",
        "release.restored",
        "release.withdrawn",
        "release.approved",
    ]
