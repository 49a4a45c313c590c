"""Broken cases acted on together, and what was decided before brought back."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from scoring.engine.signoff.case_actions import (
    ComparedCases,
    SignOffState,
    StaleSignOffError,
    StateChange,
    decide_cases,
    read_state,
    record_change,
    reopen_cases,
    undo_change,
    waive_cases,
)
from scoring.models import AuditEntry, CaseDecision, CaseDecisionState, User, Waiver
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.reviews.broken_cases import BrokenCases, CaseState, NewestSignOff
from scoring.models.reviews.waiver import Terms
from tests.conftest import MakeDataset
from tests.support.concurrency import locked_tables
from tests.support.finished_runs import run_with
from tests.support.waived_runs import waive

ACCEPTED, REJECTED = CaseDecisionState.ACCEPTED, CaseDecisionState.REJECTED


@pytest.fixture
def cases(make_dataset: MakeDataset) -> ComparedCases:
    """a broke by both scorers, b and c by one; d did not."""
    version = make_dataset([{"key": key} for key in "abcd"])
    old = run_with(version, {"close": [1.0] * 4, "tone": [1.0] * 4})
    new = run_with(version, {"close": [0, 0, 1, 1], "tone": [0, 1, 0, 1]})
    return ComparedCases(old, new, Pairs(old, new).page(PairKind.BROKE).rows)


def part(cases: ComparedCases, *keys: str) -> ComparedCases:
    return cases._replace(pairs=[pair for pair in cases.pairs if pair.key in keys])


def terms(owner: User, days: int = 5) -> Terms:
    return Terms(timezone.localdate() + timedelta(days=days), "Known.", owner)


def states(cases: ComparedCases) -> str:
    broken = BrokenCases(*cases.runs)
    return "".join(broken.state_of(output).value[0] for output in cases.outputs)


def test_waiving_covers_exactly_what_fails(cases: ComparedCases, alice: User) -> None:
    decide_cases(part(cases, "a"), REJECTED, by=alice)
    made = waive_cases(cases, terms(alice), by=alice)
    named = sorted((waiver.case_key, waiver.scorer.name) for waiver in made)
    assert named == [("a", "close"), ("a", "tone"), ("b", "close"), ("c", "tone")]
    assert states(cases) == "www"
    assert not CaseDecision.objects.exists()


def test_refused_terms_change_nothing(cases: ComparedCases, alice: User) -> None:
    decide_cases(part(cases, "a"), REJECTED, by=alice)
    with pytest.raises(ValidationError):
        waive_cases(cases, terms(alice, days=-1), by=alice)
    assert states(cases) == "roo"


def test_reopening_is_of_these_cases_alone(cases: ComparedCases, alice: User) -> None:
    waive_cases(part(cases, "a", "b"), terms(alice), by=alice)
    decide_cases(part(cases, "c"), ACCEPTED, by=alice)
    reopen_cases(part(cases, "a", "c"), by=alice)
    assert states(cases) == "owo"


def test_a_waiver_for_a_scorer_that_passes_the_case_is_left_alone(
    cases: ComparedCases, alice: User
) -> None:
    kept = waive(cases.candidate, "b", "tone", alice)
    waive_cases(part(cases, "a"), terms(alice), by=alice)
    waive_cases(part(cases, "b"), terms(alice), by=alice)
    reopen_cases(cases, by=alice)
    assert list(Waiver.objects.open()) == [kept]


def test_undoing_what_has_not_changed_touches_no_waiver(cases: ComparedCases, alice: User) -> None:
    waive_cases(cases, terms(alice), by=alice)
    before = list(Waiver.objects.open().values())
    state = read_state(cases)
    undo_change(cases, StateChange(state, state), by=alice)
    assert list(Waiver.objects.open().values()) == before
    waived = AuditEntry.objects.filter(action__startswith="waiver.")
    assert list(waived.values_list("action", flat=True)) == ["waiver.created"]


@pytest.mark.parametrize("act", ["accept", "waive", "reopen"])
def test_what_was_decided_before_comes_back(cases: ComparedCases, alice: User, act: str) -> None:
    waive_cases(part(cases, "a"), terms(alice), by=alice)
    decide_cases(part(cases, "b"), REJECTED, by=alice, reason="Wrong.")
    before = read_state(cases)
    acts = {
        "accept": lambda: decide_cases(cases, ACCEPTED, by=alice),
        "waive": lambda: waive_cases(cases, terms(alice, days=9), by=alice),
        "reopen": lambda: reopen_cases(cases, by=alice),
    }
    change = record_change(cases, acts[act])
    assert change == (before, read_state(cases))
    kept = StateChange.read(change.as_json())
    assert kept == change
    assert states(cases) == {"accept": "aaa", "waive": "www", "reopen": "ooo"}[act]
    undo_change(cases, kept, by=alice)
    assert states(cases) == "wro"
    assert CaseDecision.objects.get().reason == "Wrong."
    assert read_state(cases) == before


def test_a_waiver_of_another_dataset_is_never_reopened(
    cases: ComparedCases, alice: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "a"}], name="Other")
    old, new = (run_with(version, {"close": [score]}) for score in (1.0, 0.0))
    other = ComparedCases(old, new, Pairs(old, new).page(PairKind.BROKE).rows)
    (waiver,) = waive_cases(other, terms(alice), by=alice)
    reopen_cases(other, by=alice)
    before = SignOffState({}, [waiver.uuid])
    undo_change(cases, StateChange(before, read_state(cases)), by=alice)
    assert not Waiver.objects.open().exists()


def test_states_of_outputs_that_are_not_meant_are_left_out(
    cases: ComparedCases, alice: User
) -> None:
    foreign = SignOffState({10**9: ("accepted", "")}, [])
    undo_change(cases, StateChange(foreign, read_state(cases)), by=alice)
    assert not CaseDecision.objects.exists()
    with pytest.raises(ValueError, match="is not a valid"):
        SignOffState.read({"decisions": [[1, "perhaps", ""]], "waivers": []})


@pytest.mark.parametrize("theirs", ["reject", "waive", "reopen"])
def test_an_undo_leaves_what_a_colleague_decided_since(
    cases: ComparedCases, alice: User, bob: User, theirs: str
) -> None:
    change = record_change(cases, lambda: decide_cases(cases, ACCEPTED, by=alice))
    one = part(cases, "b")
    if theirs == "reject":
        decide_cases(one, REJECTED, by=bob, reason="Wrong.")
    elif theirs == "waive":
        waive_cases(one, terms(alice), by=bob)
    else:
        reopen_cases(one, by=bob)
    decided = read_state(cases)
    with pytest.raises(StaleSignOffError, match="Nothing was undone"):
        undo_change(cases, change, by=alice)
    assert read_state(cases) == decided


@pytest.mark.parametrize("theirs", ["reject", "waive"])
def test_nothing_is_done_over_what_was_decided_after_the_cases_were_shown(
    cases: ComparedCases, alice: User, bob: User, theirs: str
) -> None:
    decide_cases(part(cases, "a"), REJECTED, by=bob)
    waive_cases(part(cases, "c"), terms(alice), by=bob)
    shown = BrokenCases(*cases.runs).newest
    if theirs == "reject":
        decide_cases(part(cases, "b"), REJECTED, by=bob, reason="x" * 300)
    else:
        waive_cases(part(cases, "b"), terms(alice), by=bob)
    before = read_state(cases)
    accept = partial(decide_cases, cases, ACCEPTED, by=alice)
    with pytest.raises(StaleSignOffError, match=r"b.*Nothing was changed") as caught:
        record_change(cases, accept, shown)
    assert len(str(caught.value)) < 300
    assert read_state(cases) == before
    others = part(cases, "a", "c")
    record_change(others, partial(decide_cases, others, ACCEPTED, by=alice), shown)
    record_change(cases, accept, BrokenCases(*cases.runs).newest)
    assert states(cases) == "aaa"


def test_five_of_many_newer_decisions_are_named(make_dataset: MakeDataset, alice: User) -> None:
    version = make_dataset([{"key": f"k{n}"} for n in range(7)])
    runs = [run_with(version, {"close": [score] * 7}) for score in (1.0, 0.0)]
    many = ComparedCases(runs[0], runs[1], Pairs(*runs).page(PairKind.BROKE).rows)
    decide_cases(many, REJECTED, by=alice)
    with pytest.raises(StaleSignOffError, match=r"rejected k4; and 2 more\. Nothing"):
        record_change(many, lambda: None, NewestSignOff())


@pytest.mark.parametrize(
    ("seen", "refusal"),
    [
        (CaseState.REJECTED, None),
        (CaseState.OPEN, r"bob@.* rejected b \(Wrong"),
        (CaseState.ACCEPTED, r"bob@.* rejected b \(Wrong"),
    ],
)
def test_states_that_were_seen_are_compared(
    cases: ComparedCases, alice: User, bob: User, seen: CaseState, refusal: str | None
) -> None:
    one = part(cases, "b")
    decide_cases(one, REJECTED, by=bob, reason="Wrong.")
    accept = partial(decide_cases, one, ACCEPTED, by=alice)
    if refusal:
        with pytest.raises(StaleSignOffError, match=refusal):
            record_change(one, accept, {one.outputs[0]: seen})
    else:
        record_change(one, accept, {one.outputs[0]: seen})
    assert states(one) == ("r" if refusal else "a")


def test_a_case_that_was_reopened_or_waived_since_is_named(
    cases: ComparedCases, alice: User
) -> None:
    one = part(cases, "b")
    with pytest.raises(StaleSignOffError, match="Another user reopened in the meantime: b"):
        record_change(one, lambda: None, {one.outputs[0]: CaseState.REJECTED})
    waive_cases(one, terms(alice), by=alice)
    with pytest.raises(StaleSignOffError, match=rf"{alice} waived b for close until"):
        record_change(one, lambda: None, {one.outputs[0]: CaseState.OPEN})


def test_acts_lock_the_run_before_the_dataset(
    cases: ComparedCases, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = record_change(cases, lambda: waive_cases(cases, terms(alice), by=alice))
    acts = [
        lambda: undo_change(cases, change, by=alice),
        lambda: waive_cases(cases, terms(alice), by=alice),
        lambda: decide_cases(cases, ACCEPTED, by=alice),
        lambda: reopen_cases(cases, by=alice),
    ]
    for act in acts:
        assert locked_tables(monkeypatch, act)[0] == "scoring_run"
