"""*Try it*: a scorer, saved or not, on one case, with the arithmetic behind its score.

The page scores at once what only computes. The worker scores what calls a model or needs vectors,
and the page polls for the result.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.http import Http404, HttpResponse

from evalsite.access import job_for
from evalsite.pages.scorers.forms import ScorerForm
from evalsite.pages.scorers.tryout_form import (
    OwnCases,
    Prefill,
    TryoutForm,
    compares_texts,
    example_case,
    prefill_from,
    splits_lists,
)
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.job_status import JobStatus, open_job_status
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.config import config_fields
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, Json, Result, ServiceError
from scoring.core.explain.explanation import Explanation, explain
from scoring.core.registry import SERVICE_FAMILIES, ScorerType
from scoring.engine.jobs import job_queue
from scoring.engine.runs.progress import find_worker_problem
from scoring.engine.tryout import tryout
from scoring.engine.tryout.model_tryout import case_from_json
from scoring.models import Job, JobKind, Role, User, WorkQueue

#: Values of the parameter `try`: the fields changed, the button was pressed, a case was chosen.
TYPED, NOW, CASE = "typed", "now", "case"
BELOW_THRESHOLD: Final = " is below the threshold "  # the reason of a plain fail
MAX_OPEN_TRYOUTS: Final = 3  # a person's tries that wait for the worker
ASK: Final = "This scorer asks a model or needs vectors. It is scored when you press Try it."
TOO_MANY: Final = f"{MAX_OPEN_TRYOUTS} of your tries are still under way. Wait until one has ended."


@dataclass(frozen=True)
class TryoutScore:
    """A result with its scorer and case."""

    type: str
    config: Mapping[str, Json]
    threshold: float
    case: Case
    result: Result

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.type, self.config, self.threshold, self.case, self.result)

    @property
    def reason(self) -> str:
        """The result's reason, where it says more than the explanation."""
        reason, why = self.result.reason, self.explanation
        is_detailed = bool(why.similarities or (why.judgement and why.judgement.value))
        return "" if is_detailed or reason in why.found or BELOW_THRESHOLD in reason else reason


@dataclass(frozen=True)
class Tryout:
    """The result of a try: a score, or why there is none.

    `problems` are pairs of a field's label and its error; `notice` is one sentence.
    """

    scored: TryoutScore | None = None
    problems: tuple[tuple[str, str], ...] = ()
    notice: str = ""
    job: Job | None = None

    @cached_property
    def job_status(self) -> JobStatus | None:
        """The progress of the try; None unless its job is open."""
        return open_job_status(self.job)

    @cached_property
    def warnings(self) -> list[str]:
        """What the config that scored allows but probably does not mean."""
        scored = self.scored
        return configure_scorer(scored.type, scored.config).warnings if scored else []

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of models, as the job recorded them."""
        return list(self.job.answer.get("calls", ())) if self.job else []


class TryoutPanel:
    """The panel next to a scorer's form: the fields of a case, and the last tryout."""

    def __init__(self, request: SignedInRequest, form: ScorerForm) -> None:
        self._user, self._posted, self._form = request.user, request.POST, form
        self._own = OwnCases(form.team, form.scorer)

    @property
    def is_wanted(self) -> bool:
        """Whether the request is a tryout rather than a save."""
        return self._posted.get("try") in {TYPED, NOW, CASE}

    @property
    def choices(self) -> Any:
        return self._own.choices()

    @property
    def chosen(self) -> str:
        """The case that the fields were filled with."""
        return str(self._posted.get("try-from", "" if self._posted else self._own.first))

    @cached_property
    def fields(self) -> TryoutForm:
        """The case as typed, else one of the team's, else the type's example."""
        if self._posted and self._picked is None:
            return TryoutForm(self._posted)
        return TryoutForm(initial=self._prefill.values)

    @property
    def is_cut(self) -> bool:
        return self._picked is not None and self._prefill.is_cut

    @property
    def wants_references(self) -> bool:
        """Whether to show the references at once: the type reads them, or the case has some."""
        names = {spec.name for spec in config_fields(self._form.kind.config)}
        has_some = bool(self.fields["references"].value())
        return has_some or not names.isdisjoint({"references", "use_references"})

    @cached_property
    def tried(self) -> Tryout | None:
        """None if the request asks for no tryout."""
        return self._run_tryout() if self.is_wanted else None

    @property
    def is_ready(self) -> bool:
        """Whether to score before anything is typed."""
        form = self._form
        is_open = form.scorer is None and any(
            spec.required for spec in config_fields(form.kind.config)
        )
        return not is_open and form.kind.family not in SERVICE_FAMILIES

    @property
    def status(self) -> int:
        return 422 if self.tried and self.tried.problems else 200

    @cached_property
    def _picked(self) -> Case | None:
        """The team's case to fill the fields with; None where they hold what was typed."""
        is_picked = not self._posted or self._posted.get("try") == CASE
        return self._own.find(self.chosen) if is_picked else None

    @cached_property
    def _prefill(self) -> Prefill:
        kind = self._form.kind
        return prefill_from(self._picked or example_case(kind), kind)

    def _run_tryout(self) -> Tryout:
        self._form.forgo_name()
        if problems := self._problems():
            return Tryout(problems=problems)
        is_pressed = self._posted["try"] == NOW
        try:
            return _try_scorer(self._form, self._typed, self._user, is_pressed=is_pressed)
        except ConfigError as error:
            self._form.show_errors(error)
            return Tryout(problems=self._problems())
        except ServiceError as error:
            return Tryout(notice=f"No score: {error.text}.")

    @cached_property
    def _typed(self) -> TryoutForm:
        """The fields as sent; those of a case that was picked, as if they had been sent."""
        if self._picked is None:
            return self.fields
        blank = TryoutForm(initial=self._prefill.values)
        return TryoutForm({field.html_name: field.value() or "" for field in blank})

    def _problems(self) -> tuple[tuple[str, str], ...]:
        """The errors in the fields of the scorer and of the case."""
        self._form.is_valid()
        case = self._typed
        own = [(problem.label, problem.text) for problem in self._form.problems()]
        for name, texts in case.errors.items():
            own += [(str(case[name].label), str(text)) for text in texts]
        return tuple(own)


def _try_scorer(form: ScorerForm, typed: TryoutForm, by: User, *, is_pressed: bool) -> Tryout:
    """Score the case, or let the worker do so. Raises ConfigError, ServiceError."""
    kind, config, threshold = form.kind, form.config(), form.effective_threshold()
    needs_worker = _needs_worker(kind, config)
    case = typed.case(
        is_text=compares_texts(kind.name, config), has_lists=splits_lists(kind.name, config)
    )
    if not needs_worker:
        (result,) = tryout.score(kind.name, config, threshold, [case], by.pk)
        return Tryout(TryoutScore(kind.name, config, threshold, case, result))
    fields = ("output", "expected", "input", "references", "metadata")
    sent: dict[str, Json] = {name: getattr(case, name) for name in fields}
    sent |= {"references": list(case.references), "metadata": dict(case.metadata)}
    request = {"type": kind.name, "config": config, "threshold": threshold, "case": sent}
    if not is_pressed:  # what was typed right before the button was pressed may be sent after it
        same = job_queue.latest_job(JobKind.TRY_SCORER, form.team, by, request)
        return load_tryout(same) if same else Tryout(notice=ASK)
    if problem := find_worker_problem(WorkQueue.JOBS):
        return Tryout(notice=f"Not scored, for there is {problem}.")
    open_jobs = Job.objects.unfinished().filter(requested_by=by, kind=JobKind.TRY_SCORER)
    if open_jobs.count() >= MAX_OPEN_TRYOUTS:
        return Tryout(notice=TOO_MANY)
    return Tryout(job=job_queue.enqueue_once(JobKind.TRY_SCORER, form.team, by, request))


def _needs_worker(kind: ScorerType, config: Mapping[str, Json]) -> bool:
    if kind.family != "combinator":
        return kind.family in SERVICE_FAMILIES
    return configure_scorer(kind.name, config).needs_services


@get_page
def tryout_result(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The result of a tryout, or its progress."""
    job = job_for(request.user, uid, Role.EDITOR)
    if job.kind != JobKind.TRY_SCORER:
        raise Http404
    context = {"team": job.team, "tried": load_tryout(job)}
    return render_page(request, "scorers/tried.html", context, parts=["tried"])


def load_tryout(job: Job) -> Tryout:
    """The tryout of a job in any state."""
    if job.is_open:
        return Tryout(job=job)
    if job.problem:
        errors = job.answer.get("errors", {}).items()
        problems = tuple((name, text) for name, texts in errors for text in texts)
        notice = "" if problems else f"No score: {job.problem}."
        return Tryout(problems=problems, notice=notice, job=job)
    request, values = job.request, job.answer["result"]
    result = Result(*(values[name] for name in Result._fields))
    case = case_from_json(request["case"])
    scored = TryoutScore(request["type"], request["config"], request["threshold"], case, result)
    return Tryout(scored, job=job)
