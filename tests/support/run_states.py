"""Brings runs to where a test wants them, without a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.summaries import summarize_run
from scoring.models import OutputSet, Run, RunState, Scorer, Team, User

Definition = tuple[str, str, dict[str, Any]]  # name, type, config

CLOSE: Definition = ("close", "levenshtein", {})
EXACT: Definition = ("exact", "exact_match", {})


def queued_run(
    outputs: OutputSet, *definitions: Definition, name: str = "w46", by: User | None = None
) -> Run:
    """A run that nobody has begun, with the scorers of these definitions."""
    team = outputs.version.dataset.team
    scorers = [_scorer(team, *definition) for definition in definitions or (CLOSE,)]
    pairs: Sequence[tuple[Scorer, float]] = [(scorer, scorer.threshold) for scorer in scorers]
    return planning.create_run(outputs, scorers=pairs, name=name, by=by)


def finished_run(outputs: OutputSet, *definitions: Definition, name: str = "w46") -> Run:
    """A run that is scored and summed up."""
    run = queued_run(outputs, *definitions, name=name)
    for shard in planning.plan_attempt(run).shards.all():
        execute_shard(shard.pk)
    summarize_run(run)
    planning.change_state(run, (RunState.RUNNING,), RunState.FINISHED)
    return run


def _scorer(team: Team, name: str, kind: str, config: dict[str, Any]) -> Scorer:
    known = Scorer.objects.filter(team=team, name=name).first()
    return known or Scorer.objects.define(team, name, kind, config)
