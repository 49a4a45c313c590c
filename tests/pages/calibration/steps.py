"""A judged run to look at: what a judge said of some outputs, put in place without asking one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils import timezone

from scoring.engine.jobs import lease
from scoring.engine.runs import planning
from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    Connection,
    Output,
    OutputSet,
    Run,
    RunScorer,
    RunState,
    Score,
    Shard,
    Status,
    Team,
    Worker,
)
from tests.support.run_states import queued_run

AB = {"a": 1.0, "b": 0.0}
JUDGE = {"model": "stub-1", "rubric": "Which is better?", "choices": AB, "connection": "own"}


def connected(team: Team, url: str = "https://api.example.org/v1", **price: float) -> Connection:
    offered = [{"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0, **price}]
    return Connection.objects.define(team, "own", url, offered=offered, by=None)


def judged_run(
    outputs: OutputSet, said: Sequence[str | None], name: str = "w46", **config: Any
) -> Run:
    """A finished run whose only scorer, `judge`, said this of the outputs in turn; None failed."""
    run = queued_run(outputs, ("judge", "llm_judge", JUDGE | config), name=name)
    planning.plan_attempt(run)
    Shard.objects.filter(attempt__run=run).update(done_at=timezone.now())
    scores = (JUDGE | config)["choices"]
    ids = Output.objects.filter(output_set=outputs).order_by("pk").values_list("pk", flat=True)
    Score.objects.bulk_create(
        Score(scorer=judge_of(run), output_id=output, **_row(each, scores))
        for output, each in zip(ids, said, strict=True)
    )
    summarize_run(run)
    planning.change_state(run, (RunState.RUNNING,), RunState.FINISHED)
    return run


def judge_of(run: Run) -> RunScorer:
    return RunScorer.objects.select_related("run__team", "version").get(run=run)


def at(run: Run, query: str = "", place: int = 0) -> str:
    return reverse("run_scorer_calibration", args=[run.uuid, place]) + query


def worker() -> None:
    """One that was seen just now."""
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), started_at=now, seen_at=now)


def _row(said: str | None, scores: dict[str, float]) -> dict[str, Any]:
    if said is None:
        return {"status": Status.ERROR, "code": "reply_empty"}
    row = {"status": Status.SCORED, "score": scores[said], "verdict": int(scores[said] < 0.5)}
    return row | {"metadata_json": json.dumps({"choice": said})}
