"""The scores of two runs pair by pair, and what is worked out from them for each scorer.

Cases are what is tested: where a case has several trials, its scores are averaged, because the
trials of one case resemble each other and would count a single change several times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.core.paired import Difference, Flips, benjamini_hochberg, difference
from scoring.engine.figures import DELTA_BINS, GRID, Cell, Slice
from scoring.models import Case, Run, RunScorer, Score, Verdict
from scoring.models.pair_rows import Match
from scoring.models.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np

FEWEST: Final = 5  # cases of a tag that make a slice
MOST_TAGS: Final = 40  # the commonest ones


class Matched(NamedTuple):
    """The pairs of two runs as columns of equal length, in the candidate's order.

    `cases` numbers the cases from 0 in that order; `trials` is how many pairs a case has at most.
    """

    outputs: tuple[np.ndarray, np.ndarray]
    verdicts: tuple[np.ndarray, np.ndarray]
    positions: np.ndarray
    numbers: np.ndarray  # of the trials
    cases: np.ndarray
    trials: int


def matched(pairs: Pairs) -> Matched:
    import numpy as np

    types = [(name, np.int64) for name in Match._fields]
    rows = np.fromiter(pairs.matches(), np.dtype(types))
    _, cases, sizes = np.unique(rows["position"], return_inverse=True, return_counts=True)
    return Matched(
        outputs=(rows["baseline_output"], rows["output"]),
        verdicts=(rows["baseline_verdict"], rows["verdict"]),
        positions=rows["position"],
        numbers=rows["trial"],
        cases=cases,
        trials=int(sizes.max()) if len(sizes) else 0,
    )


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


@dataclass(frozen=True)
class PairedScores:
    """The pairs that a scorer gave a score in both runs."""

    scorers: TwoScorers
    before: np.ndarray
    after: np.ndarray
    passed: tuple[np.ndarray, np.ndarray]
    cases: np.ndarray
    places: np.ndarray  # positions and trials, a row a pair

    @classmethod
    def of(cls, scorers: TwoScorers, pairs: Matched) -> PairedScores:
        import numpy as np

        before, passed_before = _scores(scorers.before, pairs.outputs[0])
        after, passed_after = _scores(scorers.after, pairs.outputs[1])
        both = ~(np.isnan(before) | np.isnan(after))
        places = np.column_stack([pairs.positions[both], pairs.numbers[both]])
        passed = passed_before[both], passed_after[both]
        return cls(scorers, before[both], after[both], passed, pairs.cases[both], places)

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each case both mean scores over its trials, and the first pair's number."""
        import numpy as np

        _, first, of_case = np.unique(self.cases, return_index=True, return_inverse=True)
        sizes = np.bincount(of_case)
        before = np.bincount(of_case, self.before) / sizes
        after = np.bincount(of_case, self.after) / sizes
        return before, after, first

    @cached_property
    def difference(self) -> Difference:
        before, after, _ = self.means
        return difference(before, after)

    @property
    def moves(self) -> np.ndarray:
        """By how much each case's score changed; no change is exactly 0."""
        import numpy as np

        before, after, _ = self.means
        return np.asarray(np.round(after - before, 12))

    @property
    def flips(self) -> tuple[Flips, float | None]:
        """The verdicts that were stored, as the lists have them, and the p of their test.

        A threshold does not tell them: some answers fail whatever it is.
        """
        return flip_test(*self.passed, self.cases)

    @property
    def histogram(self) -> tuple[int, ...]:
        """Cases by change of score: DELTA_BINS bins whose centres go from -1 to 1."""
        import numpy as np

        half = DELTA_BINS // 2
        bins = np.clip(np.rint(self.moves * half).astype(int) + half, 0, DELTA_BINS - 1)
        return tuple(np.bincount(bins, minlength=DELTA_BINS).tolist())

    @property
    def scatter(self) -> tuple[Cell, ...]:
        """The cells that hold cases, each with the place of its first."""
        import numpy as np

        before, after, first = self.means
        x, y = (np.minimum((side * GRID).astype(int), GRID - 1) for side in (before, after))
        cells, example, counts = np.unique(x * GRID + y, return_index=True, return_counts=True)
        places = self.places[first[example]].tolist()
        return tuple(
            Cell(cell // GRID, cell % GRID, count, position, trial)
            for cell, count, (position, trial) in zip(
                cells.tolist(), counts.tolist(), places, strict=True
            )
        )

    def slice_of(self, positions: np.ndarray) -> Difference:
        """The difference over the cases at these positions of the candidate's version."""
        before, after, first = self.means
        of_tag = positions[self.places[first, 0]]
        return difference(before[of_tag], after[of_tag])


def flip_test(
    before: np.ndarray, after: np.ndarray, cases: np.ndarray
) -> tuple[Flips, float | None]:
    """Who passed before and after, and whether chance explains it; None without pairs.

    With one trial a case this is the exact McNemar test. With more, the cases' shares of passes are
    tested, since McNemar would take the trials of one case for independent.
    """
    import numpy as np

    found = Flips(len(before), int((before & ~after).sum()), int((after & ~before).sum()))
    _, of_case = np.unique(cases, return_inverse=True)
    sizes = np.bincount(of_case)
    if not len(before):
        return found, None
    if sizes.max() == 1:
        return found, found.p
    old, new = (np.bincount(of_case, side) / sizes for side in (before, after))
    return found, difference(old, new).p


def verdict_flips(pairs: Matched) -> tuple[Flips, float | None]:
    """The same of the verdicts over whole cases, where both are pass or fail."""
    before, after = pairs.verdicts
    judged = (before <= Verdict.FAIL) & (after <= Verdict.FAIL)
    passed = before[judged] == Verdict.PASS, after[judged] == Verdict.PASS
    return flip_test(passed[0], passed[1], pairs.cases[judged])


def slices_of(candidate: Run, scores: Sequence[PairedScores]) -> list[Slice]:
    """For each of the commonest tags and each scorer, where at least FEWEST cases have scores."""
    found = [
        (tag, each.scorers.name, each.slice_of(positions))
        for tag, positions in _tagged(candidate)
        for each in scores
    ]
    large = [(tag, name, of) for tag, name, of in found if of.n >= FEWEST]
    qs = benjamini_hochberg([of.p if of.p is not None else 1.0 for *_, of in large])
    return [
        Slice(tag, name, of.n, of.mean or 0.0, of.interval, of.p or 0.0, q, of.method)
        for (tag, name, of), q in zip(large, qs, strict=True)
    ]


def _tagged(run: Run) -> Iterator[tuple[str, np.ndarray]]:
    """The commonest tags of the run's cases by name, each with a mask over positions."""
    import numpy as np

    cases = Case.objects.filter(version=run.output_set.version_id).exclude(tags_json="[]")
    tagged: dict[str, list[int]] = {}
    for position, tags in cases.order_by().values_list("position", "tags_json").iterator():
        for tag in dict.fromkeys(json.loads(tags)):
            tagged.setdefault(tag, []).append(position)
    commonest = sorted(tagged, key=lambda tag: (-len(tagged[tag]), tag))[:MOST_TAGS]
    for tag in sorted(commonest):
        mask = np.zeros(run.output_set.version.case_count + 1, bool)
        mask[tagged[tag]] = True
        yield tag, mask


def _scores(scorer: RunScorer, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores of these outputs, NaN where there is none, and which of them passed."""
    import numpy as np

    scored = Score.objects.filter(scorer=scorer, score__isnull=False).order_by("output")
    columns = {"output": np.int64, "score": np.float64, "verdict": np.int8}
    rows: Iterator[Any] = scored.values_list(*columns).iterator(chunk_size=20_000)
    found = np.fromiter(rows, np.dtype(list(columns.items())))
    if not len(found):
        return np.full(len(outputs), np.nan), np.zeros(len(outputs), bool)
    places = np.minimum(np.searchsorted(found["output"], outputs), len(found) - 1)
    rows_of = found[places]
    is_there = rows_of["output"] == outputs
    passed = is_there & (rows_of["verdict"] == Verdict.PASS)
    return np.where(is_there, rows_of["score"], np.nan), passed
