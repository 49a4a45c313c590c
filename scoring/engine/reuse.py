"""Scores that another run of the same outputs already has, so that nobody computes them again."""

from __future__ import annotations

from collections.abc import Iterable

from scoring.core.bound import judge
from scoring.core.contract import EMPTY, Result
from scoring.engine import needs
from scoring.engine.rows import ScoreRow
from scoring.models import Run, RunScorer, RunState, Score, Shard, Status, Verdict


def donors(run: Run, scorers: Iterable[RunScorer]) -> dict[int, RunScorer]:
    """For the run's scorers (by id) one of a finished run of the same outputs that scores alike.

    None for those that ask services: the endpoint behind a connection's name may have changed, and
    only the caches of replies and vectors know what decided theirs.
    """
    scorers = [scorer for scorer in scorers if not needs.asks(scorer.version)]
    earlier = RunScorer.objects.filter(
        run__output_set=run.output_set_id,
        run__state=RunState.FINISHED,
        version__fingerprint__in=[scorer.version.fingerprint for scorer in scorers],
    )
    others = earlier.exclude(run=run).select_related("version").order_by("pk")
    by_fingerprint = {donor.version.fingerprint: donor for donor in others}
    return {
        scorer.pk: by_fingerprint[scorer.version.fingerprint]
        for scorer in scorers
        if scorer.version.fingerprint in by_fingerprint
    }


def copied(donor: RunScorer | None, scorer: RunScorer, shard: Shard) -> dict[int, ScoreRow]:
    """The donor's rows for the shard's outputs, as rows of `scorer`, by output id.

    Errors are left out: they are worth another try. The verdict is that of the new threshold.
    """
    if donor is None:
        return {}
    found = Score.objects.filter(
        scorer=donor, output__gte=shard.first_output, output__lte=shard.last_output
    ).exclude(status=Status.ERROR)
    columns = ("output", "status", "score", "verdict", "code", "reason", "metadata_json")
    rows = ((scorer.pk, *row) for row in found.values_list(*columns))
    if donor.threshold == scorer.threshold:
        return {row[1]: row for row in rows}
    return {row[1]: _judged_anew(row, scorer.threshold) for row in rows}


def _judged_anew(row: ScoreRow, threshold: float) -> ScoreRow:
    scorer, output, status, score, _, code, reason, metadata = row
    if status != Status.SCORED or code:  # a code: failed whatever the threshold
        return row
    judged = judge(Result("scored", score, None, reason, EMPTY), threshold)
    verdict = Verdict.PASS if judged.verdict == "pass" else Verdict.FAIL
    return scorer, output, status, score, verdict.value, code, judged.reason, metadata
