"""How a scorer came to be what it is, and what rests on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.db.models import Count, QuerySet
from django.http import QueryDict

from scoring.core.config_changes import Change, changes, short_part, spelled_out
from scoring.core.contract import Json
from scoring.models import Dataset, RunScorer, Scorer, ScorerVersion, SuiteEntry, ThresholdChange

TOLD: Final = 20  # versions whose changes stand in the list; of older ones a link tells them
RUNS: Final = 5


class Step(NamedTuple):
    """A version and the one before it, None for the first."""

    version: ScorerVersion
    before: ScorerVersion | None

    @property
    def changes(self) -> list[Change]:
        return changes_between(self.before, self.version) if self.before else []


class Comparison(NamedTuple):
    """Any two versions of a scorer."""

    old: ScorerVersion
    new: ScorerVersion

    @property
    def changes(self) -> list[Change]:
        return changes_between(self.old, self.new)


def changes_between(old: ScorerVersion, new: ScorerVersion) -> list[Change]:
    """Defaults count as written down, so that leaving one out is no change.

    A part of a combination that comes or goes is told without its defaults.
    """
    found = changes(spelled_out(old.type, old.config), spelled_out(new.type, new.config))
    return [Change(path, _told(before), _told(after)) for path, before, after in found]


def _told(value: Json) -> Json:
    is_part = isinstance(value, dict) and {"type", "config", "weight"} <= value.keys()
    return short_part(value) if is_part else value


@dataclass(frozen=True)
class Versions:
    """The versions of a scorer, newest first, each with the attribute `run_count`.

    `query` may ask to compare two of them: `from` and `to` hold their numbers.
    """

    scorer: Scorer
    query: QueryDict

    @cached_property
    def rows(self) -> list[ScorerVersion]:
        found = self.scorer.versions.select_related("created_by")
        return list(found.annotate(run_count=Count("run_scorers")).order_by("-number"))

    def steps(self) -> Iterator[Step]:
        """Those whose changes are told."""
        yield from list(map(Step, self.rows, [*self.rows[1:], None]))[:TOLD]

    def older(self) -> Iterator[Step]:
        yield from list(map(Step, self.rows, [*self.rows[1:], None]))[TOLD:]

    @property
    def is_comparable(self) -> bool:
        return len(self.rows) > 1

    @cached_property
    def comparison(self) -> Comparison | None:
        """The two that are asked for; None where they are not there."""
        by_number = {str(version.number): version for version in self.rows}
        old, new = (by_number.get(self.query.get(end, "")) for end in ("from", "to"))
        return Comparison(old, new) if old and new else None

    @property
    def chosen(self) -> tuple[int, int]:
        """The numbers the choices begin with: those asked for, else the last step."""
        if self.comparison:
            return self.comparison.old.number, self.comparison.new.number
        newest = self.rows[0].number if self.rows else 0
        return newest - 1, newest


@dataclass(frozen=True)
class Uses:
    """What rests on a scorer: suites, datasets that are scored by one of these, runs."""

    scorer: Scorer

    @cached_property
    def entries(self) -> Sequence[SuiteEntry]:
        return list(self.scorer.entries.select_related("suite").order_by("suite__name"))

    @cached_property
    def datasets(self) -> QuerySet[Dataset]:
        suites = [entry.suite_id for entry in self.entries]
        found = Dataset.objects.filter(team=self.scorer.team_id, suite__in=suites)
        return found.select_related("suite").order_by("name")

    @cached_property
    def run_count(self) -> int:
        return self._held().count()

    def runs(self) -> QuerySet[RunScorer]:
        """The latest ones, each with its run, version and dataset joined."""
        joined = ("run__output_set__version__dataset", "version")
        return self._held().select_related(*joined).order_by("-run__pk")[:RUNS]

    def threshold_changes(self) -> QuerySet[ThresholdChange]:
        return self.scorer.threshold_changes.select_related("suite", "changed_by")

    def _held(self) -> QuerySet[RunScorer]:
        return RunScorer.objects.filter(version__scorer=self.scorer)
