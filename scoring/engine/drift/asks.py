"""Who measures a series: the page that shows it where runs are small, else the worker."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from scoring.engine import errands, hold
from scoring.engine.drift.line import Line, lines_of
from scoring.engine.drift.measure import measure
from scoring.models import Dataset, Errand, ErrandKind, ErrandState, Run, RunState, User

AT_ONCE: Final = 1_000  # outputs a run may have to be measured while somebody waits
RUNS_AT_ONCE: Final = 60


def lines_for(
    dataset: Dataset,
    by: User | None,
    *,
    scorer: str = "",
    series: str = "",
    is_again: bool = False,
) -> list[Line]:
    """The dataset's lines. Where the worker has to measure first it is asked to, and the lines
    are not `is_measured`; where it failed at that, only if it is to try again.
    """
    lines = lines_of(dataset, scorer=scorer, series=series)
    waiting = {line.series: line for line in lines if not line.is_measured}
    small = [name for name, line in waiting.items() if is_small(line)]
    for name in small:
        measure(dataset, name)
    for name in waiting.keys() - small:
        if is_again or failed(dataset, name) is None:
            ask(dataset, name, by)
    return lines_of(dataset, scorer=scorer, series=series) if small else lines


def failed(dataset: Dataset, series: str) -> Errand | None:
    """The worker's latest try at the series, where that came to nothing."""
    asked = {"team": dataset.team_id, "kind": ErrandKind.MEASURE_DRIFT}
    rows = Errand.objects.filter(**asked, request=_request(dataset, series))
    latest = rows.order_by("pk").last()
    return latest if latest and latest.state == ErrandState.FAILED else None


class Progress(NamedTuple):
    """Figures measured of those that were missing at the start, and how long the rest takes."""

    done: int
    total: int
    seconds_left: float


def progress_of(dataset: Dataset, names: Collection[str]) -> Progress | None:
    """How far the worker is with these series, all together; None before the first figure."""
    asked = {"team": dataset.team_id, "kind": ErrandKind.MEASURE_DRIFT}
    rows = Errand.objects.filter(**asked, state=ErrandState.WORKING)
    wanted = [_request(dataset, name) for name in names]
    told = [row.answer for row in rows if row.request in wanted and row.answer]
    if not told:
        return None
    done, total = (sum(each[name] for each in told) for name in ("done", "total"))
    return Progress(done, total, max(each["seconds_left"] for each in told))


def is_small(line: Line) -> bool:
    """Whether measuring what is missing takes no longer than a person waits for a page."""
    counts: Iterable[int] = (point.n + point.unscored for point in line.points)
    return len(line.points) <= RUNS_AT_ONCE and max(counts) <= AT_ONCE


def leave_after(run: Run) -> None:
    """Leave it to the worker to measure the series of a finished run."""
    if run.state == RunState.FINISHED:
        dataset, request = _of(run)
        errands.leave(ErrandKind.MEASURE_DRIFT, dataset.team, request)


def measure_after(run: Run) -> None:
    """Do at once what was left for a small run, unless a worker is at it: a command may run
    where there is no worker, and it takes milliseconds.
    """
    if run.state != RunState.FINISHED or (run.case_count or 0) > AT_ONCE:
        return
    dataset, request = _of(run)
    left = {"team": dataset.team, "kind": ErrandKind.MEASURE_DRIFT, "request": request}
    for errand in Errand.objects.unfinished().filter(**left).select_related("team"):
        if hold.take(errand):
            errands.do(errand)


def ask(dataset: Dataset, series: str, by: User | None) -> None:
    """Ask the worker to measure the series."""
    errands.ask(ErrandKind.MEASURE_DRIFT, dataset.team, by, _request(dataset, series))


def _of(run: Run) -> tuple[Dataset, dict[str, str]]:
    outputs = run.output_set
    dataset = outputs.version.dataset
    return dataset, _request(dataset, outputs.series)


def _request(dataset: Dataset, series: str) -> dict[str, str]:
    return {"dataset": str(dataset.uuid), "series": series}
