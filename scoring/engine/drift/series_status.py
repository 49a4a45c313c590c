"""The standing of a team's series, from stored summaries alone and in at most three queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from scoring.core.stats.change_points import DecidedRun
from scoring.core.wording.drift_status import DriftStatus, Severity, find_drift_status, join_names
from scoring.engine.drift.results import RESULT_COLUMNS, StoredResults, judged_runs, with_freshness
from scoring.models import Dataset, Run, RunScorer, RunState, Team
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import NEWEST_FIRST, identity_of

#: The latest ones; earlier runs are read where there is news to tell of them.
MAX_RUNS_PER_SERIES: Final = 60
MAX_SCORER_ROWS: Final = 10_000  # scorers of runs, the newest ones
MAX_LINE_RUNS: Final = 500  # runs of a line; of longer ones the first need not have been read

SeriesKey = tuple[UUID, str]  # a dataset, and the series
LineKey = tuple[UUID, str, str]  # and the scorer


class ScorerRow(NamedTuple):
    """A scorer of a run: the fields of FIELDS."""

    dataset: UUID
    dataset_name: str
    series: str
    outputs: int
    run: int
    run_name: str
    passed: int | None
    failed: int | None
    errors: int | None
    skipped: int | None
    scorer: str
    version: int
    dataset_version: int
    kept: StoredResults

    @property
    def has_mean(self) -> bool:
        mean: float | None = self.kept.mean
        return mean is not None


FIELDS: Final = (
    "run__output_set__version__dataset__uuid", "run__output_set__version__dataset__name",
    "run__output_set__series", "outputs", "run_id", "run__name", "run__pass_count",
    "run__fail_count", "run__error_count", "run__skipped_count", "name", "version_id",
    "run__output_set__version_id",
)  # fmt: skip


class SeriesRun(NamedTuple):
    """A run of a series; `rate` is the share of its cases that pass."""

    run: int  # id
    name: str
    cases: int
    rate: float | None


@dataclass(frozen=True)
class SeriesStatus:
    """A series of a dataset; stops are its latest MAX_RUNS_PER_SERIES runs of `run_count`, oldest
    first, and there is at least one. `comparable` of them have one version of a scorer and of the
    dataset.
    """

    dataset: UUID
    dataset_name: str
    series: str
    stops: tuple[SeriesRun, ...]
    run_count: int
    news: tuple[tuple[str, DriftStatus], ...]  # by scorer
    comparable: int
    is_judged: bool  # whether what is decided of the newest runs is up to date

    @property
    def latest(self) -> SeriesRun:
        return self.stops[-1]

    @property
    def is_cut(self) -> bool:
        return len(self.stops) < self.run_count

    @property
    def rates(self) -> list[float | None]:
        return [stop.rate for stop in self.stops]

    @property
    def delta(self) -> float | None:
        """Of the rate, against the run before."""
        rates = self.rates[-2:]
        if len(rates) < 2 or rates[0] is None or rates[1] is None:
            return None
        return rates[1] - rates[0]

    @property
    def severity(self) -> int:
        return max((news.severity for _, news in self.news), default=0)

    @property
    def is_drifting(self) -> bool:
        return self.severity == Severity.DRIFTS

    @property
    def sentences(self) -> list[str]:
        """The weightiest first; scorers with the same news share one."""
        names: dict[DriftStatus, list[str]] = defaultdict(list)
        for scorer, news in sorted(self.news, key=lambda item: (-item[1].severity, item[0])):
            names[news].append(scorer)
        return [f"{join_names(scorers)} {news.text}." for news, scorers in names.items()]


@dataclass(frozen=True)
class _Line:
    """The comparable newest runs of a scorer with a mean, oldest first; earlier comparable runs are
    left out unless it `is_whole`.
    """

    key: LineKey
    runs: Sequence[ScorerRow]
    is_whole: bool

    @cached_property
    def decided(self) -> list[DecidedRun]:
        return judged_runs([seen.kept for seen in self.runs], is_whole=self.is_whole)

    @property
    def is_judged(self) -> bool:
        return len(self.decided) == len(self.runs)

    @cached_property
    def news(self) -> DriftStatus | None:
        return find_drift_status([seen.run_name for seen in self.runs], self.decided)


def series_statuses(of: Team | Dataset) -> list[SeriesStatus]:
    """One for each series of each dataset, or of the one, with a finished run; the worst first."""
    by_series: dict[SeriesKey, list[ScorerRow]] = defaultdict(list)
    for seen in _newest_of_series(of):
        by_series[seen.dataset, seen.series].append(seen)
    counts = _run_counts(of, by_series)
    lines = {key: _lines(seen, counts[key]) for key, seen in by_series.items()}
    whole = _whole_lines(of, [line for of_series in lines.values() for line in of_series])
    unsorted = [
        _standing(seen, counts[key], [whole.get(line.key, line) for line in lines[key]])
        for key, seen in by_series.items()
    ]
    return sorted(unsorted, key=_rank)


def _rank(standing: SeriesStatus) -> tuple[int, float, str, str]:
    delta = round(standing.delta or 0.0, 9)
    return -standing.severity, delta, standing.dataset_name, standing.series


def _owner(of: Team | Dataset) -> str:
    """The field of a run that leads to it."""
    return "team" if isinstance(of, Team) else "output_set__version__dataset"


def _run_counts(
    of: Team | Dataset, by_series: Mapping[SeriesKey, Sequence[ScorerRow]]
) -> dict[SeriesKey, int]:
    """Runs over the same outputs count once. One query where not all runs may have been read."""
    if all(len({row.run for row in seen}) < MAX_RUNS_PER_SERIES for seen in by_series.values()):
        return {key: len({row.outputs for row in seen}) for key, seen in by_series.items()}
    counts = _counts_by_series(of.pk, owner=_owner(of))
    return {(dataset, series): count for dataset, series, count in counts}


@prepared_query
def _counts_by_series(of: int, *, owner: str) -> QuerySet[Run, Any]:
    runs = _finished_runs(of, owner)
    by_series = runs.values_list("output_set__version__dataset__uuid", "output_set__series")
    return by_series.annotate(runs=Count(identity_of("output_set"), distinct=True))


def _newest_of_series(of: Team | Dataset) -> list[ScorerRow]:
    return _seen(_newest_rows(of.pk, MAX_RUNS_PER_SERIES, owner=_owner(of)))


@prepared_query
def _newest_rows(of: int, most: int, *, owner: str) -> QuerySet[RunScorer, Any]:
    number = Window(
        RowNumber(),
        partition_by=[F("output_set__version__dataset"), F("output_set__series")],
        order_by=NEWEST_FIRST,
    )
    numbered = _finished_runs(of, owner).annotate(number=number)
    return _scorer_rows(run__in=numbered.filter(number__lte=most).values("pk"))


def _finished_runs(of: int, owner: str) -> QuerySet[Run]:
    return Run.objects.filter(state=RunState.FINISHED, **{owner: of}).order_by()


def _scorer_rows(**scorers: Any) -> QuerySet[RunScorer, Any]:
    """The columns of each scorer with a summary that the lookups find, the newest run first."""
    rows = with_freshness(RunScorer.objects.filter(summary__isnull=False, **scorers))
    rows = rows.annotate(outputs=identity_of("run__output_set"))
    newest = rows.order_by(
        "-run__output_set__series_time", "-run__output_set", "-run_id", "-position"
    )
    return newest.values_list(*FIELDS, *RESULT_COLUMNS)[:MAX_SCORER_ROWS]


def _seen(rows: Iterable[Any]) -> list[ScorerRow]:
    """The rows of `_scorer_rows`, oldest first; of runs over the same outputs the newest one that
    has the scorer.
    """
    every = [
        ScorerRow._make([*row[: len(FIELDS)], StoredResults(*row[len(FIELDS) :])]) for row in rows
    ]
    runs: dict[tuple[int, str], int] = {}
    for seen in every:
        point = seen.outputs, seen.scorer
        runs[point] = max(runs.get(point, 0), seen.run)
    return [seen for seen in reversed(every) if runs[seen.outputs, seen.scorer] == seen.run]


def _lines(on_series: Sequence[ScorerRow], run_count: int) -> list[_Line]:
    """A line for each scorer of the latest run."""
    by_scorer: dict[str, list[ScorerRow]] = defaultdict(list)
    for seen in on_series:
        by_scorer[seen.scorer].append(seen)
    latest = on_series[-1].outputs
    is_all = len({seen.outputs for seen in on_series}) == run_count
    return [_line(line, is_all=is_all) for line in by_scorer.values() if line[-1].outputs == latest]


def _line(line: Sequence[ScorerRow], *, is_all: bool) -> _Line:
    """The line since the latest change of version of scorer or dataset."""
    last = line[-1]
    versions = last.version, last.dataset_version
    comparable = list(
        takewhile(lambda seen: (seen.version, seen.dataset_version) == versions, reversed(line))
    )
    runs = [seen for seen in reversed(comparable) if seen.has_mean]
    key = last.dataset, last.series, last.scorer
    return _Line(key, runs, is_all or len(comparable) < len(line))


def _whole_lines(of: Team | Dataset, lines: Iterable[_Line]) -> dict[LineKey, _Line]:
    """The lines with news, read anew with all their runs, because a level that is news may have
    begun long ago. Lines without news are judged by their newest runs.
    """
    wanted = [line for line in lines if line.news and not line.is_whole]
    if not wanted:
        return {}
    last = [line.runs[-1] for line in wanted]
    rows = _scorer_rows(
        run__in=_finished_runs(of.pk, _owner(of)),
        name__in={seen.scorer for seen in last},
        version__in={seen.version for seen in last},
        run__output_set__version__in={seen.dataset_version for seen in last},
        run__output_set__series__in={seen.series for seen in last},
    )
    by_line: dict[LineKey, list[ScorerRow]] = {line.key: [] for line in wanted}
    for seen in _seen(rows):
        if (key := (seen.dataset, seen.series, seen.scorer)) in by_line:
            by_line[key].append(seen)
    return {
        key: replace(_line(runs, is_all=True), is_whole=len(runs) < MAX_LINE_RUNS)
        for key, runs in by_line.items()
    }


def _standing(
    on_series: Sequence[ScorerRow], run_count: int, lines: Sequence[_Line]
) -> SeriesStatus:
    runs: dict[int, ScorerRow] = {}
    for seen in on_series:
        if seen.outputs not in runs or runs[seen.outputs].run < seen.run:
            runs[seen.outputs] = seen
    return SeriesStatus(
        dataset=on_series[0].dataset,
        dataset_name=on_series[0].dataset_name,
        series=on_series[0].series,
        stops=tuple(_stop(seen) for seen in runs.values()),
        run_count=run_count,
        news=tuple((line.key[2], line.news) for line in lines if line.news),
        comparable=max(len(line.runs) for line in lines),
        is_judged=all(line.is_judged for line in lines),
    )


def _stop(seen: ScorerRow) -> SeriesRun:
    counts: Iterable[int | None] = (seen.passed, seen.failed, seen.errors, seen.skipped)
    cases = sum(count or 0 for count in counts)
    rate = (seen.passed or 0) / cases if cases else None
    return SeriesRun(seen.run, seen.run_name, cases, rate)
