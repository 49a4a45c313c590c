"""The names of drift lines, and the runs on them with what their status depends on, in one query.

No date and no UUID is read: creating their objects would take as long as all the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
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

_COLUMNS: Final = (
    "run__output_set__series", "name", "outputs", "run__name", "day",
    "run_id", "drift_result__churn_p", "drift_result__mcnemar_p",
    "run__drift__sampled", "run__drift__distinct", "run__drift__commonest",
    *RESULT_COLUMNS,
    "version_id", "version__number", "version__scorer",
    "run__output_set__version_id", "run__output_set__version__number", "threshold",
)  # fmt: skip
_FIRST_RESULT: Final = _COLUMNS.index(RESULT_COLUMNS[0])
_RESULTS: Final = slice(_FIRST_RESULT, _FIRST_RESULT + len(RESULT_COLUMNS))

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
    """A run as it is read: _COLUMNS, those of results and of versions each as one field."""

    series: str
    scorer: str
    outputs: int
    run_name: str
    day: str
    run: int
    churn_p: float | None
    mcnemar_p: float | None
    sampled: int | None
    distinct: int | None
    commonest: int | None
    results: StoredResults
    versions: Versions


def runs_by_line(
    dataset: Dataset, scorers: Collection[str] = (), series: Collection[str] = ()
) -> dict[LineKey, list[LineRun]]:
    """The newest runs of each line, oldest first, by series and scorer in order; of runs over the
    same outputs the latest. Without names it is every scorer, or every series.
    """
    by_line: dict[LineKey, list[_Row]] = defaultdict(list)
    for columns in _columns(dataset.pk, sorted(scorers), sorted(series)):
        results = StoredResults._make(columns[_RESULTS])
        versions = Versions._make(columns[_RESULTS.stop :])
        row = _Row._make((*columns[: _RESULTS.start], results, versions))
        by_line[row.series, row.scorer].append(row)
    return {key: _line_runs(by_line[key]) for key in sorted(by_line)}


@prepared_query
def _columns(dataset: int, names: Sequence[str], series: Sequence[str]) -> QuerySet[RunScorer, Any]:
    scorers = runs_in_time(dataset, scorers=names, series=series).select_related(None).defer(None)
    day = Substr(Cast(F("run__output_set__dated"), TextField()), 1, 10)
    dated = with_freshness(scorers).annotate(day=day, outputs=identity_of("run__output_set"))
    return dated.values_list(*_COLUMNS)


def _line_runs(rows: Sequence[_Row]) -> list[LineRun]:
    newest: dict[int, int] = {}
    first: dict[int, _Row] = {}
    for row in rows:
        newest[row.outputs] = max(newest.get(row.outputs, 0), row.run)
        first.setdefault(row.outputs, row)
    shown = [row for row in rows if newest[row.outputs] == row.run][-MAX_POINTS:]
    names = Counter(row.run_name for row in shown)
    breaks = [find_rescoring(first[shown[0].outputs].versions, shown[0].versions)]
    breaks += [find_breaks(before.versions, row.versions) for before, row in pairwise(shown)]
    return [
        LineRun(
            row.results.scorer,
            f"{row.run_name} ({row.day})" if names[row.run_name] > 1 else row.run_name,
            changes,
            changes != [] and any(change.parts for change in changes),
            row.results if row.results.mean is not None else None,
            row.run,
            row.churn_p,
            row.mcnemar_p,
            row.sampled,
            row.distinct,
            row.commonest,
        )
        for row, changes in zip(shown, breaks, strict=True)
    ]
