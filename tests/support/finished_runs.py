"""Finished runs whose scores a test chooses itself, written row by row without scoring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal

from django.utils import timezone

from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    CaseVerdict,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    Score,
    Scorer,
    Status,
    Verdict,
)
from scoring.models.runs.relabel import combine_verdicts

Given = float | Literal["error", "skip"]
THRESHOLD = 0.5


def run_with(
    version: DatasetVersion,
    scores: Mapping[str, Sequence[Given]],
    *,
    name: str = "w46",
    series: str = "a",
    trials: int = 1,
    leaves_out: Iterable[int] = (),
    thresholds: Mapping[str, float] | None = None,
) -> Run:
    """A finished run; each scorer gives its scores in the order of cases, then of trials.

    `leaves_out` are places in that order without an output. A scorer of a name that is there
    already is used in its present version.
    """
    team = version.dataset.team
    outputs = OutputSet.objects.create(version=version, series=series, state=OutputSetState.READY)
    run = Run.objects.create(team=team, output_set=outputs, name=name, state=RunState.FINISHED)
    places = list(product(version.cases.all(), range(trials)))
    wanted = [place for n, place in enumerate(places) if n not in set(leaves_out)]
    made = Output.objects.bulk_create(
        Output(output_set=outputs, case=case, trial=trial, text=f"{case.key} {trial}")
        for case, trial in wanted
    )
    rows = [
        [_score(scorer, output, given) for output, given in zip(made, of_scorer, strict=True)]
        for scorer, of_scorer in _scorers(run, scores, thresholds or {})
    ]
    Score.objects.bulk_create(row for of_scorer in rows for row in of_scorer)
    CaseVerdict.objects.bulk_create(
        CaseVerdict(
            run=run,
            output=output,
            position=output.case.position,
            trial=output.trial,
            verdict=combine_verdicts((row[n].status, row[n].verdict) for row in rows),
        )
        for n, output in enumerate(made)
    )
    outputs.output_count = len(made)
    outputs.save()
    summarize_run(run)
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    run.refresh_from_db()
    return run


def _scorers(
    run: Run, scores: Mapping[str, Sequence[Given]], thresholds: Mapping[str, float]
) -> Iterable[tuple[RunScorer, Sequence[Given]]]:
    for position, (name, given) in enumerate(scores.items()):
        known = Scorer.objects.filter(team=run.team, name=name).first()
        scorer = known or Scorer.objects.define(run.team, name, "levenshtein", {})
        made = RunScorer.objects.create(
            run=run,
            version=scorer.current,
            name=name,
            threshold=thresholds.get(name, THRESHOLD),
            position=position,
        )
        yield made, given


def _score(scorer: RunScorer, output: Output, given: Given) -> Score:
    values: dict[str, Any] = {"status": Status.ERROR if given == "error" else Status.SKIPPED}
    if not isinstance(given, str):
        verdict = Verdict.PASS if given >= scorer.threshold else Verdict.FAIL
        values = {"status": Status.SCORED, "score": given, "verdict": verdict}
    return Score(scorer=scorer, output=output, **values)
