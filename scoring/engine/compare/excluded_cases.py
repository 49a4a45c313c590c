"""A scorer's figures without some cases, such as those that a reader is yet to review.

Only what charts show is counted anew; means and tests stay those of all cases. Counted in plain
Python, since a page that looks at a few cases need not load numpy, by the rules of
`scoring.engine.compare.scores`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from hashlib import sha256
from statistics import fmean
from typing import NamedTuple

from django.core.cache import cache

from scoring.engine.compare.figures import DELTA_BINS, GRID, ScorerFigures
from scoring.models import Output, Run, Score
from scoring.models.pairs.score_ranges import CHANGE_DIGITS
from scoring.models.pairs.sql import SCORE_DIGITS

_CELL_EDGES = [cell / GRID for cell in range(1, GRID)]
_HALF = DELTA_BINS // 2
_BAR_EDGES = [(2 * step - 1) / (2 * _HALF) for step in range(1, _HALF + 1)]


class ExcludedCounts(NamedTuple):
    """Cases with a score in both runs: how many, and how many in each cell and bar of the charts.

    Cells are numbered as in `Cell`, bars from the greatest fall to the greatest rise.
    """

    number: int
    improved: int
    regressed: int
    cells: Mapping[tuple[int, int], int]
    bars: Mapping[int, int]


NOTHING_EXCLUDED = ExcludedCounts(0, 0, 0, {}, {})


def count_excluded(
    baseline: Run, candidate: Run, scorer: str, outputs: Collection[int]
) -> ExcludedCounts:
    """What the cases of these outputs, of either run, are in the charts of a scorer.

    One query for as long as the runs and the outputs stay the same, none without outputs.
    """
    if not outputs:
        return NOTHING_EXCLUDED
    runs = [(run.uuid, run.finished_at) for run in (baseline, candidate)]
    key = "left-out:" + sha256(repr((runs, scorer, sorted(outputs))).encode()).hexdigest()
    left_out: ExcludedCounts | None = cache.get(key)
    if left_out is None:
        left_out = _count(_mean_scores(baseline, candidate, scorer, outputs))
        cache.set(key, left_out)
    return left_out


def exclude_cases(scorer: ScorerFigures, left_out: ExcludedCounts) -> ScorerFigures:
    """The figures with charts and counts that lack these cases."""
    cells = (
        cell._replace(cases=cell.cases - left_out.cells.get((cell.x, cell.y), 0))
        for cell in scorer.scatter
    )
    return replace(
        scorer,
        n=scorer.n - left_out.number,
        improved=scorer.improved - left_out.improved,
        regressed=scorer.regressed - left_out.regressed,
        scatter=tuple(cell for cell in cells if cell.cases > 0),
        histogram=tuple(
            max(0, cases - left_out.bars.get(bar, 0)) for bar, cases in enumerate(scorer.histogram)
        ),
    )


def _mean_scores(
    baseline: Run, candidate: Run, scorer: str, outputs: Collection[int]
) -> list[tuple[float, float]]:
    """Both scores of each case, means over trials."""
    cases = Output.objects.filter(pk__in=outputs).values("case")
    sets = {baseline.output_set_id, candidate.output_set_id}
    scores = Score.objects.filter(
        output__in=Output.objects.filter(output_set__in=sets, case__in=cases),
        score__isnull=False,
        scorer__run__in=(baseline, candidate),
        scorer__name=scorer,
    )
    sides: tuple[dict[str, list[float]], ...] = ({}, {})
    for run, key, score in scores.values_list("scorer__run", "output__case__key", "score"):
        sides[run == candidate.pk].setdefault(key, []).append(score or 0)
    both = sides[0].keys() & sides[1].keys()
    return [(fmean(sides[0][key]), fmean(sides[1][key])) for key in both]


def _count(scores: Collection[tuple[float, float]]) -> ExcludedCounts:
    moves = [round(after - before, CHANGE_DIGITS) for before, after in scores]
    return ExcludedCounts(
        number=len(scores),
        improved=sum(move > 0 for move in moves),
        regressed=sum(move < 0 for move in moves),
        cells=Counter((_cell_of(before), _cell_of(after)) for before, after in scores),
        bars=Counter(map(_bar_of, moves)),
    )


def _cell_of(score: float) -> int:
    return bisect_right(_CELL_EDGES, round(score, SCORE_DIGITS))


def _bar_of(move: float) -> int:
    steps = bisect_right(_BAR_EDGES, abs(move))
    return _HALF + (steps if move > 0 else -steps)
