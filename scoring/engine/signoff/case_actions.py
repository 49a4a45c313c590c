"""Accept, reject, waive or reopen broken cases of a comparison, and undo it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from scoring.models import CaseDecision, CaseDecisionState, Run, User, Waiver
from scoring.models.pairs.rows import Pair
from scoring.models.reviews.broken_cases import (
    BrokenCases,
    CaseState,
    NewestSignOff,
    failing_scorers,
)
from scoring.models.reviews.waiver import Terms, WaivedScorer

MAX_CASES_AT_ONCE: Final = 1_000
_NAMED: Final = 5  # cases that a message names
_REASON: Final = 200  # characters of a reason in it


class ComparedCases(NamedTuple):
    """Broken pairs of a comparison that somebody acts on."""

    baseline: Run
    candidate: Run
    pairs: Sequence[Pair]

    @property
    def runs(self) -> tuple[Run, Run]:
        return self.baseline, self.candidate

    @property
    def outputs(self) -> list[int]:
        """The candidate's outputs."""
        return [pair.candidate.output for pair in self.pairs if pair.candidate]

    def failures(self) -> list[WaivedScorer]:
        """Every case with each scorer that fails it, as waivers name them."""
        failing = failing_scorers(self.candidate, self.outputs)
        return [
            WaivedScorer(pair.key, scorer)
            for pair in self.pairs
            if pair.candidate
            for scorer in failing.get(pair.candidate.output, ())
        ]

    def open_waivers(self) -> list[Waiver]:
        """Those of these cases and of the scorers that fail them, expired ones included."""
        wanted = set(self.failures())
        dataset = self.candidate.output_set.version.dataset_id
        keys = {key for key, _ in wanted}
        rows = Waiver.objects.open().filter(dataset=dataset, case_key__in=keys).order_by("pk")
        return [row for row in rows if WaivedScorer(row.case_key, row.scorer_id) in wanted]


class SignOffState(NamedTuple):
    """What was decided of some cases: by output state and reason, and the open waivers."""

    decisions: dict[int, tuple[str, str]]
    waivers: list[UUID]

    def as_json(self) -> dict[str, Any]:
        decisions = [[output, *decision] for output, decision in self.decisions.items()]
        return {"decisions": decisions, "waivers": [str(uid) for uid in self.waivers]}

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Self:
        """From what JSON made of it. Raises ValueError, TypeError or KeyError for anything else."""
        decisions = {
            int(output): (CaseDecisionState(state).value, str(reason))
            for output, state, reason in kept["decisions"]
        }
        return cls(decisions, [UUID(uid) for uid in kept["waivers"]])


class StateChange(NamedTuple):
    """What was decided of some cases before an act and after it."""

    before: SignOffState
    after: SignOffState

    def as_json(self) -> dict[str, Any]:
        return {"before": self.before.as_json(), "after": self.after.as_json()}

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Self:
        """From what JSON made of it, as `SignOffState.read`."""
        return cls(SignOffState.read(kept["before"]), SignOffState.read(kept["after"]))


class StaleSignOffError(Exception):
    """Somebody decided on some of the cases since: nothing is changed. The text says what."""


def read_state(cases: ComparedCases) -> SignOffState:
    """What is decided of these cases now."""
    rows = CaseDecision.objects.between(*cases.runs).filter(output__in=cases.outputs)
    decisions = {row.output_id: (row.state, row.reason) for row in rows}
    return SignOffState(decisions, [waiver.uuid for waiver in cases.open_waivers()])


def record_change(
    cases: ComparedCases,
    act: Callable[[], object],
    seen: NewestSignOff | Mapping[int, CaseState] | None = None,
) -> StateChange:
    """Act on the cases, and tell what was decided of them before and after.

    `seen` is what was decided when the person looked: the newest of all, or the states by output.
    Raises StaleSignOffError where something else is decided of these cases by now.
    """
    with transaction.atomic():
        _lock(cases)
        if isinstance(seen, NewestSignOff):
            _check_newest(cases, seen)
        elif seen:
            _check_states(cases, seen)
        before = read_state(cases)
        act()
        return StateChange(before, read_state(cases))


def decide_cases(
    cases: ComparedCases, state: CaseDecisionState, *, by: User, reason: str = ""
) -> None:
    """Accept or reject the cases in this comparison."""
    CaseDecision.objects.decide(cases.runs, cases.outputs, state, by=by, reason=reason)


def waive_cases(cases: ComparedCases, terms: Terms, *, by: User) -> list[Waiver]:
    """Waive every scorer that fails one of the cases; what was decided of them here is cleared.

    Raises ValidationError by field where the terms are not sound.
    """
    dataset = cases.candidate.output_set.version.dataset
    with transaction.atomic():
        _lock(cases)
        waivers = Waiver.objects.waive(dataset, cases.failures(), terms, by=by)
        CaseDecision.objects.clear(cases.runs, cases.outputs, by=by)
    return waivers


def reopen_cases(cases: ComparedCases, *, by: User) -> None:
    """Clear what was decided of the cases here, and end their waivers."""
    dataset = cases.candidate.output_set.version.dataset
    with transaction.atomic():
        CaseDecision.objects.clear(cases.runs, cases.outputs, by=by)
        Waiver.objects.end(dataset, cases.open_waivers(), by=by)


def undo_change(cases: ComparedCases, change: StateChange, *, by: User) -> None:
    """Decide of these cases again what was decided before.

    Raises StaleSignOffError where something else is decided of them than after the change.
    """
    dataset, state = cases.candidate.output_set.version.dataset, change.before
    with transaction.atomic():
        _lock(cases)
        if read_state(cases) != change.after:
            raise StaleSignOffError(
                "Another user decided on these cases in the meantime. Nothing was undone."
            )
        present = cases.open_waivers()
        Waiver.objects.end(dataset, (w for w in present if w.uuid not in state.waivers), by=by)
        ended = Waiver.objects.filter(dataset=dataset, uuid__in=state.waivers)
        Waiver.objects.reopen(dataset, ended.exclude(ended_at=None), by=by)
        outputs = set(cases.outputs)
        CaseDecision.objects.clear(cases.runs, outputs - state.decisions.keys(), by=by)
        for decision, decided in _grouped(state, outputs).items():
            name, reason = decision
            decide = CaseDecision.objects.decide
            decide(cases.runs, decided, CaseDecisionState(name), by=by, reason=reason)


def _check_newest(cases: ComparedCases, seen: NewestSignOff) -> None:
    decisions = _decisions(cases).filter(pk__gt=seen.decision)
    _refuse(decisions, [each for each in cases.open_waivers() if each.pk > seen.waiver])


def _check_states(cases: ComparedCases, seen: Mapping[int, CaseState]) -> None:
    broken = BrokenCases(*cases.runs)
    pairs = ((pair, pair.candidate.output) for pair in cases.pairs if pair.candidate)
    others = {
        output: pair
        for pair, output in pairs
        if output in seen and broken.state_of(output) != seen[output]
    }
    waived = [
        pk
        for output in others
        if output in broken.waived
        for pk in broken.waived[output].waiver_ids
    ]
    decisions = _decisions(cases).filter(output__in=others)
    _refuse(decisions, Waiver.objects.for_list().filter(pk__in=waived).order_by("pk"))
    if others:
        keys = ", ".join(sorted({pair.key for pair in others.values()})[:_NAMED])
        text = f"Another user reopened in the meantime: {keys}. Nothing was changed."
        raise StaleSignOffError(text)


def _decisions(cases: ComparedCases) -> QuerySet[CaseDecision]:
    rows = CaseDecision.objects.between(*cases.runs).filter(output__in=cases.outputs)
    return rows.select_related("decided_by", "output__case").order_by("pk")


def _refuse(decisions: Iterable[CaseDecision], waivers: Iterable[Waiver]) -> None:
    """Raise StaleSignOffError that names these, if there are any."""
    present: list[CaseDecision | Waiver] = [*decisions, *waivers]
    if present:
        more = len(present) - _NAMED
        listed = "; ".join(_describe(each) for each in present[:_NAMED])
        listed += f"; and {more:,} more" if more > 0 else ""
        raise StaleSignOffError(f"Decided in the meantime: {listed}. Nothing was changed.")


def _describe(present: CaseDecision | Waiver) -> str:
    """Who decided what, with the reason."""
    if isinstance(present, CaseDecision):
        by, done = present.decided_by, f"{present.state} {present.output.case.key}"
    else:
        by, until = present.created_by, f"{present.until:%-d %b %Y}"
        done = f"waived {present.case_key} for {present.scorer} until {until}"
    reason = present.reason.removesuffix(".")
    shown = reason if len(reason) <= _REASON else f"{reason[: _REASON - 1]}…"
    return f"{by or 'A former member'} {done}" + (f" ({shown})" if shown else "")


def _lock(cases: ComparedCases) -> None:
    """Nobody else decides on cases of the candidate until the transaction ends.

    Everything here locks the run before the dataset, lest two acts wait for each other.
    """
    Run.objects.select_for_update().get(pk=cases.candidate.pk)


def _grouped(state: SignOffState, outputs: Iterable[int]) -> dict[tuple[str, str], list[int]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for output in sorted(outputs):
        if output in state.decisions:
            groups.setdefault(state.decisions[output], []).append(output)
    return groups
