"""What was decided of the broken cases of a list: their states, counts and filters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from scoring.models import CaseDecision, Run, User, Waiver
from scoring.models.reviews.broken_cases import BrokenCases, CaseState, StateCounts, WaivedCase


class StateLink(NamedTuple):
    """A state with its number of cases, and the address of the list of these."""

    title: str
    cases: int
    url: str
    is_here: bool


class ListedState(NamedTuple):
    """The state of one case, with whoever decided it and why."""

    state: CaseState
    by: User | None = None
    reason: str = ""
    until: date | None = None
    expired: date | None = None  # the last day of a waiver, where that is over

    @property
    def title(self) -> str:
        """Who and why, for the tooltip."""
        who = f"{self.by}: " if self.by else ""
        return f"{who}{self.reason}" if self.reason else str(self.by or "")


@dataclass(frozen=True)
class CaseStates:
    """The states of the broken cases of two runs; `outputs` are the candidate's on the page."""

    broken: BrokenCases
    broke: int
    outputs: Collection[int]

    @cached_property
    def counts(self) -> StateCounts:
        return self.broken.counts(self.broke)

    @cached_property
    def _decisions(self) -> dict[int, CaseDecision]:
        if not self.broken.decided:
            return {}
        runs: tuple[Run, Run] = self.broken.baseline, self.broken.candidate
        rows = CaseDecision.objects.between(*runs).filter(output__in=self.outputs)
        return {row.output_id: row for row in rows.select_related("decided_by")}

    def of(self, output: int) -> ListedState:
        state = self.broken.state_of(output)
        if decision := self._decisions.get(output):
            return ListedState(state, decision.decided_by, decision.reason)
        if case := self.broken.waived.get(output):
            return ListedState(state, *self._terms(case), until=case.until)
        if case := self.broken.expired.get(output):
            return ListedState(state, *self._terms(case), expired=case.until)
        return ListedState(state)

    @cached_property
    def _waivers(self) -> dict[int, Waiver]:
        """By id the waivers of the cases on the page."""
        known = self.broken.waived | self.broken.expired
        cases = [known[output] for output in self.outputs if output in known]
        wanted = [pk for case in cases for pk in case.waiver_ids]
        rows = Waiver.objects.filter(pk__in=wanted).select_related("owner")
        return {row.pk: row for row in rows} if wanted else {}

    def _terms(self, case: WaivedCase) -> tuple[User | None, str]:
        """The owner and the reason of the waiver that ends first."""
        waivers = (self._waivers[pk] for pk in case.waiver_ids)
        waiver = min(waivers, key=lambda each: each.until)
        return waiver.owner, waiver.reason

    def links(
        self, urls: Iterator[tuple[CaseState, str]], chosen: CaseState | None
    ) -> list[StateLink]:
        """A link for each state, with how many broken cases are in it."""
        return [
            StateLink(state.label, getattr(self.counts, state.value), url, state == chosen)
            for state, url in urls
        ]
