"""A/A checks that nobody asks for: of judges that a run has asked and no check has measured.

Comparisons and gates use what they find. They are small, since their calls are paid: a sample of
EVALSITE_JUDGE_CHECK_SAMPLE outputs, once for each version of a judge and each model that answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings

from scoring.core.contract import ServiceError
from scoring.engine.jobs import job_queue
from scoring.engine.judges.variance import (
    MIN_SAMPLE,
    TooFewOutputsError,
    estimate_variance,
    measure_variance,
    scored_count,
)
from scoring.engine.runs.requirements import scorer_families
from scoring.engine.services.team_services import TeamServices
from scoring.models import CallPurpose, Job, JobKind, JudgeVariance, Run, RunScorer, RunState
from scoring.models.runs.judge_models import collect_models


def enqueue_checks(series: Sequence[Run]) -> None:
    """Enqueue the checks that the newest of these runs needs.

    They come before its comparison, which reads them: such jobs are done one after the other.
    """
    run = series[-1]
    for scorer in judges_to_check(run):
        request = {
            "run": str(run.uuid),
            "place": scorer.position,
            "sample": settings.EVALSITE_JUDGE_CHECK_SAMPLE,
        }
        job_queue.enqueue(JobKind.MEASURE_VARIANCE, run.team, request)


def check_now(run: Run) -> Iterator[str]:
    """Make the checks that the run needs, and yield why one could not be made."""
    services = TeamServices(run.team, purpose=CallPurpose.TRY)
    for scorer in judges_to_check(run):
        try:
            measure_variance(scorer, services, sample=settings.EVALSITE_JUDGE_CHECK_SAMPLE)
        except (TooFewOutputsError, ServiceError) as fault:
            yield f"the noise of {scorer.name} is not known: {fault}"


def judges_to_check(run: Run) -> list[RunScorer]:
    """The judges of a finished run that no check covers; none where the run made no call."""
    if not (settings.EVALSITE_JUDGE_CHECK_SAMPLE and run.judge_calls):
        return []
    if run.state != RunState.FINISHED:
        return []
    scorers = run.scorers.select_related("version", "run__team").order_by("position")
    judges = (
        each for each in scorers if "llm" in scorer_families(each.version.type, each.version.config)
    )
    return [judge for judge in judges if _is_unknown(judge) and _is_possible(judge)]


def _is_unknown(judge: RunScorer) -> bool:
    """Whether no check, made or under way, has met the version with the models that answer now."""
    check = JudgeVariance.objects.latest_for(judge.version)
    if check is not None:
        answering = collect_models(judge)
        return bool(answering) and check.model_names != answering
    jobs = Job.objects.unfinished().filter(team=judge.run.team, kind=JobKind.MEASURE_VARIANCE)
    runs = jobs.values_list("request__run", flat=True)
    checked = RunScorer.objects.filter(run__uuid__in=list(runs), version=judge.version)
    return not checked.exists()


def _is_possible(judge: RunScorer) -> bool:
    """Whether enough outputs have a score, and a run with a budget has left what a check costs."""
    if scored_count(judge) < MIN_SAMPLE:
        return False
    budget = judge.run.budget_usd
    if budget is None:
        return True
    cost = estimate_variance(judge, settings.EVALSITE_JUDGE_CHECK_SAMPLE).cost_usd
    run = judge.run
    spent = sum(filter(None, (run.cost_usd, run.judge_cost_usd, run.estimated_cost_usd)))
    return cost is not None and spent + cost <= budget
