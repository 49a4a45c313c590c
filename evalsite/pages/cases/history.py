"""The verdicts of a case in the runs of its series, with links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from evalsite.pages.cases.labels import CaseLabel, label_case
from evalsite.pages.compare.links import case_url
from scoring.models import Run, Verdict
from scoring.models.case_paging import CasePosition
from scoring.models.runs.case_history import CaseHistory, CaseOutcome, read_case_history
from scoring.models.runs.later_verdicts import read_later_outcomes

MAX_RUNS: Final = 50  # runs in the strip at first
ALL: Final = "all"  # said by `history` in the address


class HistoryMark(NamedTuple):
    """The case in one run; `later` is its verdict by the later labels of that run, None without
    any.
    """

    outcome: CaseOutcome
    url: str
    is_here: bool
    is_first_bad: bool
    later: Verdict | None = None
    is_later_shown: bool = False

    @property
    def label(self) -> CaseLabel:
        """The verdict that is shown, and what the other label says."""
        later = self.later.label if self.later is not None else None
        return label_case(self.outcome.verdict.label, later, is_later_shown=self.is_later_shown)

    @property
    def text(self) -> str:
        """In words, such as "fail, re-labelled pass"."""
        return ", ".join(filter(None, self.label))

    @property
    def other_verdict(self) -> str:
        """The one that is not shown; empty where both are the same."""
        return self.label.other.rpartition(" ")[2]


@dataclass
class History:
    """The strip of verdicts over a run's series, oldest first; not those of `hidden` outputs.

    Flips and the first bad run are those of the stored verdicts.
    """

    run: Run
    key: str
    trial: int
    has_all: bool = False  # whether all runs are asked for
    hidden: frozenset[int] = frozenset()
    is_later_shown: bool = False

    @cached_property
    def outcomes(self) -> CaseHistory:
        return read_case_history(self.run, self.key, self.trial, self.hidden)

    @property
    def verdict(self) -> str | None:
        """The case's verdict in the run itself; None where the run is not among them."""
        return None if self._index is None else self.outcomes.seen[self._index].verdict.label

    @cached_property
    def marks(self) -> Sequence[HistoryMark]:
        """Of the latest runs, or of those around this one where it is older; of all on request."""
        size = self.count if self.has_all else MAX_RUNS
        first = max(0, self.count - size)
        if self._index is not None and self._index < first:
            first = max(0, self._index - size // 2)
        shown = self.outcomes.seen[first : first + size]
        later = read_later_outcomes(shown, self.trial)
        return [
            self._mark(outcome)._replace(
                later=later.get(outcome.run), is_later_shown=self.is_later_shown
            )
            for outcome in shown
        ]

    @property
    def count(self) -> int:
        return len(self.outcomes.seen)

    @property
    def is_cut(self) -> bool:
        """Whether some runs have no mark."""
        return len(self.marks) < self.count

    @property
    def first_bad(self) -> HistoryMark | None:
        return self._mark(self.outcomes.first_bad) if self.outcomes.first_bad else None

    @property
    def passed_again(self) -> HistoryMark | None:
        """Where it passed again after its first bad run."""
        return self._mark(self.outcomes.passed_again) if self.outcomes.passed_again else None

    @cached_property
    def _index(self) -> int | None:
        """Which of the outcomes is that of the run itself."""
        runs = [outcome.run for outcome in self.outcomes.seen]
        return runs.index(self.run.uuid) if self.run.uuid in runs else None

    def _mark(self, outcome: CaseOutcome) -> HistoryMark:
        url = case_url(Run(uuid=outcome.run), CasePosition(outcome.position, self.trial), "")
        is_first_bad = outcome is self.outcomes.first_bad
        return HistoryMark(outcome, url, outcome.run == self.run.uuid, is_first_bad)
