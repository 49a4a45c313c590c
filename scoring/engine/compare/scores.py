"""The scores of two runs compared pair by pair, for each scorer.

Cases are what is tested: where a case has several trials, its scores are averaged, because the
trials of one case resemble each other and would count a single change several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.core.charts.comparison_charts import ScoreRange, change_span
from scoring.core.stats.paired_tests import Difference, Flips, benjamini_hochberg, difference
from scoring.engine.compare.columns import MatchedCases, TagColumns, read_scores
from scoring.engine.compare.figures import DELTA_BINS, GRID, Cell, FlipFigures, ScorerFigures, Slice
from scoring.engine.jobs.progress import ReportShare, scale_share
from scoring.models import JudgeVariance, Run, RunScorer, Verdict
from scoring.models.pairs.score_ranges import CHANGE_DIGITS, SCORE_DIGITS

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
    """The figures of one scorer, before the claims are corrected, and the positions of its pairs.

    `broke` and `fixed` are the positions of pairs whose verdicts flipped, `moved` those of each bar
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

    half = READING / 2
    old, new = (
        read_scores(scorer, outputs, scale_share(report, side * half, half))
        for side, (scorer, outputs) in enumerate(
            zip((scorers.before, scorers.after), pairs.outputs, strict=True)
        )
    )
    both = ~(np.isnan(old.scores) | np.isnan(new.scores))
    indices = np.flatnonzero(both).astype(np.int32)
    passed = old.passed[both], new.passed[both]
    scores = PairedScores(pairs, indices, old.scores[both], new.scores[both], passed)
    return compare_scores(scorers, scores, tags)


def compare_scores(scorers: ScorerPair, scores: PairedScores, tags: TagColumns) -> ScorerComparison:
    before, after = scores.means
    change = difference(before, after)
    flips, p_of_flips = flip_test(*scores.passed, scores.cases)
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
    """The pairs with a score in both runs; `indices` are their places in the columns of `pairs`."""

    pairs: MatchedCases
    indices: np.ndarray
    before: np.ndarray
    after: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]  # as stored: some answers fail whatever the threshold

    @property
    def cases(self) -> np.ndarray:
        cases: np.ndarray = self.pairs.cases[self.indices]
        return cases

    @property
    def are_verdicts(self) -> bool:
        """Whether every score is 1 where the verdict is a pass, and else 0."""
        sides = zip((self.before, self.after), self.passed, strict=True)
        return all(bool((scores == passed).all()) for scores, passed in sides)

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """For each case both mean scores over its trials."""
        if self.pairs.trials <= 1:
            return self.before, self.after
        return _means(self.cases, self.before), _means(self.cases, self.after)

    @cached_property
    def _first(self) -> np.ndarray:
        """For each case the index of its first pair."""
        return self.indices if self.pairs.trials <= 1 else self.indices[_starts(self.cases)]

    @cached_property
    def moves(self) -> np.ndarray:
        """By how much each case's score changed; no change is exactly 0."""
        import numpy as np

        before, after = self.means
        return np.asarray(np.round(after - before, CHANGE_DIGITS))

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
        """The range of each bar of at most MAX_INDEXED cases, with the positions of its pairs."""
        import numpy as np

        positions = self.pairs.positions
        for number, count in enumerate(self.histogram):
            if 0 < count <= MAX_INDEXED:
                cases = positions[self._first[self._bins == number]]
                pairs = cases if self.pairs.trials <= 1 else positions[np.isin(positions, cases)]
                yield change_span(number, DELTA_BINS // 2), pairs

    @property
    def scatter(self) -> tuple[Cell, ...]:
        """The cells that hold cases, each with the position of its first case.

        As the ranges of a list, a cell includes its lower edges.
        """
        import numpy as np

        edges = [cell / GRID for cell in range(1, GRID)]
        sides = (np.round(side, SCORE_DIGITS) for side in self.means)
        x, y = (np.searchsorted(edges, side, side="right").astype(np.int16) for side in sides)
        cells, example, counts = np.unique(x * GRID + y, return_index=True, return_counts=True)
        first = self._first[example]
        columns = (cells, counts, self.pairs.positions[first], self.pairs.numbers[first])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Cell(*divmod(cell, GRID), *rest) for cell, *rest in rows)

    def compare_slice(self, positions: np.ndarray) -> Difference:
        """The difference over the cases at these positions of the candidate's version."""
        before, after = self.means
        of_tag = positions[self.pairs.positions[self._first]]
        return difference(before[of_tag], after[of_tag])

    def flipped(self, to: Verdict) -> np.ndarray:
        """The positions of the pairs that pass in one run alone, now fail or now pass."""
        before, after = self.passed
        pairs = after & ~before if to == Verdict.PASS else before & ~after
        positions: np.ndarray = self.pairs.positions[self.indices[pairs]]
        return positions


def flip_test(
    before: np.ndarray, after: np.ndarray, cases: np.ndarray
) -> tuple[Flips, float | None]:
    """Who passed before and after, and whether chance explains it; None without pairs.

    `cases` rise. With one trial a case this is the exact McNemar test. With more, the cases'
    shares of passes are tested, since McNemar would take the trials of one case for independent.
    """
    flips = Flips(len(before), int((before & ~after).sum()), int((after & ~before).sum()))
    if not len(before):
        return flips, None
    if len(_starts(cases)) == len(cases):
        return flips, flips.p
    return flips, difference(_means(cases, before), _means(cases, after)).p


def verdict_flips(pairs: MatchedCases) -> tuple[Flips, float | None]:
    """The same of the verdicts over whole cases, where both are pass or fail."""
    return flip_test(*_judged(pairs))


class PassShares(NamedTuple):
    """For each case with a verdict in both runs its position, and which share of its trials passes
    in each run.
    """

    positions: np.ndarray
    before: np.ndarray
    after: np.ndarray


def pass_shares(pairs: MatchedCases) -> PassShares:
    """Of the trials that pass or fail in both runs."""
    before, after, cases = _judged(pairs)
    starts = _starts(cases)
    positions = pairs.positions[_is_judged(pairs)][starts]
    return PassShares(positions, _means(cases, before), _means(cases, after))


def _is_judged(pairs: MatchedCases) -> np.ndarray:
    before, after = pairs.verdicts
    is_judged: np.ndarray = (before <= Verdict.FAIL) & (after <= Verdict.FAIL)
    return is_judged


def _judged(pairs: MatchedCases) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Who passed before and after, and the case, of the pairs that pass or fail in both runs."""
    before, after = pairs.verdicts
    judged = _is_judged(pairs)
    return before[judged] == Verdict.PASS, after[judged] == Verdict.PASS, pairs.cases[judged]


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


def _starts(cases: np.ndarray) -> np.ndarray:
    """Where in the column, which rises, each case begins."""
    import numpy as np

    return np.flatnonzero(np.diff(cases, prepend=-1))


def _means(cases: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean of each case's values."""
    import numpy as np

    starts = _starts(cases)
    sizes = np.diff(starts, append=len(cases))
    return np.asarray(
        np.add.reduceat(values.astype(float), starts) / sizes if len(starts) else values
    )
