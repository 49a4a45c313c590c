"""A run that generates outputs: the form, a preview of prompts, and a trial call."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.urls import reverse

from evalsite import access
from evalsite.pages.runs.generation.forms import GenerationForm
from evalsite.pages.web.cost_estimates import TotalCostEstimate, combine_estimates
from evalsite.pages.web.decorators import form_page, get_page
from evalsite.pages.web.job_status import JobStatus, open_job_status
from evalsite.pages.web.responses import SignedInRequest, redirect_browser, render_page
from scoring.core.llm.prompt_template import PromptTemplate
from scoring.engine.estimates.generation_estimate import estimate_generation
from scoring.engine.jobs import job_queue
from scoring.engine.outputs import prompt_preview
from scoring.engine.outputs.prompt_preview import FilledPrompt, MissingValues
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import DatasetVersion, Job, JobKind, Role, User, WorkQueue
from scoring.models.scorers.connection import environment_endpoint

MAX_OPEN_TRYOUTS: Final = 3  # unfinished tries of one person
TOO_MANY: Final = f"{MAX_OPEN_TRYOUTS} of your tries are still under way. Wait until one has ended."


@dataclass(frozen=True)
class Preview:
    """The prompts and costs of the form as far as it is filled in."""

    form: GenerationForm
    version: DatasetVersion

    @cached_property
    def template(self) -> PromptTemplate | None:
        """None where its text cannot be used; the form says why."""
        text = self.form.cleaned_data.get("template")
        return PromptTemplate(text) if text else None

    @cached_property
    def prompts(self) -> list[FilledPrompt]:
        return prompt_preview.fill_prompts(self.version, self.template) if self.template else []

    @cached_property
    def lacking(self) -> MissingValues:
        if self.template is None:
            return MissingValues(0, ())
        return prompt_preview.find_missing_values(self.version, self.template)

    @property
    def shows_expected(self) -> bool:
        """Whether the prompt contains the expected value."""
        return self.template is not None and "expected" in self.template.fields

    @property
    def has_recipe(self) -> bool:
        """Whether the form says enough to call a model."""
        return self.template is not None and self.form.recipe() is not None

    @cached_property
    def cost_estimate(self) -> TotalCostEstimate | None:
        recipe = self.form.recipe()
        if recipe is None or self.template is None:
            return None
        estimate = estimate_generation(self.version, recipe, self.form.chosen_scorers())
        return combine_estimates(outputs=estimate.outputs, judges=estimate.judges)


@dataclass(frozen=True)
class PromptTryout:
    """The result of a prompt tryout, or why there is none."""

    job: Job | None = None
    notice: str = ""

    @cached_property
    def job_status(self) -> JobStatus | None:
        """None without an open job."""
        return open_job_status(self.job)

    @property
    def call(self) -> dict[str, Any] | None:
        """The request to the model and its reply, as the job stored them."""
        return self.job.answer.get("call") if self.job else None


@form_page
def generate_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose a model, a prompt and scorers; the worker makes the outputs and scores them."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    version = dataset.latest
    context: dict[str, Any] = {"team": dataset.team, "dataset": dataset}
    if version is None:
        return render_page(request, "runs/generation/generate.html", context)
    version.dataset = dataset
    form = GenerationForm(request.POST or None, dataset=dataset)
    is_preview = not {"preview", "try"}.isdisjoint(request.POST)
    if form.is_valid() and not is_preview:
        return redirect_browser(request, reverse("run", args=[form.save(request.user).uuid]))
    context |= {
        "form": form,
        "places": prompt_preview.find_placeholders(version),
        "may_call": bool(form.connections) or environment_endpoint() is not None,
        "may_administer": access.has_role(request.user, dataset.team, Role.ADMIN),
    }
    if is_preview:
        context["preview"] = Preview(form, version)
    if "try" in request.POST:
        context["answer"] = _try_prompt(context["preview"], request.POST["try"], request.user)
    status = 422 if form.errors and not is_preview else 200
    parts = ["preview", "answer"]
    return render_page(
        request, "runs/generation/generate.html", context, parts=parts, status=status
    )


@get_page
def prompt_tryout(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The answer to a prompt tryout, or its progress."""
    job = access.job_for(request.user, uid, Role.EDITOR)
    if job.kind != JobKind.TRY_PROMPT:
        raise Http404
    context = {"team": job.team, "answer": PromptTryout(job)}
    return render_page(request, "runs/generation/answer.html", context, parts=["answer"])


def _try_prompt(preview: Preview, position: str, by: User) -> PromptTryout:
    """Enqueue one of the previewed prompts."""
    recipe = preview.form.recipe()
    if recipe is None or preview.template is None:
        return PromptTryout(notice="Not tried: the model and the prompt come first.")
    prompt = next((prompt for prompt in preview.prompts if str(prompt.position) == position), None)
    if prompt is None or prompt.problem:
        return PromptTryout(notice=f"Not tried: {prompt.problem if prompt else 'no such case'}.")
    if problem := find_worker_problem(WorkQueue.JOBS):
        return PromptTryout(notice=f"Not tried, for there is {problem}.")
    unfinished = Job.objects.unfinished().filter(requested_by=by, kind=JobKind.TRY_PROMPT)
    if unfinished.count() >= MAX_OPEN_TRYOUTS:
        return PromptTryout(notice=TOO_MANY)
    request = {
        "connection": str(recipe.connection.uuid) if recipe.connection else None,
        "model": recipe.model,
        "system": recipe.system,
        "parameters": dict(recipe.parameters),
        "prompt": prompt.text,
        "key": prompt.key,
    }
    team = preview.version.dataset.team
    return PromptTryout(job_queue.enqueue_once(JobKind.TRY_PROMPT, team, by, request))
