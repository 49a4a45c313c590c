"""The states of broken cases: open, accepted, rejected, or waived until a date.

A broken case passed in the baseline and fails in the candidate. It is waived where each scorer that
fails it has an active waiver for it, unless somebody rejected it in this comparison. All is looked
up from the waivers and decisions, which are few, and not from the cases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, NamedTuple, Self, TypeVar

from django.db import models
from django.db.models import QuerySet
from django.utils import timezone

from scoring.models.data.dataset import Case
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import Pair, PairKind
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.case_decision import CaseDecision, CaseDecisionState
from scoring.models.reviews.waiver import Waiver
from scoring.models.runs.case_scores import read_scorer_verdicts
from scoring.models.runs.run import Run
from scoring.models.runs.score import CaseVerdict, Verdict

T = TypeVar("T")

PART: Final = 5_000  # keys or positions that stand in one query


class CaseState(models.TextChoices):
    """What has been decided of a broken case."""

    OPEN = "open", "open"
    ACCEPTED = "accepted", "accepted"
    REJECTED = "rejected", "rejected"
    WAIVED = "waived", "waived"


class OpenWaiver(NamedTuple):
    """What is read of each open waiver of a dataset."""

    pk: int
    until: date


@dataclass(frozen=True)
class WaivedCase:
    """A broken case and the open waivers of the scorers that fail it, in their order.

    `until` is the last day on which all of them hold.
    """

    pair: Pair
    waiver_ids: tuple[int, ...]
    until: date
    source: BrokenCases = field(repr=False, compare=False)

    @property
    def waivers(self) -> list[Waiver]:
        """The rows, of which all that the comparison needs are read at once."""
        return [self.source.waivers[pk] for pk in self.waiver_ids]

    @property
    def trial(self) -> int:
        return self.pair.place.trial


class StateCounts(NamedTuple):
    """How many broken pairs have each state."""

    open: int
    accepted: int
    rejected: int
    waived: int

    @property
    def unsigned(self) -> int:
        """Those that stand in the way of a release: open and rejected ones."""
        return self.open + self.rejected


class NewestSignOff(NamedTuple):
    """The ids of a comparison's newest decision and of the dataset's newest open waiver, 0 for
    none. Whatever has a higher id was decided later.
    """

    decision: int = 0
    waiver: int = 0

    @property
    def written(self) -> str:
        return f"{self.decision}.{self.waiver}"

    @classmethod
    def read(cls, text: str) -> Self:
        """What `written` gave. Raises ValueError for any other text."""
        decision, waiver = text.split(".")
        return cls(int(decision), int(waiver))


class WaiverUse(NamedTuple):
    """The broken cases that waivers excuse, and those that expired ones would."""

    used: tuple[WaivedCase, ...] = ()
    expired: tuple[WaivedCase, ...] = ()


NO_WAIVERS: Final = WaiverUse()


@dataclass(frozen=True)
class BrokenCases:
    """The broken cases of a comparison with what was decided of them, on the given day."""

    baseline: Run
    candidate: Run
    today: date = field(default_factory=timezone.localdate)

    @cached_property
    def decided(self) -> dict[int, CaseDecisionState]:
        """By the candidate's output what was decided in this comparison."""
        return {output: CaseDecisionState(state) for _, output, state in self._decisions}

    @cached_property
    def newest(self) -> NewestSignOff:
        """By which an act on these cases knows what was decided after they were shown."""
        waivers = [each.pk for own in self._waivers.values() for each in own.values()]
        decisions = [pk for pk, _, _ in self._decisions]
        return NewestSignOff(max(decisions, default=0), max(waivers, default=0))

    @cached_property
    def _decisions(self) -> list[tuple[int, int, str]]:
        """Id, output of the candidate, and state. Of cases with several trials the first one's
        decision counts: before comparisons were by case, each trial could have one.
        """
        has_trials = self.candidate.has_trials
        return _read_decisions(self.baseline.pk, self.candidate.pk, has_trials=has_trials)

    @cached_property
    def waiver_use(self) -> WaiverUse:
        """What a gate goes by; a case that was rejected here is in neither list."""
        used: list[WaivedCase] = []
        expired: list[WaivedCase] = []
        for case in self._waived:
            if self.decided.get(_output(case.pair)) == CaseDecisionState.REJECTED:
                continue
            (expired if case.until < self.today else used).append(case)
        return WaiverUse(tuple(used), tuple(expired))

    @cached_property
    def waived(self) -> dict[int, WaivedCase]:
        """By the candidate's output the cases whose state is waived."""
        used = {_output(case.pair): case for case in self.waiver_use.used}
        return {output: case for output, case in used.items() if output not in self.decided}

    @cached_property
    def expired(self) -> dict[int, WaivedCase]:
        """By the candidate's output the cases that were waived until a day that is over."""
        return {_output(case.pair): case for case in self.waiver_use.expired}

    def state_of(self, output: int) -> CaseState:
        if output in self.decided:
            return CaseState(self.decided[output].value)
        return CaseState.WAIVED if output in self.waived else CaseState.OPEN

    def counts(self, broke: int) -> StateCounts:
        """The states of all `broke` pairs."""
        states = list(self.decided.values())
        accepted = states.count(CaseDecisionState.ACCEPTED)
        rejected = len(states) - accepted
        waived = len(self.waived)
        return StateCounts(broke - accepted - rejected - waived, accepted, rejected, waived)

    def outputs_in(self, state: CaseState) -> frozenset[int]:
        """The candidate's outputs in a state; for `OPEN` those that are in any other state."""
        if state == CaseState.OPEN:
            return frozenset(self.decided) | frozenset(self.waived)
        if state == CaseState.WAIVED:
            return frozenset(self.waived)
        return frozenset(output for output, each in self.decided.items() if each.value == state)

    @cached_property
    def _waived(self) -> list[WaivedCase]:
        """The broken cases all of whose failing scorers have an open waiver, whatever its date."""
        waivers = self._waivers
        pairs = self.pairs_of(waivers, PairKind.BROKE)
        failing = failing_scorers(self.candidate, [_output(pair) for pair in pairs])
        cases = []
        for pair in pairs:
            own, scorers = waivers[pair.key], failing.get(_output(pair), [])
            if scorers and own.keys() >= set(scorers):
                covering = [own[scorer] for scorer in scorers]
                ids = tuple(waiver.pk for waiver in covering)
                until = min(waiver.until for waiver in covering)
                cases.append(WaivedCase(pair, ids, until, self))
        return cases

    @cached_property
    def waivers(self) -> dict[int, Waiver]:
        """By id those of the waived cases, with scorer and owner joined."""
        wanted = {pk for case in self._waived for pk in case.waiver_ids}
        rows = Waiver.objects.select_related("scorer", "owner")
        return {row.pk: row for part in _parts(sorted(wanted)) for row in rows.filter(pk__in=part)}

    @cached_property
    def _waivers(self) -> dict[str, dict[int, OpenWaiver]]:
        """The open waivers of the dataset by case and scorer."""
        dataset = self.candidate.output_set.version.dataset_id
        waivers: dict[str, dict[int, OpenWaiver]] = {}
        for key, scorer, pk, until in _open_waivers(dataset):
            waivers.setdefault(key, {})[scorer] = OpenWaiver(pk, until)
        return waivers

    def pairs_of(self, keys: Collection[str], kind: PairKind) -> list[Pair]:
        """The pairs of a kind of the cases with these keys, in the candidate's order."""
        cases = Case.objects.filter(version=self.candidate.output_set.version_id).order_by()
        positions: list[int] = []
        for part in _parts(sorted(keys)):
            positions += cases.filter(key__in=part).values_list("position", flat=True)
        pairs = Pairs(self.baseline, self.candidate)
        return [
            pair for part in _parts(sorted(positions)) for pair in pairs.at_positions(kind, part)
        ]


class WaivedFlips(NamedTuple):
    """How many pairs that one scorer broke are waived, and the last day on which all of them are;
    None where none is.
    """

    cases: int = 0
    until: date | None = None


def waived_flips(broken: BrokenCases, scorer: str) -> WaivedFlips:
    """Of the pairs that passed by the scorer and fail by it now, those with a waiver for it.

    A case that was rejected in the comparison is not among them. One query without waivers.
    """
    rows = Waiver.objects.active(broken.today).filter(
        dataset=broken.candidate.output_set.version.dataset_id,
        scorer__in=broken.candidate.scorers.filter(name=scorer).values("version__scorer"),
    )
    waivers = dict(rows.values_list("case_key", "until"))
    pairs = broken.pairs_of(waivers, PairKind.PAIRS)
    halves = [(pair.key, pair.baseline, pair.candidate) for pair in pairs]
    sides = [(key, old.output, new.output) for key, old, new in halves if old and new]
    passed = _judged_by(broken.baseline, scorer, Verdict.PASS, [old for _, old, _ in sides])
    failed = _judged_by(broken.candidate, scorer, Verdict.FAIL, [new for _, _, new in sides])
    days = [
        waivers[key]
        for key, old, new in sides
        if old in passed and new in failed and broken.decided.get(new) != CaseDecisionState.REJECTED
    ]
    return WaivedFlips(len(days), min(days)) if days else WaivedFlips()


def _judged_by(run: Run, name: str, verdict: Verdict, outputs: Sequence[int]) -> set[int]:
    """Those of the outputs to whose case the scorer of this name gave the verdict."""
    own = set(run.scorers.filter(name=name).values_list("pk", flat=True))
    return {
        said.output
        for part in _parts(outputs)
        for said in read_scorer_verdicts(run, part)
        if said.scorer in own and said.verdict == verdict
    }


def failing_scorers(run: Run, outputs: Sequence[int]) -> dict[int, list[int]]:
    """By output the ids of the scorers that fail its case, in the run's order.

    For a broken case these are the newly failing ones: in the baseline none failed it.
    """
    scorers = dict(run.scorers.values_list("pk", "version__scorer")) if outputs else {}
    failing: dict[int, list[int]] = {}
    for part in _parts(outputs):
        for said in read_scorer_verdicts(run, part):
            if said.verdict == Verdict.FAIL:
                failing.setdefault(said.output, []).append(scorers[said.scorer])
    return failing


def _output(pair: Pair) -> int:
    assert pair.candidate is not None  # noqa: S101  a broken case stands in both runs
    return pair.candidate.output


def _parts(values: Sequence[T]) -> Iterable[Sequence[T]]:
    return (values[start : start + PART] for start in range(0, len(values), PART))


@prepared_query
def _read_decisions(
    baseline: int, candidate: int, *, has_trials: bool
) -> QuerySet[CaseDecision, tuple[int, int, str]]:
    rows = CaseDecision.objects.filter(baseline=baseline, candidate=candidate)
    if has_trials:
        firsts = CaseVerdict.objects.filter(run=candidate).exclude(of_case=None)
        rows = rows.filter(output__in=firsts.values("output"))
    return rows.values_list("pk", "output", "state")


@prepared_query
def _open_waivers(dataset: int) -> QuerySet[Waiver, tuple[str, int, int, date]]:
    waivers = Waiver.objects.open().filter(dataset=dataset)
    return waivers.values_list("case_key", "scorer", "pk", "until")
