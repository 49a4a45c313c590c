"""Who measures a series: the page that shows it where runs are small, else the worker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scoring.engine import errands
from scoring.engine.drift.line import Line, lines_of
from scoring.engine.drift.measure import measure
from scoring.models import Dataset, ErrandKind, Run, RunState, User

AT_ONCE: Final = 1_000  # outputs a run may have to be measured while somebody waits
RUNS_AT_ONCE: Final = 60


def lines_for(
    dataset: Dataset, by: User | None, *, scorer: str = "", series: str = ""
) -> list[Line]:
    """The dataset's lines. Where the worker has to measure first it is asked to, and the lines
    are not `is_measured`.
    """
    lines = lines_of(dataset, scorer=scorer, series=series)
    waiting = {line.series: line for line in lines if not line.is_measured}
    if not waiting:
        return lines
    for line in waiting.values():
        if is_small(line):
            measure(dataset, line.series)
        else:
            ask(dataset, line.series, by)
    return lines_of(dataset, scorer=scorer, series=series)


def is_small(line: Line) -> bool:
    """Whether measuring what is missing takes no longer than a person waits for a page."""
    counts: Iterable[int] = (point.n + point.unscored for point in line.points)
    return len(line.points) <= RUNS_AT_ONCE and max(counts) <= AT_ONCE


def ask_after(run: Run) -> None:
    """Have the worker measure a run that has just finished; small ones wait for a look."""
    if run.state == RunState.FINISHED and (run.case_count or 0) > AT_ONCE:
        outputs = run.output_set
        ask(outputs.version.dataset, outputs.series, None)


def ask(dataset: Dataset, series: str, by: User | None) -> None:
    """Leave it to the worker to measure the series."""
    request = {"dataset": str(dataset.uuid), "series": series}
    errands.ask(ErrandKind.MEASURE_DRIFT, dataset.team, by, request)
