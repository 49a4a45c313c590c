"""Sums of the scores of a line's runs by case, stored so that the next run need not read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

from scoring.core.stats.case_sums import (
    CaseSums,
    add_sums,
    pack_sums,
    paired_difference,
    sum_run,
    unpack_sums,
)
from scoring.models import Dataset, LevelSums, RunScorer, Score


class PartSums:
    """The sums over any of a line's comparable runs, named by their indices."""

    def __init__(self, dataset: Dataset, series: str, scorers: Sequence[RunScorer]) -> None:
        self._line = {"dataset": dataset, "series": series, "scorer": scorers[0].name}
        self._scorers = scorers
        self._cache: dict[tuple[int, ...], CaseSums] = {}

    def __call__(self, runs: Sequence[int]) -> CaseSums:
        key = tuple(runs)
        if key not in self._cache:
            self._cache[key] = self._load(key) or self._add_up(key)
        return self._cache[key]

    def retain(self, levels: Sequence[Sequence[int]]) -> None:
        """Drop all sums from memory but those over these runs."""
        keys = {tuple(runs) for runs in levels}
        self._cache = {runs: sums for runs, sums in self._cache.items() if runs in keys}

    def keep(self, levels: Sequence[Sequence[int]]) -> None:
        """Store the sums for the next run; single runs are as quickly read from the rows."""
        by_hash = {self._hash(tuple(runs)): runs for runs in levels if len(runs) > 1}
        rows = LevelSums.objects.filter(**self._line)
        rows.exclude(runs__in=by_hash).delete()
        for runs_hash in by_hash.keys() - set(rows.values_list("runs", flat=True)):
            data = pack_sums(self(by_hash[runs_hash]))
            LevelSums.objects.create(**self._line, runs=runs_hash, data=data)

    def _add_up(self, runs: tuple[int, ...]) -> CaseSums:
        """Usually the newest run is added to sums that are known already."""
        *earlier, last = runs
        if not earlier:
            return self._read(last)
        sums = self._cache.get(tuple(earlier)) or self._load(tuple(earlier))
        if sums is None:
            sums = self([earlier[0]])
            for run in earlier[1:]:
                sums = add_sums(sums, self._read(run))
        return add_sums(sums, self([last]))

    def _load(self, runs: tuple[int, ...]) -> CaseSums | None:
        data = self._stored.get(self._hash(runs)) if len(runs) > 1 and self._stored else None
        return unpack_sums(data) if data else None

    @cached_property
    def _stored(self) -> dict[str, bytes]:
        rows = LevelSums.objects.filter(**self._line).values_list("runs", "data")
        return {runs_hash: bytes(data) for runs_hash, data in rows}

    def _hash(self, runs: tuple[int, ...]) -> str:
        """Changes when one of the runs is scored again."""
        scorers = (self._scorers[run] for run in runs)
        text = ";".join(f"{scorer.pk}@{scorer.run.finished_at}" for scorer in scorers)
        return hashlib.sha256(text.encode()).hexdigest()

    def _read(self, run: int) -> CaseSums:
        import numpy as np

        scores = Score.objects.filter(scorer=self._scorers[run], score__isnull=False)
        columns = ("output__case_id", "score")
        rows = np.array(list(scores.order_by().values_list(*columns)), float).reshape(-1, 2)
        cases, units = np.unique(rows[:, 0].astype(np.int64), return_inverse=True)
        if len(cases) < len(rows):  # several trials, which count by their mean
            return sum_run(cases, np.bincount(units, rows[:, 1]) / np.bincount(units))
        return sum_run(rows[:, 0].astype(np.int64), rows[:, 1])


def paired_step(sums: PartSums, run: int) -> list[float | None] | None:
    """The run of this index against the one before: n, mean, the ends of its 95 % interval, p."""
    difference = paired_difference(sums((run - 1,)), sums((run,)))
    return list(difference) if difference else None
