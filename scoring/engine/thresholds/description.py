"""Thresholds, previews, changes and later labels as JSON, for commands and the API alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoring.core.stats.calibration import VerdictTable
from scoring.engine.calibration.report import describe_best_threshold, describe_estimate
from scoring.engine.thresholds.agreement import Agreement, read_agreement
from scoring.engine.thresholds.flips import FlippedCase
from scoring.engine.thresholds.preview import Preview, RunPreview
from scoring.models import Suite, ThresholdChange


def describe_thresholds(suite: Suite) -> dict[str, Any]:
    """Each scorer's threshold with its pass rates in the last runs, and all changes."""
    entries = suite.entries.select_related("scorer", "suite__team")
    changes = suite.threshold_changes.select_related("scorer", "changed_by")
    return {
        "suite": str(suite.uuid),
        "name": suite.name,
        "revision": suite.revision,
        "entries": [_describe_entry(Preview.of(entry, entry.threshold)) for entry in entries],
        "changes": [describe_change(change) for change in changes],
    }


def _describe_entry(preview: Preview) -> dict[str, Any]:
    scorer = preview.scorer
    return {
        "scorer": str(scorer.uuid),
        "name": scorer.name,
        "threshold": preview.old,
        "default": scorer.threshold,
        "runs": [run.as_json() for run in preview.runs],
    }


def describe_preview(preview: Preview, chosen: RunPreview | None) -> dict[str, Any]:
    """What the threshold would do to the last runs, and in words to the chosen one."""
    return {
        "suite": str(preview.suite.uuid) if preview.suite else None,
        "scorer": str(preview.scorer.uuid),
        "name": preview.scorer.name,
        "threshold": preview.old,
        "new_threshold": preview.new,
        "run": str(chosen.run.uuid) if chosen else None,
        "sentence": chosen.sentence if chosen else None,
        "case_verdicts": chosen.case_verdicts if chosen else None,
        "runs": [run.as_json() for run in preview.runs],
        "agreement": describe_agreement(read_agreement(preview), preview.old, preview.new),
    }


def describe_agreement(
    agreement: Agreement | None, old: float, new: float
) -> dict[str, Any] | None:
    """Against people at both thresholds, and where it is best; None without people's verdicts."""
    if agreement is None:
        return None
    best = agreement.best
    return {
        "labels": len(agreement.labels),
        "scorer_version": agreement.version,
        "runs": agreement.run_count,
        "current": _describe_table(agreement.table_at(old)),
        "new": _describe_table(agreement.table_at(new)),
        "best_threshold": best and describe_best_threshold(best),
    }


def _describe_table(table: VerdictTable) -> dict[str, Any]:
    rates = table.rates
    kappa = describe_estimate(table.kappa)
    return {"kappa": kappa, "precision": rates.precision, "recall": rates.recall}


def describe_flips(cases: Iterable[FlippedCase]) -> list[dict[str, Any]]:
    return [
        {"key": c.key, "trial": c.trial, "score": c.score, "changes_case": c.changes_case}
        for c in cases
    ]


def describe_change(change: ThresholdChange) -> dict[str, Any]:
    return {
        "scorer": str(change.scorer.uuid),
        "name": change.scorer.name,
        "old": change.old,
        "new": change.new,
        "reason": change.reason,
        "by": str(change.changed_by) if change.changed_by else None,
        "changed_at": change.changed_at,
        "revision": change.revision,
    }
