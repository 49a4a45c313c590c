"""A case through the runs of its series, each verdict with the page behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalsite.pages.compare_urls import case_url
from scoring.models import Run
from scoring.models.case_table import Place
from scoring.models.history import CaseHistory, Seen, history_of


class Mark(NamedTuple):
    """The case in one run."""

    seen: Seen
    url: str
    is_here: bool
    is_first_bad: bool

    @property
    def verdict(self) -> str:
        return self.seen.verdict.label


@dataclass
class History:
    """The strip of verdicts over a run's series, oldest first."""

    run: Run
    key: str
    trial: int

    @cached_property
    def found(self) -> CaseHistory:
        return history_of(self.run, self.key, self.trial)

    @property
    def verdict(self) -> str | None:
        """The case's verdict in the run itself; None where the run is not among them."""
        here = (seen for seen in self.found.seen if seen.run == self.run.uuid)
        return next((seen.verdict.label for seen in here), None)

    @cached_property
    def marks(self) -> Sequence[Mark]:
        return [self._mark(seen) for seen in self.found.seen]

    @property
    def first_bad(self) -> Mark | None:
        return next((mark for mark in self.marks if mark.is_first_bad), None)

    @property
    def passed_again(self) -> Mark | None:
        """Where it passed again after its first bad run."""
        return next((mark for mark in self.marks if mark.seen is self.found.passed_again), None)

    def _mark(self, seen: Seen) -> Mark:
        run = Run(uuid=seen.run)
        url = case_url(run, Place(seen.position, self.trial), "")
        return Mark(seen, url, seen.run == self.run.uuid, seen is self.found.first_bad)
