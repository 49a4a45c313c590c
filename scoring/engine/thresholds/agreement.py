"""How far a scorer agrees with people at any threshold, on the runs of a preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from scoring.core.stats.calibration import (
    BestThreshold,
    ScoredLabel,
    ThresholdTable,
    VerdictTable,
    best_threshold,
    table_at,
    tables_by_threshold,
)
from scoring.engine.calibration.scorers import calibrate_runs
from scoring.engine.thresholds.preview import Preview


@dataclass(frozen=True)
class Agreement:
    """The outputs with a score that people pass or fail, of so many runs by one version."""

    labels: Sequence[ScoredLabel]
    version: int
    run_count: int

    def table_at(self, threshold: float) -> VerdictTable:
        return table_at(self.labels, threshold)

    @cached_property
    def tables(self) -> list[ThresholdTable]:
        """At each score that occurs, the lowest first."""
        return list(tables_by_threshold(self.labels))

    @cached_property
    def best(self) -> BestThreshold | None:
        return best_threshold(self.labels)


def read_agreement(preview: Preview) -> Agreement | None:
    """By the version of the latest run; None where people have passed or failed nothing."""
    if not preview.runs:
        return None
    found = calibrate_runs([run.scorer for run in preview.runs])
    if found is None:
        return None
    labels = [label.scored for label in found.labels]
    return Agreement(labels, found.version.number, found.run_count)
