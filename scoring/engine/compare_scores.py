"""What the scores of two runs say pair by pair, for each scorer.

Cases are what is tested: where a case has several trials, its scores are averaged, because the
trials of one case resemble each other and would count a single change several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from scoring.core.compare_chart import Span, change_span
from scoring.core.paired import Difference, Flips, benjamini_hochberg, difference
from scoring.engine.compare_columns import Matched, Tags, given_by
from scoring.engine.figures import DELTA_BINS, GRID, Cell, Slice
from scoring.engine.stages import Reach, part_of, unheard
from scoring.models import Run, RunScorer, Verdict
from scoring.models.pair_ranges import CHANGE_DIGITS, SCORE_DIGITS

if TYPE_CHECKING:
    import numpy as np

READING: Final = 0.85  # of the time that a scorer takes; the rest is arithmetic
FEWEST: Final = 5  # cases of a tag that make a slice
RARE: Final = 2_000  # cases of a bar; more are met soon by whoever walks through the pairs


@dataclass(frozen=True)
class TwoScorers:
    """A scorer in the baseline and the one of its name in the candidate."""

    before: RunScorer
    after: RunScorer

    @property
    def name(self) -> str:
        return self.after.name

    @property
    def is_same_version(self) -> bool:
        return self.before.version_id == self.after.version_id


def scorers_of(baseline: Run, candidate: Run) -> list[TwoScorers]:
    """The scorers that both runs have by name, in the candidate's order."""
    old = {scorer.name: scorer for scorer in baseline.scorers.select_related("version__scorer")}
    new = candidate.scorers.select_related("version__scorer")
    return [TwoScorers(old[scorer.name], scorer) for scorer in new if scorer.name in old]


class OneScorer(NamedTuple):
    """What is worked out of one scorer, without the scores themselves.

    `means` are the baseline's and the candidate's; `improved` and `regressed` count cases by the
    score; `broke` and `fixed` are the positions of pairs whose verdicts flipped, `moved` those
    of each bar of the histogram that stands for few cases.
    """

    scorers: TwoScorers
    difference: Difference
    means: tuple[float, float] | None
    flips: tuple[Flips, float | None]
    improved: int
    regressed: int
    histogram: tuple[int, ...]
    scatter: tuple[Cell, ...]
    slices: list[tuple[str, Difference]]  # by tag
    broke: np.ndarray
    fixed: np.ndarray
    moved: list[tuple[Span, np.ndarray]]


def scored_by(scorers: TwoScorers, pairs: Matched, tags: Tags, reach: Reach = unheard) -> OneScorer:
    """One scorer at a time, so that the scores of one are held in memory and not those of all."""
    scores = PairedScores.of(scorers, pairs, reach)
    before, after = scores.means
    moves = scores.moves
    return OneScorer(
        scorers=scorers,
        difference=difference(before, after),
        means=(float(before.mean()), float(after.mean())) if len(before) else None,
        flips=flip_test(*scores.passed, scores.cases),
        improved=int((moves > 0).sum()),
        regressed=int((moves < 0).sum()),
        histogram=scores.histogram,
        scatter=scores.scatter,
        slices=[(tag, scores.slice_of(tags.having(tag))) for tag in tags.names],
        broke=scores.flipped(Verdict.FAIL),
        fixed=scores.flipped(Verdict.PASS),
        moved=list(scores.moved()),
    )


@dataclass(frozen=True)
class PairedScores:
    """The pairs that a scorer gave a score in both runs; `at` are their numbers among all."""

    pairs: Matched
    at: np.ndarray
    before: np.ndarray
    after: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]  # as stored: some answers fail whatever the threshold

    @classmethod
    def of(cls, scorers: TwoScorers, pairs: Matched, reach: Reach = unheard) -> PairedScores:
        import numpy as np

        sides, half = (scorers.before, scorers.after), READING / 2
        old, new = (
            given_by(scorer, outputs, part_of(reach, side * half, half))
            for side, (scorer, outputs) in enumerate(zip(sides, pairs.outputs, strict=True))
        )
        both = ~(np.isnan(old.scores) | np.isnan(new.scores))
        at = np.flatnonzero(both).astype(np.int32)
        passed = old.passed[both], new.passed[both]
        return cls(pairs, at, old.scores[both], new.scores[both], passed)

    @property
    def cases(self) -> np.ndarray:
        cases: np.ndarray = self.pairs.cases[self.at]
        return cases

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """For each case both mean scores over its trials."""
        if self.pairs.trials <= 1:
            return self.before, self.after
        return _means(self.cases, self.before), _means(self.cases, self.after)

    @cached_property
    def _first(self) -> np.ndarray:
        """For each case its first pair's number among all."""
        return self.at if self.pairs.trials <= 1 else self.at[_starts(self.cases)]

    @cached_property
    def moves(self) -> np.ndarray:
        """By how much each case's score changed; no change is exactly 0."""
        import numpy as np

        before, after = self.means
        return np.asarray(np.round(after - before, CHANGE_DIGITS))

    @cached_property
    def _bins(self) -> np.ndarray:
        """For each case the bar of the histogram that it stands in."""
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

    def moved(self) -> Iterator[tuple[Span, np.ndarray]]:
        """What each bar of at most RARE cases stands for, with the positions of its pairs."""
        import numpy as np

        everywhere = self.pairs.positions
        for place, count in enumerate(self.histogram):
            if 0 < count <= RARE:
                cases = everywhere[self._first[self._bins == place]]
                pairs = cases if self.pairs.trials <= 1 else everywhere[np.isin(everywhere, cases)]
                yield change_span(place, DELTA_BINS // 2), pairs

    @property
    def scatter(self) -> tuple[Cell, ...]:
        """The cells that hold cases, each with the place of its first; as the ranges of a list,
        a cell includes its lower edges.
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

    def slice_of(self, positions: np.ndarray) -> Difference:
        """The difference over the cases at these positions of the candidate's version."""
        before, after = self.means
        of_tag = positions[self.pairs.positions[self._first]]
        return difference(before[of_tag], after[of_tag])

    def flipped(self, to: Verdict) -> np.ndarray:
        """The positions of the pairs that pass in one run alone, now fail or now pass."""
        before, after = self.passed
        pairs = after & ~before if to == Verdict.PASS else before & ~after
        positions: np.ndarray = self.pairs.positions[self.at[pairs]]
        return positions


def flip_test(
    before: np.ndarray, after: np.ndarray, cases: np.ndarray
) -> tuple[Flips, float | None]:
    """Who passed before and after, and whether chance explains it; None without pairs.

    `cases` rise. With one trial a case this is the exact McNemar test. With more, the cases'
    shares of passes are tested, since McNemar would take the trials of one case for independent.
    """
    found = Flips(len(before), int((before & ~after).sum()), int((after & ~before).sum()))
    if not len(before):
        return found, None
    if len(_starts(cases)) == len(cases):
        return found, found.p
    return found, difference(_means(cases, before), _means(cases, after)).p


def verdict_flips(pairs: Matched) -> tuple[Flips, float | None]:
    """The same of the verdicts over whole cases, where both are pass or fail."""
    before, after = pairs.verdicts
    judged = (before <= Verdict.FAIL) & (after <= Verdict.FAIL)
    passed = before[judged] == Verdict.PASS, after[judged] == Verdict.PASS
    return flip_test(passed[0], passed[1], pairs.cases[judged])


def slices_of(scores: Sequence[OneScorer]) -> list[Slice]:
    """For each of the commonest tags and each scorer, where at least FEWEST cases have scores."""
    found = [
        (tag, each.scorers.name, of)
        for slices in zip(*(each.slices for each in scores), strict=True)
        for each, (tag, of) in zip(scores, slices, strict=True)
    ]
    large = [(tag, name, of) for tag, name, of in found if of.n >= FEWEST]
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
