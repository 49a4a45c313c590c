"""Finished runs in time, made of their rows, with the means and verdicts a test wants."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from scoring.engine.drift import measure_series
from scoring.models import (
    CaseVerdict,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    RunSummary,
    Score,
    Scorer,
    Status,
    Verdict,
)

FIRST_DAY = datetime(2015, 1, 5, 9, tzinfo=UTC)
NEAR = 0.03  # scores lie that far from their mean at most
LETTERS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR, "s": Verdict.SKIPPED}
SAID: dict[Verdict, dict[str, Any]] = {
    Verdict.PASS: {"status": Status.SCORED, "score": 1.0, "verdict": Verdict.PASS},
    Verdict.FAIL: {"status": Status.SCORED, "score": 0.0, "verdict": Verdict.FAIL},
    Verdict.ERROR: {"status": Status.ERROR},
    Verdict.SKIPPED: {"status": Status.SKIPPED},
}


def scorer_of(version: DatasetVersion, name: str = "close") -> Scorer:
    team = version.dataset.team
    known = Scorer.objects.filter(team=team, name=name).first()
    return known or Scorer.objects.define(team, name, "levenshtein", {})


def run_in_week(
    version: DatasetVersion,
    week: int,
    mean: float | None = 0.8,
    letters: str = "",
    *,
    series: str = "a",
    texts: Sequence[str] = (),
    scorers: Sequence[Scorer] = (),
    name: str = "",
    is_near: bool = True,
    **scorer_fields: Any,
) -> Run:
    """A run whose outputs are of that week. A letter is a case's verdict (p, f, e, s; - without an
    output), a text its output; the mean is that of each scorer. Its scores lie close around the
    mean, case by case elsewhere each week; without letters all cases have one, and no text. Where
    it is not `is_near`, scores are 1 and 0 as letters say.
    """
    outputs = OutputSet.objects.create(
        version=version,
        series=series,
        dated=FIRST_DAY + timedelta(weeks=week),
        state=OutputSetState.READY,
        output_count=len(letters),
    )
    return run_again(
        outputs, mean, letters, texts=texts, scorers=scorers, name=name or f"w{week}",
        is_near=is_near, **scorer_fields,
    )  # fmt: skip


def run_again(
    outputs: OutputSet,
    mean: float | None,
    letters: str = "",
    *,
    texts: Sequence[str] = (),
    scorers: Sequence[Scorer] = (),
    name: str = "again",
    is_near: bool = True,
    **scorer_fields: Any,
) -> Run:
    """Another run over the outputs, which are made where they are missing."""
    counts = {f"{LETTERS[one].label}_count": letters.count(one) for one in LETTERS}
    run = Run.objects.create(
        team=outputs.version.dataset.team,
        output_set=outputs,
        name=name,
        state=RunState.FINISHED,
        finished_at=outputs.dated,
        **counts,
    )
    for scorer in scorers or [scorer_of(outputs.version)]:
        fields = {"threshold": 0.7, "version": scorer.current, "name": scorer.name}
        made = RunScorer.objects.create(run=run, **{**fields, **scorer_fields})
        _summary(made, mean, len(letters) or 100)
    _cases(run, letters, texts)
    if mean is not None and not letters and is_near:
        _outputs_without_text(run)
    _scores(run, mean if is_near else None)
    return run


def _summary(scorer: RunScorer, mean: float | None, n: int) -> None:
    scored = 0 if mean is None else n
    RunSummary.objects.create(
        scorer=scorer, n=n, scored=scored, errors=n - scored, skipped=0,
        passed=round(scored * (mean or 0)), mean=mean, variance=None if mean is None else 0.01,
    )  # fmt: skip


def _scores(run: Run, mean: float | None) -> None:
    """Each scorer says of a case what its verdict is."""
    verdicts = dict(run.verdicts.values_list("output_id", "verdict"))
    outputs = list(run.output_set.outputs.order_by("case__position").values_list("pk", flat=True))
    near = random.Random(run.name + run.output_set.series + str(run.output_set.dated))
    for scorer in run.scorers.all():
        shifts = [near.uniform(-1, 1) for _ in outputs]
        centre = sum(shifts) / max(1, len(shifts))
        rows = [SAID[Verdict(verdicts.get(output, Verdict.PASS))].copy() for output in outputs]
        for row, shift in zip(rows, shifts, strict=True):
            if mean is not None and "score" in row:
                reach = min(NEAR, mean / 2, (1 - mean) / 2)
                row["score"] = mean + reach * (shift - centre)
        Score.objects.bulk_create(
            Score(scorer=scorer, output_id=output, **row)
            for output, row in zip(outputs, rows, strict=True)
        )


def _outputs_without_text(run: Run) -> None:
    known = set(run.output_set.outputs.values_list("case_id", flat=True))
    Output.objects.bulk_create(
        Output(output_set=run.output_set, case=case, text=None)
        for case in run.output_set.version.cases.order_by("position")
        if case.pk not in known
    )


def _cases(run: Run, letters: str, texts: Sequence[str]) -> None:
    cases = list(run.output_set.version.cases.order_by("position"))
    known = {output.case_id: output for output in run.output_set.outputs.all()}
    judged = [(n, case) for n, case in enumerate(cases[: len(letters)]) if letters[n] != "-"]
    missing = [(n, case) for n, case in judged if case.pk not in known]
    for output in Output.objects.bulk_create(
        Output(
            output_set=run.output_set,
            case=case,
            text=texts[n] if n < len(texts) else f"answer {n}",
        )
        for n, case in missing
    ):
        known[output.case_id] = output
    CaseVerdict.objects.bulk_create(
        CaseVerdict(
            run=run, output=known[case.pk], position=case.position, verdict=LETTERS[letters[n]]
        )
        for n, case in judged
    )


def measured_weeks(version: DatasetVersion, count: int) -> Run:
    """The latest of so many weekly runs of two scorers and four cases, all of them measured."""
    scorers = [scorer_of(version, name) for name in ("close", "same")]
    means = (0.8, 0.82, 0.81)
    runs = [
        run_in_week(version, week, means[week % 3], "ppfp", scorers=scorers)
        for week in range(count)
    ]
    measure_series(version.dataset, "a")
    return runs[-1]
