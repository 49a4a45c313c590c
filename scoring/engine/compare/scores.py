"""The scores of two runs compared case by case, for each scorer.

Cases are what is tested: where a case has several trials, its scores are averaged, because the
trials of one case resemble each other and would count a single change several times. A case's
verdict is that of the mean, too, but depends on the number of trials: one that passes six times of
ten passes by the mean of three more often. So what is tested of verdicts is the share of a case's
trials that pass, which no number of trials moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.core.charts.comparison_charts import ScoreRange, change_span
from scoring.core.stats.paired_tests import Difference, Flips, benjamini_hochberg, difference
from scoring.engine.compare.columns import (
    CaseScores,
    MatchedCases,
    RunOutputs,
    TagColumns,
    read_scores,
)
from scoring.engine.compare.figures import DELTA_BINS, GRID, Cell, FlipFigures, ScorerFigures, Slice
from scoring.engine.jobs.progress import ReportShare, scale_share
from scoring.models import JudgeVariance, Run, RunScorer, Verdict
from scoring.models.pairs.score_ranges import CHANGE_DIGITS
from scoring.models.pairs.sql import SCORE_DIGITS

if TYPE_CHECKING:
    import numpy as np

READING: Final = 0.85  # share of the time that a scorer takes; the rest is arithmetic
MIN_SLICE_CASES: Final = 5  # cases of a tag that make a slice
MAX_INDEXED: Final = 2_000  # cases of a bar, up to which their positions are indexed


@dataclass(frozen=True)
class ScorerPair:
    """A scorer in the baseline and the one of its name in the candidate."""

    before: RunScorer
    after: RunScorer

    @property
    def name(self) -> str:
        return self.after.name

    @property
    def is_same_version(self) -> bool:
        return self.before.version_id == self.after.version_id


def scorer_pairs(baseline: Run, candidate: Run) -> list[ScorerPair]:
    """The scorers that both runs have by name, in the candidate's order."""
    old = {scorer.name: scorer for scorer in baseline.scorers.select_related("version__scorer")}
    new = candidate.scorers.select_related("version__scorer")
    return [ScorerPair(old[scorer.name], scorer) for scorer in new if scorer.name in old]


class ScorerComparison(NamedTuple):
    """The figures of one scorer, before the claims are corrected, and the positions of its cases.

    `broke` and `fixed` are the positions of cases whose verdicts flipped, `moved` those of each bar
    of the histogram that stands for few cases.
    """

    figures: ScorerFigures
    slices: list[tuple[str, Difference]]  # by tag
    broke: np.ndarray
    fixed: np.ndarray
    moved: list[tuple[ScoreRange, np.ndarray]]


def compare_scorer(
    scorers: ScorerPair, pairs: MatchedCases, tags: TagColumns, report: ReportShare
) -> ScorerComparison:
    """Read the scores of both runs and compare them; `report` takes the share that is done."""
    import numpy as np

    half, count = READING / 2, len(pairs.positions)
    old, new = (
        read_scores(scorer, outputs, count, scale_share(report, side * half, half))
        for side, (scorer, outputs) in enumerate(
            zip((scorers.before, scorers.after), pairs.outputs, strict=True)
        )
    )
    both = ~(np.isnan(old.scores) | np.isnan(new.scores))
    indices = np.flatnonzero(both).astype(np.int32)
    sides = (CaseScores(*(column[both] for column in side)) for side in (old, new))
    return compare_scores(scorers, PairedScores(pairs, indices, *sides), tags)


def compare_scores(scorers: ScorerPair, scores: PairedScores, tags: TagColumns) -> ScorerComparison:
    before, after = scores.before.scores, scores.after.scores
    change = difference(before, after)
    flips = count_flips(scores.before.passed, scores.after.passed)
    p_of_flips = flips_p(flips, scores.shares)
    figures = ScorerFigures(
        name=scorers.name,
        versions=(scorers.before.version.number, scorers.after.version.number),
        thresholds=(scorers.before.threshold, scorers.after.threshold),
        n=change.n,
        means=(float(before.mean()), float(after.mean())) if len(before) else None,
        delta=change.mean,
        interval=change.interval,
        p=change.p,
        standard_error=change.standard_error,
        is_one_claim=scores.are_verdicts,
        method=change.method,
        improved=int((scores.moves > 0).sum()),
        regressed=int((scores.moves < 0).sum()),
        flips=FlipFigures(*flips, p_of_flips),
        noise=_noise(scorers, change.n),
        histogram=scores.histogram,
        scatter=scores.scatter,
    )
    return ScorerComparison(
        figures=figures,
        slices=[(tag, scores.compare_slice(tags.having(tag))) for tag in tags.names],
        broke=scores.flipped(Verdict.FAIL),
        fixed=scores.flipped(Verdict.PASS),
        moved=list(scores.moved()),
    )


def _noise(scorers: ScorerPair, n: int) -> float | None:
    """Of the version that scored both runs; two versions differ by more than noise."""
    if not scorers.is_same_version:
        return None
    noise = JudgeVariance.objects.latest_for(scorers.after.version)
    return noise.band_for(n) if noise else None


@dataclass(frozen=True)
class PairedScores:
    """The cases with a score in both runs; `indices` are their places in the columns of `pairs`."""

    pairs: MatchedCases
    indices: np.ndarray
    before: CaseScores
    after: CaseScores

    @property
    def shares(self) -> PassShares | None:
        """Those of the trials that pass; None where cases have one each."""
        if not self.pairs.has_trials:
            return None
        return PassShares(self.positions, self.before.shares, self.after.shares)

    @property
    def are_verdicts(self) -> bool:
        """Whether every score is the share of trials that pass: of one trial 1 or 0."""
        sides = (self.before, self.after)
        return all(bool((side.scores == side.shares).all()) for side in sides)

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the cases stand in the candidate's version."""
        positions: np.ndarray = self.pairs.positions[self.indices]
        return positions

    @cached_property
    def moves(self) -> np.ndarray:
        """By how much each case's score changed; no change is exactly 0."""
        import numpy as np

        return np.asarray(np.round(self.after.scores - self.before.scores, CHANGE_DIGITS))

    @cached_property
    def _bins(self) -> np.ndarray:
        """For each case the number of its bar in the histogram."""
        import numpy as np

        half, moves = DELTA_BINS // 2, self.moves
        edges = [(2 * step - 1) / (2 * half) for step in range(1, half + 1)]
        steps = np.searchsorted(edges, np.abs(moves), side="right").astype(np.int16)
        return np.asarray(half + np.sign(moves).astype(np.int16) * steps)

    @cached_property
    def histogram(self) -> tuple[int, ...]:
        """Cases by change of score: DELTA_BINS bins whose centres go from -1 to 1.

        Their edges are those of a list's range of changes: the one nearer to 0 is included.
        """
        import numpy as np

        return tuple(np.bincount(self._bins, minlength=DELTA_BINS).tolist())

    def moved(self) -> Iterator[tuple[ScoreRange, np.ndarray]]:
        """The range of each bar of at most MAX_INDEXED cases, with their positions."""
        for number, count in enumerate(self.histogram):
            if 0 < count <= MAX_INDEXED:
                positions = self.positions[self._bins == number]
                yield change_span(number, DELTA_BINS // 2), positions

    @property
    def scatter(self) -> tuple[Cell, ...]:
        """The cells that hold cases, each with the position of its first case.

        As the ranges of a list, a cell includes its lower edges.
        """
        import numpy as np

        edges = [cell / GRID for cell in range(1, GRID)]
        sides = (np.round(side.scores, SCORE_DIGITS) for side in (self.before, self.after))
        x, y = (np.searchsorted(edges, side, side="right").astype(np.int16) for side in sides)
        cells, example, counts = np.unique(x * GRID + y, return_index=True, return_counts=True)
        numbers = self.pairs.numbers[self.indices[example]]
        columns = (cells, counts, self.positions[example], numbers)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Cell(*divmod(cell, GRID), *rest) for cell, *rest in rows)

    def compare_slice(self, positions: np.ndarray) -> Difference:
        """The difference over the cases at these positions of the candidate's version."""
        of_tag = positions[self.positions]
        return difference(self.before.scores[of_tag], self.after.scores[of_tag])

    def flipped(self, to: Verdict) -> np.ndarray:
        """The positions of the cases that pass in one run alone, now fail or now pass."""
        before, after = self.before.passed, self.after.passed
        flipped = after & ~before if to == Verdict.PASS else before & ~after
        positions: np.ndarray = self.positions[flipped]
        return positions


class PassShares(NamedTuple):
    """Of cases with a verdict in both runs their positions, and which share of their trials passes
    in each run.
    """

    positions: np.ndarray
    before: np.ndarray
    after: np.ndarray


def count_flips(before: np.ndarray, after: np.ndarray) -> Flips:
    """From who passed in each run."""
    return Flips(len(before), int((before & ~after).sum()), int((after & ~before).sum()))


def flips_p(flips: Flips, shares: PassShares | None) -> float | None:
    """Whether chance explains them; None without cases.

    With one trial a case this is the exact McNemar test. With more, the cases' shares of passes
    are tested, since their verdicts depend on how many trials there are.
    """
    if not flips.n:
        return None
    return flips.p if shares is None else difference(shares.before, shares.after).p


def verdict_flips(pairs: MatchedCases) -> tuple[Flips, float | None]:
    """The same of the verdicts over all scorers, where both are pass or fail."""
    judged = _is_judged(pairs)
    before, after = (side[judged] == Verdict.PASS for side in pairs.verdicts)
    flips = count_flips(before, after)
    return flips, flips_p(flips, pass_shares(pairs) if pairs.has_trials else None)


def pass_shares(pairs: MatchedCases) -> PassShares:
    """Of the trials that pass or fail, of the cases that do in both runs."""
    judged = _is_judged(pairs)
    before, after = (
        _shares(outputs, verdicts)[judged]
        for outputs, verdicts in zip(pairs.outputs, pairs.verdicts, strict=True)
    )
    return PassShares(pairs.positions[judged], before, after)


def _shares(outputs: RunOutputs, verdicts: np.ndarray) -> np.ndarray:
    """The share of each case's judged trials that pass. Where each trial has an error by some
    scorer, though none by all, the case's verdict stands for them.
    """
    import numpy as np

    passes = np.where(outputs.verdicts <= Verdict.FAIL, outputs.verdicts == Verdict.PASS, np.nan)
    shares = outputs.mean_by_case(passes, len(verdicts))
    return np.where(np.isnan(shares), verdicts == Verdict.PASS, shares)


def _is_judged(pairs: MatchedCases) -> np.ndarray:
    before, after = pairs.verdicts
    is_judged: np.ndarray = (before <= Verdict.FAIL) & (after <= Verdict.FAIL)
    return is_judged


def compare_slices(scorers: Sequence[ScorerComparison]) -> list[Slice]:
    """For each of the commonest tags and each scorer, where at least MIN_SLICE_CASES cases have
    scores.
    """
    large = [
        (tag, scorer.figures.name, of)
        for slices in zip(*(scorer.slices for scorer in scorers), strict=True)
        for scorer, (tag, of) in zip(scorers, slices, strict=True)
        if of.n >= MIN_SLICE_CASES
    ]
    qs = benjamini_hochberg([of.p if of.p is not None else 1.0 for *_, of in large])
    return [
        Slice(tag, name, of.n, of.mean or 0.0, of.interval, of.p or 0.0, q, of.method)
        for (tag, name, of), q in zip(large, qs, strict=True)
    ]
