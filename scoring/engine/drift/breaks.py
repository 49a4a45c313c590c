"""Changes of what a drift line is measured with."""

from __future__ import annotations

from typing import Literal, NamedTuple

from scoring.models import RunScorer

BreakKind = Literal["scorer", "dataset", "threshold", "rescoring"]


class Break(NamedTuple):
    """A difference from the point before. Means are not comparable across versions of a scorer or
    dataset; a changed threshold moves the pass rate alone. That outputs were scored again over a
    later version of the dataset is told where it begins, and parts nothing by itself.
    """

    kind: BreakKind
    text: str

    @property
    def parts(self) -> bool:
        return self.kind in {"scorer", "dataset"}


class Versions(NamedTuple):
    """What a run was measured with: ids, and version numbers."""

    version: int
    number: int
    scorer: int
    dataset_version: int
    dataset_number: int | None
    threshold: float


def read_versions(scorer: RunScorer) -> Versions:
    """Of a scorer of `runs_in_time`."""
    version, dataset = scorer.version, scorer.run.output_set.version
    ids = version.pk, version.number, version.scorer_id, dataset.pk, dataset.number
    return Versions(*ids, scorer.threshold)


def find_breaks(before: Versions, after: Versions) -> list[Break]:
    """The differences of the later run's scorer and dataset; empty for equal versions."""
    if before == after:  # as nearly all are
        return []
    breaks = []
    if before.version != after.version:
        is_same = before.scorer == after.scorer
        text = f"scorer version {before.number} → {after.number}" if is_same else "another scorer"
        breaks.append(Break("scorer", text))
    if before.dataset_version != after.dataset_version:
        text = f"dataset version {before.dataset_number} → {after.dataset_number}"
        breaks.append(Break("dataset", text))
    if before.threshold != after.threshold:
        breaks.append(Break("threshold", f"threshold {before.threshold:g} → {after.threshold:g}"))
    return breaks


def find_rescoring(first: Versions, now: Versions) -> list[Break]:
    """That a run stands for one over an older version of the dataset; empty for equal ones."""
    if first.dataset_version == now.dataset_version:
        return []
    text = f"scored again: dataset version {first.dataset_number} → {now.dataset_number}"
    return [Break("rescoring", text)]
