"""The verdicts that flipped between two runs, counted in the database."""

from __future__ import annotations

from collections.abc import Mapping

from scoring.core.stats.flips import FlipCounts
from scoring.models.pairs.pairs import Pairs
from scoring.models.runs.run import Run
from scoring.models.runs.score import Verdict


def count_flips(before: Run, after: Run) -> FlipCounts:
    """Flips of the cases' verdicts; cases are matched by key."""
    counts = Pairs(before, after).counts()
    return FlipCounts(counts.pairs, counts.fixed, counts.broke)


def count_scorer_flips(before: Run, after: Run) -> dict[str, FlipCounts]:
    """Flips of each scorer's own verdicts, by its name, for the scorers of both runs."""
    names = [set(run.scorers.values_list("name", flat=True)) for run in (before, after)]
    pairs = Pairs(before, after)
    return {name: _flips(pairs.verdicts_of(name)) for name in sorted(names[0] & names[1])}


def _flips(counts: Mapping[tuple[int, int], int]) -> FlipCounts:
    fixed = counts.get((Verdict.FAIL, Verdict.PASS), 0)
    return FlipCounts(sum(counts.values()), fixed, counts.get((Verdict.PASS, Verdict.FAIL), 0))
