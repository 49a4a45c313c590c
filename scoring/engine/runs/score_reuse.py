"""Scores copied from another run of the same outputs instead of computed again."""

from __future__ import annotations

from collections.abc import Iterable

from scoring.core.configured import apply_threshold
from scoring.core.contract import EMPTY, Result
from scoring.engine.runs import requirements
from scoring.models import Run, RunScorer, RunState, Score, Shard, Status, Verdict
from scoring.models.runs.result_rows import ScoreRow


def reusable_scorers(run: Run, scorers: Iterable[RunScorer]) -> dict[int, RunScorer]:
    """By the id of a scorer of the run, the equal scorer of a finished run of the same outputs.

    Scorers that call services have none: the endpoint behind a connection's name may have changed,
    and only the caches of replies and vectors know what decided their scores.
    """
    fingerprints = {
        scorer.pk: scorer.version.fingerprint
        for scorer in scorers
        if not requirements.calls_models(scorer.version)
    }
    equal = RunScorer.objects.filter(
        run__output_set=run.output_set_id,
        run__state=RunState.FINISHED,
        version__fingerprint__in=fingerprints.values(),
    )
    others = equal.exclude(run=run).select_related("version").order_by("pk")
    by_fingerprint = {donor.version.fingerprint: donor for donor in others}
    return {
        pk: by_fingerprint[fingerprint]
        for pk, fingerprint in fingerprints.items()
        if fingerprint in by_fingerprint
    }


def copy_scores(donor: RunScorer | None, scorer: RunScorer, shard: Shard) -> dict[int, ScoreRow]:
    """The donor's rows for the shard's outputs, as rows of `scorer`, by output id.

    Errors are left out, to be tried again. Verdicts are those of the new threshold.
    """
    if donor is None:
        return {}
    scores = Score.objects.filter(
        scorer=donor, output__gte=shard.first_output, output__lte=shard.last_output
    ).exclude(status=Status.ERROR)
    columns = ("output", "status", "score", "verdict", "code", "reason", "metadata_json")
    rows = ((scorer.pk, *row) for row in scores.values_list(*columns))
    if donor.threshold == scorer.threshold:
        return {row[1]: row for row in rows}
    return {row[1]: _judge_anew(row, scorer.threshold) for row in rows}


def _judge_anew(row: ScoreRow, threshold: float) -> ScoreRow:
    scorer, output, status, score, _, code, reason, metadata = row
    if status != Status.SCORED or code:  # a code: failed whatever the threshold
        return row
    judged = apply_threshold(Result("scored", score, None, reason, EMPTY), threshold)
    verdict = Verdict.PASS if judged.verdict == "pass" else Verdict.FAIL
    return scorer, output, status, score, verdict.value, code, judged.reason, metadata
