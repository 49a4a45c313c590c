"""A run that makes its outputs: the form, a preview of its prompts, and one of them tried."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.urls import reverse

from evalsite import access
from evalsite.pages.estimates import Foresight, foresight
from evalsite.pages.forms.generation import GenerationForm
from evalsite.pages.fragments import SignedInRequest, leave_for, show
from evalsite.pages.methods import filling, reading
from evalsite.pages.underway import Underway, underway_of
from scoring.core.prompt_template import PromptTemplate
from scoring.engine import errands, prompts
from scoring.engine.estimate_generation import estimate_generation
from scoring.engine.generate import Recipe
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.engine.prompts import Filled, Lacking
from scoring.models import DatasetVersion, Errand, ErrandKind, Role, User
from scoring.models.connection import environment_endpoint

AT_ONCE: Final = 3  # a person's tries that wait for the worker
TOO_MANY: Final = f"{AT_ONCE} of your tries are still under way. Wait until one has ended."


@dataclass(frozen=True)
class Preview:
    """What the form, as far as it is filled in, would ask."""

    form: GenerationForm
    version: DatasetVersion

    @cached_property
    def template(self) -> PromptTemplate | None:
        """None where its text cannot be used; the form says why."""
        text = self.form.cleaned_data.get("template")
        return PromptTemplate(text) if text else None

    @cached_property
    def prompts(self) -> list[Filled]:
        return prompts.filled(self.version, self.template) if self.template else []

    @cached_property
    def lacking(self) -> Lacking:
        return prompts.lacking(self.version, self.template) if self.template else Lacking(0, ())

    @property
    def shows_expected(self) -> bool:
        """Whether the model is told what is expected of it."""
        return self.template is not None and "expected" in self.template.fields

    @property
    def has_recipe(self) -> bool:
        """Whether the form says enough to call a model."""
        return self.template is not None and self.form.recipe() is not None

    @cached_property
    def foresight(self) -> Foresight | None:
        recipe = self.form.recipe()
        if recipe is None or self.template is None:
            return None
        found = estimate_generation(self.version, recipe, self.form.chosen_scorers())
        return foresight(outputs=found.outputs, judges=found.judges)


@dataclass(frozen=True)
class Answer:
    """What came of a prompt that was tried, or why nothing did."""

    errand: Errand | None = None
    notice: str = ""

    @cached_property
    def underway(self) -> Underway | None:
        """None where nothing is waited for."""
        return underway_of(self.errand)

    @property
    def call(self) -> dict[str, Any] | None:
        """What the model was asked and answered, as `probe.tried_prompt` tells it."""
        return self.errand.answer.get("call") if self.errand else None


@filling
def generate_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose a model, a prompt and scorers; the worker makes the outputs and scores them."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    version = dataset.latest
    context: dict[str, Any] = {"team": dataset.team, "dataset": dataset}
    if version is None:
        return show(request, "run/generate.html", context)
    version.dataset = dataset
    form = GenerationForm(request.POST or None, dataset=dataset)
    is_looked_at = not {"preview", "try"}.isdisjoint(request.POST)
    if form.is_valid() and not is_looked_at:
        return leave_for(request, reverse("run", args=[form.save(request.user).uuid]))
    context |= {"form": form, "places": prompts.places_of(version), "may_call": _may_call(form)}
    context["may_administer"] = access.may(request.user, dataset.team, Role.ADMIN)
    if is_looked_at:
        context["preview"] = Preview(form, version)
    if "try" in request.POST:
        context["answer"] = _tried(context["preview"], request.POST["try"], request.user)
    status = 422 if form.errors and not is_looked_at else 200
    parts = ["preview", "answer"]
    return show(request, "run/generate.html", context, parts=parts, status=status)


@reading
def tried_prompt(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """What a model answered to a prompt that was tried, or that it is still asked."""
    errand = access.errand_for(request.user, uid, Role.EDITOR)
    if errand.kind != ErrandKind.TRY_PROMPT:
        raise Http404
    context = {"team": errand.team, "answer": Answer(errand)}
    return show(request, "run/answer.html", context, parts=["answer"])


def _may_call(form: GenerationForm) -> bool:
    """Whether there is any model to call."""
    return bool(form.connections) or environment_endpoint() is not None


def _tried(preview: Preview, position: str, by: User) -> Answer:
    """The first prompts are those that can be tried."""
    recipe = preview.form.recipe()
    if recipe is None or preview.template is None:
        return Answer(notice="Not tried: the model and the prompt come first.")
    chosen = next((each for each in preview.prompts if str(each.position) == position), None)
    if chosen is None or chosen.problem:
        return Answer(notice=f"Not tried: {chosen.problem if chosen else 'no such case'}.")
    if not worker_is_alive():
        return Answer(notice=f"Not tried, for there is {NO_WORKER}.")
    under_way = Errand.objects.unfinished().filter(asked_by=by, kind=ErrandKind.TRY_PROMPT)
    if under_way.count() >= AT_ONCE:
        return Answer(notice=TOO_MANY)
    request = _request(recipe, chosen)
    team = preview.version.dataset.team
    return Answer(errands.ask(ErrandKind.TRY_PROMPT, team, by, request))


def _request(recipe: Recipe, chosen: Filled) -> dict[str, Any]:
    return {
        "connection": str(recipe.connection.uuid) if recipe.connection else None,
        "model": recipe.model,
        "system": recipe.system,
        "parameters": dict(recipe.parameters),
        "prompt": chosen.text,
        "key": chosen.key,
    }
