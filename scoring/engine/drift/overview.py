"""Where the series of a team stand, from kept summaries alone and in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Q

from scoring.core.drift_news import News, Weight, listed, news_of
from scoring.models import Dataset, RunScorer, RunState, Team

MOST_SEEN: Final = 10_000  # scorers of runs, the newest ones


class Seen(NamedTuple):
    """A scorer of a run: the fields of FIELDS."""

    dataset: UUID
    dataset_name: str
    series: str
    outputs: int
    dated: datetime
    run: UUID
    run_id: int
    run_name: str
    passed: int | None
    failed: int | None
    errors: int | None
    skipped: int | None
    scorer: str
    version: int
    dataset_version: int
    mean: float | None


FIELDS: Final = (
    "run__output_set__version__dataset__uuid",
    "run__output_set__version__dataset__name",
    "run__output_set__series",
    "run__output_set_id",
    "run__output_set__dated",
    "run__uuid",
    "run_id",
    "run__name",
    "run__pass_count",
    "run__fail_count",
    "run__error_count",
    "run__skipped_count",
    "name",
    "version_id",
    "run__output_set__version_id",
    "summary__mean",
)


class Stop(NamedTuple):
    """A run of a series; `rate` is the share of its cases that pass."""

    run: str  # uuid
    run_id: int
    name: str
    dated: datetime
    cases: int
    rate: float | None


@dataclass(frozen=True)
class Standing:
    """A series of a dataset; stops are oldest first, and there is at least one. `comparable` of
    the latest were measured alike: by one version of a scorer over one of the dataset.
    """

    dataset: UUID
    dataset_name: str
    series: str
    stops: tuple[Stop, ...]
    news: tuple[tuple[str, News], ...]  # by scorer
    comparable: int

    @property
    def latest(self) -> Stop:
        return self.stops[-1]

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
    def weight(self) -> int:
        return max((news.weight for _, news in self.news), default=0)

    @property
    def is_drifting(self) -> bool:
        return self.weight == Weight.DRIFTS

    @property
    def sentences(self) -> list[str]:
        """The weightiest first; scorers of which the same is said share one."""
        together: dict[News, list[str]] = defaultdict(list)
        for scorer, news in sorted(self.news, key=lambda each: (-each[1].weight, each[0])):
            together[news].append(scorer)
        return [
            f"{listed(names)} {news.text if len(names) == 1 else news.texts}."
            for news, names in together.items()
        ]


def standings(of: Team | Dataset) -> list[Standing]:
    """One for each series of each dataset, or of the one, with a finished run; the worst first."""
    by_series: dict[tuple[UUID, str], list[Seen]] = defaultdict(list)
    for seen in _newest(of):
        by_series[seen.dataset, seen.series].append(seen)
    found = [_standing(on_series) for on_series in by_series.values()]
    return sorted(found, key=_badness)


def _badness(standing: Standing) -> tuple[int, float, str, str]:
    delta = round(standing.delta or 0.0, 9)
    return -standing.weight, delta, standing.dataset_name, standing.series


def _newest(of: Team | Dataset) -> list[Seen]:
    """Oldest first; of runs over the same outputs the newest one."""
    is_team = isinstance(of, Team)
    whose = Q(run__team=of) if is_team else Q(run__output_set__version__dataset=of)
    rows = RunScorer.objects.filter(whose, run__state=RunState.FINISHED, summary__isnull=False)
    newest = rows.order_by("-run__output_set__dated", "-run_id", "-position")
    found = [Seen(*row) for row in newest.values_list(*FIELDS)[:MOST_SEEN]]
    runs: dict[int, int] = {}
    for seen in found:
        runs[seen.outputs] = max(runs.get(seen.outputs, 0), seen.run_id)
    return [seen for seen in reversed(found) if runs[seen.outputs] == seen.run_id]


def _standing(on_series: Sequence[Seen]) -> Standing:
    runs = {seen.run_id: seen for seen in on_series}
    by_scorer: dict[str, list[Seen]] = defaultdict(list)
    for seen in on_series:
        by_scorer[seen.scorer].append(seen)
    latest = on_series[-1].run_id
    lines = {
        scorer: _since_break(line)
        for scorer, line in by_scorer.items()
        if line[-1].run_id == latest
    }
    return Standing(
        dataset=on_series[0].dataset,
        dataset_name=on_series[0].dataset_name,
        series=on_series[0].series,
        stops=tuple(_stop(seen) for seen in runs.values()),
        news=tuple((name, news) for name, line in lines.items() if (news := _news(line))),
        comparable=max(len(line) for line in lines.values()),
    )


def _news(line: Sequence[Seen]) -> News | None:
    means = [(seen.run_name, seen.mean) for seen in line if seen.mean is not None]
    return news_of([name for name, _ in means], [mean for _, mean in means])


def _since_break(line: Sequence[Seen]) -> list[Seen]:
    """The runs of the latest versions of scorer and dataset, oldest first."""
    measure = line[-1].version, line[-1].dataset_version
    alike = takewhile(lambda seen: (seen.version, seen.dataset_version) == measure, line[::-1])
    return list(alike)[::-1]


def _stop(seen: Seen) -> Stop:
    counts: Iterable[int | None] = (seen.passed, seen.failed, seen.errors, seen.skipped)
    cases = sum(count or 0 for count in counts)
    rate = (seen.passed or 0) / cases if cases else None
    return Stop(str(seen.run), seen.run_id, seen.run_name, seen.dated, cases, rate)
