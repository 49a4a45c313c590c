"""People's preferences between all series of a dataset: each pair, and their strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from django.db.models import Count, F, Sum

from scoring.core.stats.bradley_terry import Strength, rank
from scoring.core.stats.preferences import WinCounts, count_wins
from scoring.models import Dataset, OutputSet, Preference, ReviewTask, User
from scoring.models.reviews.queue import may_have_tasks


class SeriesPair(NamedTuple):
    """Two series, by name, with the wins of the first over the second."""

    first: str
    second: str
    counts: WinCounts

    @property
    def is_met(self) -> bool:
        """Whether anybody compared outputs of the two."""
        return self.counts.pairs > 0


@dataclass(frozen=True)
class SeriesPreferences:
    """The series that anybody compared, all their pairs, and their strengths."""

    series: Sequence[str]
    pairs: Sequence[SeriesPair]

    @property
    def has_ranking(self) -> bool:
        """Two series are told by their pair alone."""
        return len(self.series) > 2

    @property
    def ranking(self) -> list[Strength]:
        wins = {}
        for first, second, counts in self.pairs:
            wins[first, second], wins[second, first] = counts.wins, counts.losses
        return rank(self.series, wins)


def compare_series(dataset: Dataset) -> SeriesPreferences:
    """By all preferences between outputs of the dataset; runs of one series are no opponents."""
    names = dict(OutputSet.objects.filter(version__dataset=dataset).values_list("pk", "series"))
    rows = Preference.objects.between_sets(list(names), list(names)).order_by()
    sets = {name: F(name) for name in ("candidate_set", "baseline_set")}
    pairs = rows.annotate(**sets).values("candidate", "baseline", *sets)
    sums: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one, other, total, number in pairs.annotate(
        total=Sum("verdict"), number=Count("pk")
    ).values_list("candidate_set", "baseline_set", "total", "number"):
        first, second = names[one], names[other]
        if first < second:
            sums.setdefault((first, second), []).append((total, number))
        elif second < first:
            sums.setdefault((second, first), []).append((-total, number))
    series = sorted({name for pair in sums for name in pair})
    return SeriesPreferences(
        series,
        [SeriesPair(*pair, count_wins(sums.get(pair, []))) for pair in combinations(series, 2)],
    )


def has_open_pairs(person: User, dataset: Dataset) -> bool:
    """Whether the person is still to say which of two outputs of the dataset they prefer."""
    tasks = ReviewTask.objects.open().asked_of(person).filter(queue__baseline__isnull=False)
    over_dataset = tasks.filter(queue__run__output_set__version__dataset=dataset)
    return may_have_tasks(person) and over_dataset.exists()
