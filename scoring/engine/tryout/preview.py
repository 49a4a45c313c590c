"""Previews a scorer's config on some cases of a past run, before it is saved.

Scorers that compute run in the helper process of `tryout`; those that ask a model or need vectors
run in a job of the worker. Nothing of it is stored with the run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce, Left, Length

from scoring.core.configured import configure_scorer, resolve_defaults
from scoring.core.contract import ConfigError, Json, Result, ServiceError
from scoring.core.services import use_services
from scoring.engine.estimates import scoring_estimate
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.job_queue import JobError
from scoring.engine.runs.execution import cases_of_outputs
from scoring.engine.tryout import tryout
from scoring.models import (
    AuditEntry,
    CallPurpose,
    Connection,
    Job,
    JobKind,
    Output,
    Run,
    RunScorer,
    Score,
    Scorer,
    Status,
    Team,
    User,
)
from scoring.models.case_paging import OPENING_LENGTH

SAMPLE_SIZE: Final = 50
MAX_NEAR_THRESHOLD: Final = 25  # of them at most are chosen for lying near the threshold
MAX_CHARS: Final = 200_000  # of one case's texts together
MAX_IDS: Final = 2_000  # outputs whose ids are simply all read


class Config(NamedTuple):
    """A scorer that need not be saved."""

    type: str
    config: Mapping[str, Json]
    threshold: float


class PreviewScore(NamedTuple):
    """What a preview shows of an output besides its scores."""

    position: int
    trial: int
    key: str
    opening: str


_SHOWN: Final = ("case__position", "trial", "case__key", "opening")


class Sample(NamedTuple):
    """Output ids in the dataset's order; `near` of them lie nearest to the threshold.

    `left_out` were chosen and are too long to be scored while somebody waits. `scores` is None
    where it has yet to be read.
    """

    outputs: Sequence[int]
    near: int = 0
    left_out: int = 0
    scores: Mapping[int, PreviewScore] | None = None


class Row(NamedTuple):
    """One case, before and after; `before` is None where there is nothing to compare with."""

    position: int
    trial: int
    key: str
    output: str  # its opening
    before: Result | None
    after: Result

    @property
    def is_flipped(self) -> bool:
        return self.before is not None and _word(self.before) != _word(self.after)

    @property
    def is_changed(self) -> bool:
        return self.before is not None and self.before.score != self.after.score

    @property
    def words(self) -> tuple[str, str]:
        """The verdicts, or the statuses where there is none."""
        return _word(self.before) if self.before else "", _word(self.after)


def _word(result: Result) -> str:
    return result.verdict or result.status


def find_scorer(run: Run, scorer: Scorer | None) -> RunScorer | None:
    """The run's scorer of any version of this one, the newest first."""
    if scorer is None:
        return None
    versions = run.scorers.filter(version__scorer=scorer).select_related("version")
    return versions.order_by("-version__number").first()


def sample_outputs(run: Run, held: RunScorer | None) -> Sample:
    """Up to SAMPLE_SIZE cases of the run, always the same: some near the threshold, others at
    random.
    """
    near = _nearest(held) if held else []
    chosen = list(dict.fromkeys([*near, *_draw_outputs(run, SAMPLE_SIZE + MAX_NEAR_THRESHOLD)]))[
        :SAMPLE_SIZE
    ]
    rows = _read_outputs(chosen)
    short = {output: shown for output, (chars, shown) in rows.items() if chars <= MAX_CHARS}
    return Sample(list(short), len(short.keys() & set(near)), len(rows) - len(short), short)


def _nearest(held: RunScorer) -> list[int]:
    """Outputs whose scores are next to the threshold, as many from either side as there are."""
    scores = Score.objects.filter(scorer=held, status=Status.SCORED, code="")
    above = scores.filter(score__gte=held.threshold).order_by("score", "output")
    below = scores.filter(score__lt=held.threshold).order_by("-score", "output")
    left, right = (
        list(side.values_list("output", flat=True)[:MAX_NEAR_THRESHOLD]) for side in (above, below)
    )
    half = MAX_NEAR_THRESHOLD // 2
    return [
        *left[: MAX_NEAR_THRESHOLD - min(half, len(right))],
        *right[: max(half, MAX_NEAR_THRESHOLD - len(left))],
    ]


def _draw_outputs(run: Run, count: int) -> list[int]:
    """Outputs of the run that hold a text, in a random order that stays the same."""
    outputs = Output.objects.filter(output_set=run.output_set_id).exclude(text=None)
    generator = random.Random(run.pk)  # noqa: S311  a sample, not a secret
    limit: int | None = MAX_IDS
    if run.output_set.output_count > MAX_IDS:
        version = run.output_set.version
        positions = range(1, version.case_count + 1)
        drawn = generator.sample(positions, min(2 * count, version.case_count))
        # Not joined, lest a database joins the whole set to its cases first.
        cases = version.cases.filter(position__in=drawn).order_by().values("pk")
        outputs, limit = outputs.filter(case__in=cases), None
    ids = list(outputs.order_by("pk").values_list("pk", flat=True)[:limit])
    return generator.sample(ids, min(count, len(ids)))


def _read_outputs(ids: Sequence[int]) -> dict[int, tuple[int, PreviewScore]]:
    """The length of each output with its case, and what is shown of it, in the dataset's order."""
    chars: Any = Coalesce(Length("text"), 0)
    for name in ("input", "expected", "references", "metadata"):
        chars += Coalesce(Length(f"case__{name}_json"), 0)
    outputs = Output.objects.filter(pk__in=ids).order_by("case__position", "trial")
    outputs = outputs.annotate(chars=chars, opening=Left("text", OPENING_LENGTH))
    rows = outputs.values_list("pk", "chars", *_SHOWN)
    return {pk: (length, PreviewScore(*shown)) for pk, length, *shown in rows}


def score_cases(wanted: Config, outputs: Sequence[int], by: User) -> list[Result]:
    """Scored by the helper process. Raises ConfigError, ServiceError, BusyError."""
    return tryout.score(
        wanted.type, wanted.config, wanted.threshold, cases_of_outputs(outputs), by.pk
    )


def read_results(held: RunScorer, outputs: Sequence[int]) -> list[Result | None]:
    """The run's own results, None where it has none."""
    results = {row.output_id: row.result for row in held.scores.filter(output__in=outputs)}
    return [results.get(output) for output in outputs]


def make_rows(
    sample: Sample,
    before: Sequence[Result | None],
    after: Sequence[Result],
    hidden: frozenset[int] = frozenset(),
) -> list[Row]:
    """Those that flip first, then those whose score changes, each in the dataset's order.

    Of `hidden` outputs there is no row.
    """
    shown = sample.scores
    if shown is None:
        shown = {output: score for output, (_, score) in _read_outputs(sample.outputs).items()}
    unsorted = [
        Row(*shown[output], old, new)
        for output, old, new in zip(sample.outputs, before, after, strict=True)
        if output in shown and output not in hidden
    ]
    return sorted(unsorted, key=lambda row: (not row.is_flipped, not row.is_changed))


def estimate_preview(
    team: Team, wanted: Config, outputs: Sequence[int]
) -> scoring_estimate.CostEstimate:
    """What the judges inside will ask and cost. Raises ConfigError."""
    ready = resolve_defaults(configure_scorer(*wanted), Connection.objects.available_to(team))
    judges = scoring_estimate.judges_in(ready)
    if not judges:
        return scoring_estimate.CostEstimate()
    return scoring_estimate.estimate_calls(
        team, scoring_estimate.expected_questions(judges, cases_of_outputs(outputs))
    )


def enqueue_preview(
    wanted: Config, run: Run, held: RunScorer | None, sample: Sample, by: User
) -> Job:
    """Enqueue a job; it may cost money, so the audit log names who wanted it."""
    request = wanted._asdict() | {
        "run": str(run.uuid),
        "held": held.pk if held else None,
        "outputs": list(sample.outputs),
        "near": sample.near,
        "left_out": sample.left_out,
    }
    with transaction.atomic():
        new = {"type": wanted.type, "config": wanted.config, "cases": len(sample.outputs)}
        stored = job_queue.without_nul(new)
        AuditEntry.objects.record(run.team, by, "scorer.previewed", run, new=stored)
        return job_queue.enqueue_once(JobKind.PREVIEW_SCORER, run.team, by, request)


def run_preview(job: Job) -> dict[str, Any]:
    """From {type, config, threshold, run, outputs} to {results}, each as a Result without metadata
    but its code. Until then its answer is its progress, the fields of `JobProgress`.
    """
    from scoring.engine.estimates.call_progress import ReportingServices, expected_calls
    from scoring.engine.services.team_services import TeamServices

    request = job.request
    if len(job_outputs(job)) < len(request["outputs"]):
        raise JobError("the run is no longer there")
    try:
        ready = configure_scorer(request["type"], request["config"], request["threshold"])
        ready = resolve_defaults(ready, Connection.objects.available_to(job.team))
        cases = cases_of_outputs(request["outputs"])
        services = TeamServices(job.team, purpose=CallPurpose.TRY)
        with use_services(ReportingServices(job, services, expected_calls(job.team, ready, cases))):
            results = ready.score(cases)
    except ConfigError as fault:
        raise JobError(str(fault)) from None
    except ServiceError as fault:
        raise JobError(fault.text) from None
    return {"results": [[*result[:4], result.code] for result in results]}


def job_outputs(job: Job) -> set[int]:
    """The job's outputs that are still there, in a run of its own team."""
    run = UUID(job.request["run"])
    outputs = Output.objects.filter(output_set__runs__uuid=run, output_set__runs__team=job.team)
    return set(outputs.filter(pk__in=job.request["outputs"]).values_list("pk", flat=True))


def job_results(job: Job) -> list[Result]:
    """The results of a job that is done, in the order of its outputs."""
    return [
        Result(status, score, verdict, reason, {"code": code} if code else {})
        for status, score, verdict, reason, code in job.answer["results"]
    ]
