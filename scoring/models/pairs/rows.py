"""The rows and filters of pair lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from django.db import models

from scoring.core.charts.comparison_charts import ScoreRange
from scoring.models.runs.score import Verdict

if TYPE_CHECKING:
    from scoring.models.case_paging import CasePosition


class PairKind(models.TextChoices):
    """What became of a case. `edited` is said besides: input or expected differ.

    Nothing is called unchanged that was never judged: an error or a skip on both sides is a kind
    of its own.
    """

    BROKE = "broke", "broke"  # pass → fail
    FIXED = "fixed", "fixed"  # fail → pass
    UNCHANGED = "unchanged", "unchanged"  # pass → pass, fail → fail
    UNCLEAR = "unclear", "inconclusive"  # an error or a skip on one side
    NEITHER = "judged_in_neither", "not scored in either run"
    ONLY_BASELINE = "only_baseline", "only in the baseline"
    ONLY_CANDIDATE = "only_candidate", "only in the candidate"
    EDITED = "edited", "edited"
    PAIRS = "pairs", "in both runs"


class Counts(NamedTuple):
    """How many pairs, and cases without a partner, there are of each kind.

    `pairs` is the sum of broke, fixed, unchanged, unclear and judged_in_neither; `judged` those
    that passed or failed on both sides.
    """

    pairs: int
    judged: int
    broke: int
    fixed: int
    unchanged: int
    unclear: int
    judged_in_neither: int
    only_baseline: int
    only_candidate: int
    edited: int


class RunSide(NamedTuple):
    """One run's part of a pair."""

    output: int
    place: CasePosition
    verdict: Verdict


class Pair(NamedTuple):
    """A case in both runs, or in one of them. `place` says where it stands in the list."""

    key: str
    baseline: RunSide | None
    candidate: RunSide | None
    is_edited: bool

    @property
    def place(self) -> CasePosition:
        half = self.candidate or self.baseline
        assert half is not None  # noqa: S101  a pair has one half at least
        return half.place


class PairPage(NamedTuple):
    rows: Sequence[Pair]
    has_previous: bool
    has_next: bool


class PairMatch(NamedTuple):
    """A pair in numbers: output ids, the candidate's place, verdicts."""

    baseline_output: int
    output: int
    position: int
    trial: int
    baseline_verdict: int
    verdict: int


class ScoreRanges(NamedTuple):
    """What the scores of one scorer are in both runs: the baseline's, the candidate's, and the
    candidate's minus the baseline's. Of a case with several trials the means over them count.

    Of scores `low` is included and `high` is not, but for 1. Of changes the bound that is nearer
    to 0 is included and the other is not, but for -1 and 1; a bound on the far side of 0, and 0
    itself, are not. So ranges that touch share no case, and turned round they hold the same ones.
    """

    was: ScoreRange | None = None
    now: ScoreRange | None = None
    change: ScoreRange | None = None


NO_RANGES: Final = ScoreRanges()


@dataclass(frozen=True)
class PairFilters:
    """Which pairs of a kind are wanted. With a `scorer`, by name, its verdicts decide the kind;
    `ranges` need one. `only` and `without` are outputs of the candidate.
    """

    scorer: str = ""
    tag: str = ""
    text: str = ""
    ranges: ScoreRanges = NO_RANGES
    only: frozenset[int] | None = None
    without: frozenset[int] = frozenset()

    def leave_out(self, outputs: frozenset[int]) -> PairFilters:
        """The filters that leave these outputs out, too."""
        return replace(self, without=self.without | outputs) if outputs else self

    def listed(self, kind: PairKind) -> PairFilters:
        """Those of them that make a list of the kind whose places may be kept: the scorer, and of
        all pairs the range of changes.
        """
        change = self.ranges.change if kind == PairKind.PAIRS else None
        return PairFilters(self.scorer, ranges=ScoreRanges(change=change))


NO_FILTERS: Final = PairFilters()
