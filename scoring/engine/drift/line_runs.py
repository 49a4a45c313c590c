"""The names of drift lines, and the runs on them with what their status depends on, in one query.

No date and no UUID is read: creating their objects would take as long as all the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from django.db.models import F, Min, QuerySet, TextField
from django.db.models.functions import Cast, Substr

from scoring.engine.drift.breaks import Break, Versions, find_breaks, find_rescoring
from scoring.engine.drift.results import RESULT_COLUMNS, StoredResults, with_freshness
from scoring.models import Dataset, RunScorer
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import identity_of
from scoring.models.runs.run_drift import runs_in_time

MAX_POINTS: Final = 500  # the newest ones of a line

_NAMES: Final = ("run__output_set__series", "name", "outputs", "run__name", "day")
_FIGURES: Final = (
    "run_id", "drift_result__churn_p", "drift_result__mcnemar_p",
    "run__drift__sampled", "run__drift__distinct", "run__drift__commonest",
)  # fmt: skip
_VERSIONS: Final = (
    "version_id", "version__number", "version__scorer",
    "run__output_set__version_id", "run__output_set__version__number", "threshold",
)  # fmt: skip

LineKey = tuple[str, str]  # series and scorer


class LineName(NamedTuple):
    series: str
    scorer: str


def line_names(dataset: Dataset) -> list[LineName]:
    """By series and, within one, in the order of the suite; no run is read."""
    return [LineName(series, scorer) for series, scorer, _ in _names_in_order(dataset.pk)]


@prepared_query
def _names_in_order(dataset: int) -> QuerySet[RunScorer, Any]:
    scorers = runs_in_time(dataset).select_related(None).defer(None).order_by()
    names = scorers.values_list("run__output_set__series", "name").annotate(first=Min("position"))
    return names.order_by("run__output_set__series", "first", "name")


class LineRun(NamedTuple):
    """A run on a line. Means from one that `is_cut_off` on are not comparable with those before.

    `kept` is None without a mean. Of `sampled` texts `distinct` are different and `commonest` are
    the same.
    """

    scorer: int  # id of its RunScorer
    label: str  # its name, with its date where several runs have it
    breaks: Sequence[Break]
    is_cut_off: bool
    kept: StoredResults | None
    run: int
    churn_p: float | None
    mcnemar_p: float | None
    sampled: int | None
    distinct: int | None
    commonest: int | None

    @property
    def mean(self) -> float | None:
        return self.kept.mean if self.kept else None

    @property
    def has_unusual_flips(self) -> bool:
        return self.churn_p is not None or self.mcnemar_p is not None

    @property
    def distinct_share(self) -> float | None:
        return (self.distinct or 0) / self.sampled if self.sampled else None


class _Row(NamedTuple):
    """A run as it is read: `figures` are the last fields of a LineRun."""

    outputs: int
    run_name: str
    day: str
    figures: Sequence[Any]
    kept: StoredResults
    versions: Sequence[Any]

    @property
    def run(self) -> int:
        return int(self.figures[0])

    @property
    def measured_with(self) -> Versions:
        return Versions._make(self.versions)


def runs_by_line(
    dataset: Dataset, scorers: Collection[str] = (), series: Collection[str] = ()
) -> dict[LineKey, list[LineRun]]:
    """The newest runs of each line, oldest first, by series and scorer in order; of runs over the
    same outputs the latest. Without names it is every scorer, or every series.
    """
    by_line: dict[LineKey, list[_Row]] = defaultdict(list)
    for key, row in _read_rows(dataset, scorers, series):
        by_line[key].append(row)
    return {key: _line_runs(by_line[key]) for key in sorted(by_line)}


def _read_rows(
    dataset: Dataset, names: Collection[str], series: Collection[str]
) -> Iterator[tuple[LineKey, _Row]]:
    figures, kept = len(_FIGURES), len(_FIGURES) + len(RESULT_COLUMNS)
    for series_name, scorer, outputs, run_name, day, *others in _columns(
        dataset.pk, sorted(names), sorted(series)
    ):
        results = StoredResults._make(others[figures:kept])
        row = _Row(outputs, run_name, day, others[:figures], results, others[kept:])
        yield (series_name, scorer), row


@prepared_query
def _columns(dataset: int, names: Sequence[str], series: Sequence[str]) -> QuerySet[RunScorer, Any]:
    scorers = runs_in_time(dataset, scorers=names, series=series).select_related(None).defer(None)
    day = Substr(Cast(F("run__output_set__dated"), TextField()), 1, 10)
    dated = with_freshness(scorers).annotate(day=day, outputs=identity_of("run__output_set"))
    return dated.values_list(*_NAMES, *_FIGURES, *RESULT_COLUMNS, *_VERSIONS)


def _line_runs(rows: Sequence[_Row]) -> list[LineRun]:
    newest: dict[int, int] = {}
    first: dict[int, _Row] = {}
    for row in rows:
        newest[row.outputs] = max(newest.get(row.outputs, 0), row.run)
        first.setdefault(row.outputs, row)
    shown = [row for row in rows if newest[row.outputs] == row.run][-MAX_POINTS:]
    names = Counter(row.run_name for row in shown)
    runs = []
    for before, row in pairwise([*shown[:1], *shown]):
        breaks = _breaks_between(before, row)
        if before is row:
            breaks = find_rescoring(first[row.outputs].measured_with, row.measured_with)
        runs.append(
            LineRun(
                row.kept.scorer,
                f"{row.run_name} ({row.day})" if names[row.run_name] > 1 else row.run_name,
                breaks,
                any(change.parts for change in breaks) if breaks else False,
                row.kept if row.kept.mean is not None else None,
                *row.figures,
            )
        )
    return runs


def _breaks_between(before: _Row, row: _Row) -> Sequence[Break]:
    """Most runs are measured with the same versions as the run before."""
    if before.versions == row.versions:
        return ()
    return find_breaks(before.measured_with, row.measured_with)
