"""Finished runs in time, made of their rows, with the means and verdicts a test wants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

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

FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
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
    **scorer_fields: Any,
) -> Run:
    """A run whose outputs are of that week. A letter is a case's verdict (p, f, e, s; - without an
    output), a text its output; the mean is that of each scorer.
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
        **scorer_fields,
    )  # fmt: skip


def run_again(
    outputs: OutputSet,
    mean: float | None,
    letters: str = "",
    *,
    texts: Sequence[str] = (),
    scorers: Sequence[Scorer] = (),
    name: str = "again",
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
    _scores(run)
    return run


def _summary(scorer: RunScorer, mean: float | None, n: int) -> None:
    scored = 0 if mean is None else n
    RunSummary.objects.create(
        scorer=scorer, n=n, scored=scored, errors=n - scored, skipped=0,
        passed=round(scored * (mean or 0)), mean=mean, variance=None if mean is None else 0.01,
    )  # fmt: skip


def _scores(run: Run) -> None:
    """Each scorer says of a case what its verdict is."""
    Score.objects.bulk_create(
        Score(scorer=scorer, output_id=case.output_id, **SAID[Verdict(case.verdict)])
        for scorer in run.scorers.all()
        for case in run.verdicts.all()
    )


def _cases(run: Run, letters: str, texts: Sequence[str]) -> None:
    cases = list(run.output_set.version.cases.order_by("position"))
    known = {output.case_id: output for output in run.output_set.outputs.all()}
    for number, (case, letter) in enumerate(zip(cases, letters, strict=False)):
        if letter == "-":
            continue
        text = texts[number] if number < len(texts) else f"answer {number}"
        output = known.get(case.pk) or Output.objects.create(
            output_set=run.output_set, case=case, text=text
        )
        CaseVerdict.objects.create(
            run=run, output=output, position=case.position, verdict=LETTERS[letter]
        )
