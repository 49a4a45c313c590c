"""The versions of a scorer, and what uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from scoring.core.config_diff import (
    SettingChange,
    drop_child_defaults,
    find_changes,
    spell_out_defaults,
)
from scoring.core.contract import Json
from scoring.models import Dataset, RunScorer, Scorer, ScorerVersion, SuiteEntry, ThresholdChange

MAX_LISTED: Final = 20  # versions whose changes are listed; those of older ones have a link
RUNS: Final = 5


class Comparison(NamedTuple):
    """A version and an earlier one, None before the first."""

    old: ScorerVersion | None
    new: ScorerVersion

    @property
    def changes(self) -> list[SettingChange]:
        return list_changes(self.old, self.new) if self.old else []


def list_changes(old: ScorerVersion, new: ScorerVersion) -> list[SettingChange]:
    """The changes of the config, with defaults spelled out, so that omitting one is no change.

    A part of a combination that was added or removed is shown without its defaults.
    """
    configs = (spell_out_defaults(version.type, version.config) for version in (old, new))
    changes = find_changes(*configs)
    return [
        SettingChange(path, _shorten(before), _shorten(after)) for path, before, after in changes
    ]


def _shorten(value: Json) -> Json:
    is_part = isinstance(value, dict) and {"type", "config", "weight"} <= value.keys()
    return drop_child_defaults(value) if is_part else value


@dataclass(frozen=True)
class Versions:
    """The versions of a scorer, newest first, each with the attribute `run_count`.

    `query` may ask to compare two of them: `from` and `to` hold their numbers.
    """

    scorer: Scorer
    query: QueryDict

    @cached_property
    def rows(self) -> list[ScorerVersion]:
        versions = self.scorer.versions.select_related("created_by")
        runs = Count("run_scorers", filter=Q(run_scorers__run__deleted_at=None))
        return list(versions.annotate(run_count=runs).order_by("-number"))

    @cached_property
    def _steps(self) -> list[Comparison]:
        return list(map(Comparison, [*self.rows[1:], None], self.rows))

    @property
    def latest(self) -> list[Comparison]:
        """The versions whose changes are listed, each with the one before it."""
        return self._steps[:MAX_LISTED]

    @property
    def older(self) -> list[Comparison]:
        return self._steps[MAX_LISTED:]

    @property
    def is_comparable(self) -> bool:
        return len(self.rows) > 1

    @cached_property
    def comparison(self) -> Comparison | None:
        """The two chosen versions; None if one does not exist."""
        by_number = {str(version.number): version for version in self.rows}
        old, new = (by_number.get(self.query.get(name, "")) for name in ("from", "to"))
        return Comparison(old, new) if old and new else None

    @property
    def chosen(self) -> tuple[int, int]:
        """The initial choice: the numbers in the address, else the last two."""
        if self.comparison and self.comparison.old:
            return self.comparison.old.number, self.comparison.new.number
        newest = self.rows[0].number if self.rows else 0
        return newest - 1, newest


@dataclass(frozen=True)
class ScorerUses:
    """The suites and runs that use a scorer, and the datasets that those suites score."""

    scorer: Scorer

    @cached_property
    def entries(self) -> Sequence[SuiteEntry]:
        return list(self.scorer.entries.select_related("suite").order_by("suite__name"))

    @cached_property
    def datasets(self) -> QuerySet[Dataset]:
        suites = [entry.suite_id for entry in self.entries]
        datasets = Dataset.objects.filter(team=self.scorer.team_id, suite__in=suites)
        return datasets.select_related("suite").order_by("name")

    @cached_property
    def run_count(self) -> int:
        return self._run_scorers().count()

    def runs(self) -> QuerySet[RunScorer]:
        """The latest ones, each with its run, version and dataset joined."""
        related = ("run__output_set__version__dataset", "version")
        return self._run_scorers().select_related(*related).order_by("-run__pk")[:RUNS]

    def threshold_changes(self) -> QuerySet[ThresholdChange]:
        return self.scorer.threshold_changes.select_related("suite", "changed_by")

    def _run_scorers(self) -> QuerySet[RunScorer]:
        return RunScorer.objects.filter(version__scorer=self.scorer)
