"""A/A checks: a judge scores unchanged outputs again, which measures its noise.

Both scores are of the same output, so all that differs between them is the judge. The second ones
come from new replies of the model, never stored ones; the run's own scores do not change.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from scoring.core.contract import Result, ServiceError
from scoring.core.services import Answer, Provider, Question, Services, Vectors, use_services
from scoring.core.stats.descriptive import t_quantile
from scoring.engine.estimates.call_progress import ReportingServices, expected_call
from scoring.engine.estimates.scoring_estimate import CostEstimate, QuestionRecorder, estimate_calls
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.runs.execution import cases_of_outputs, configured_scorer
from scoring.engine.services.team_services import TeamServices
from scoring.models import (
    CallPurpose,
    Job,
    JobKind,
    JudgeVariance,
    OutputSetState,
    RunScorer,
    Score,
    User,
    Verdict,
)
from scoring.models.runs.judge_models import collect_models

SAMPLE: Final = 50
MIN_SAMPLE: Final = 2  # one difference has no deviation
MAX_SAMPLE: Final = 500


class TooFewOutputsError(Exception):
    """Fewer than MIN_SAMPLE outputs were scored both times; the text says why."""


@dataclass(frozen=True)
class FreshReplies:
    """Services that answer every question of one check with a new reply.

    A check that was interrupted goes on with the replies it has paid for.
    """

    services: Services
    check: str

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return self.services.ask([replace(question, scope=self.check) for question in questions])

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        return self.services.embed(texts, provider=provider, model=model, connection=connection)


class Pair(NamedTuple):
    """The first and the second score of one output."""

    first: float
    second: float
    is_flipped: bool  # the verdict is another one


def measure_variance(
    scorer: RunScorer, services: Services, *, sample: int = SAMPLE, by: User | None = None
) -> JudgeVariance:
    """Score a seeded sample of the run's scored outputs again and store the differences.

    Each check of a judge takes another sample. Raises TooFewOutputsError when too few of the
    outputs have two scores, and ServiceError; then nothing is stored but the paid replies.
    """
    if scorer.run.output_set.state == OutputSetState.EMPTIED:
        raise TooFewOutputsError("The texts of this run's outputs were removed.")
    check = _next_check(scorer)
    first = _sample_scores(scorer, sample, check)
    with use_services(FreshReplies(services, check)):
        second = configured_scorer(scorer).score(cases_of_outputs(list(first)))
    pairs = _pairs(first, second)
    if len(pairs) < MIN_SAMPLE:
        raise TooFewOutputsError(_too_few(len(pairs), second))
    return JudgeVariance.objects.create(
        run=scorer.run,
        version=scorer.version,
        requested_by=by,
        errors=len(second) - len(pairs),
        model_names=collect_models(scorer),
        pairs=[[pair.first, pair.second] for pair in pairs],
        **variance_figures(pairs),
    )


def estimate_variance(scorer: RunScorer, sample: int = SAMPLE) -> CostEstimate:
    """What the next check of so many outputs asks and costs."""
    check, recorder = _next_check(scorer), QuestionRecorder()
    with use_services(FreshReplies(recorder, check)):
        configured_scorer(scorer).score(
            cases_of_outputs(list(_sample_scores(scorer, sample, check)))
        )
    return estimate_calls(scorer.run.team, recorder.questions)


def run_variance_check(job: Job) -> dict[str, Any]:
    """The job's function: from {run: uuid, place, sample} to {check: uuid}.

    Until then its answer is its progress, the fields of `JobProgress`.
    """
    sample = job.request["sample"]
    scorers = RunScorer.objects.filter(run__team=job.team, run__uuid=UUID(job.request["run"]))
    scorers = scorers.filter(position=job.request["place"])
    scorer = scorers.select_related("run__team", "version").first()
    if scorer is None:
        raise JobError("the run is no longer there")
    call = expected_call(estimate_variance(scorer, sample))
    services = ReportingServices(job, TeamServices(job.team, purpose=CallPurpose.TRY), [call])
    try:
        check = measure_variance(scorer, services, sample=sample, by=job.requested_by)
    except TooFewOutputsError as fault:
        raise JobError(str(fault)) from None
    except ServiceError as fault:
        raise JobError(fault.text) from None
    return {"check": str(check.uuid)}


def latest_job(scorer: RunScorer) -> Job | None:
    """The last check that was requested of this judge, while its job is kept."""
    jobs = Job.objects.filter(team=scorer.run.team_id, kind=JobKind.MEASURE_VARIANCE)
    jobs = jobs.filter(request__run=str(scorer.run.uuid), request__place=scorer.position)
    return jobs.order_by("pk").last()


def scored_count(scorer: RunScorer) -> int:
    """How many outputs of the run a check can choose from."""
    return _scored(scorer).count()


def variance_figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The fields of JudgeVariance that follow from at least two pairs."""
    differences = [pair.second - pair.first for pair in pairs]
    n = len(differences)
    deviation = stdev(differences)
    return {
        "n": n,
        "flips": sum(pair.is_flipped for pair in pairs),
        "mean_difference": fmean(differences),
        "deviation": deviation,
        "band": t_quantile(n - 1) * deviation / sqrt(n),
    }


def _next_check(scorer: RunScorer) -> str:
    """A name that no other check has: checks are deleted with their run alone."""
    earlier = JudgeVariance.objects.filter(run=scorer.run_id, version=scorer.version_id).count()
    return f"check {earlier + 1} of {scorer.run.uuid} by {scorer.version_id}"


def _scored(scorer: RunScorer) -> QuerySet[Score]:
    return Score.objects.filter(scorer=scorer, score__isnull=False, code="")


def _sample_scores(scorer: RunScorer, size: int, seed: str) -> dict[int, tuple[float, int]]:
    """Score and verdict by output id, in the order of the ids."""
    scored = _scored(scorer)
    ids = list(scored.order_by("output").values_list("output", flat=True))
    chosen = random.Random(seed).sample(ids, min(size, MAX_SAMPLE, len(ids)))  # noqa: S311
    rows = scored.filter(output__in=chosen).order_by("output")
    return {row.output_id: (row.score or 0.0, row.verdict or 0) for row in rows}


def _pairs(first: dict[int, tuple[float, int]], second: Sequence[Result]) -> list[Pair]:
    return [
        Pair(score, again.score, Verdict(verdict).label != again.verdict)
        for (score, verdict), again in zip(first.values(), second, strict=True)
        if again.score is not None
    ]


def _too_few(scored: int, second: Sequence[Result]) -> str:
    causes = Counter(result.code for result in second if result.score is None)
    listed = ", ".join(f"{code} {number}" for code, number in causes.most_common())
    text = f"{scored} of {len(second)} outputs could be scored again, and it takes {MIN_SAMPLE}"
    return f"{text}: {listed}" if listed else text
