"""Scorers: what a team scores with."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.access import has_role, permissions, scorer_for, team_for
from evalsite.pages.scorers.forms import ScorerForm
from evalsite.pages.scorers.previews import PreviewPanel
from evalsite.pages.scorers.suggestion_panel import SuggestionPanel
from evalsite.pages.scorers.tryouts import TryoutPanel
from evalsite.pages.scorers.type_picker import TypePicker
from evalsite.pages.scorers.versions import ScorerUses, Versions
from evalsite.pages.web.decorators import form_page, get_page
from evalsite.pages.web.responses import SignedInRequest, redirect_browser, render_page
from evalsite.pages.web.search_forms import SearchForm
from scoring.core.configured import configure_scorer
from scoring.core.contract import CaseProblem, ConfigError
from scoring.core.json_text import parse
from scoring.core.registry import ScorerType, scorer_type
from scoring.engine.calibration.scorers import calibrate_versions
from scoring.models import Role, Scorer, Suite

MAX_CALIBRATED: Final = 5  # versions
MAX_NAME: Final = 120  # characters that a link begins with
MAX_CONFIG: Final = 4_000
PARTS: Final = ("settings", "try", "tried", "previewed")
UNSAVED_ACTIONS: Final = {
    "tree",
    "try",
    "preview",
}  # what a form is sent with when it is not to be saved


@get_page
def scorers(request: SignedInRequest, slug: str) -> HttpResponse:
    """The team's scorers and suites."""
    team = team_for(request.user, slug)
    context = {
        "team": team,
        "scorers": Scorer.objects.filter(team=team).for_list(),
        "suites": Suite.objects.filter(team=team).for_list(),
        **permissions(request.user, team),
    }
    return render_page(request, "scorers/list.html", context)


@get_page
def choose_type(request: SignedInRequest, slug: str) -> HttpResponse:
    """The first step to a new scorer: which type, or straight on to the first that is named."""
    team = team_for(request.user, slug, Role.EDITOR)
    choice = TypePicker(SearchForm(request.GET).text)
    if "open" in request.GET and choice.first:
        return redirect_browser(request, reverse("new_scorer", args=[slug, choice.first.name]))
    panel = SuggestionPanel(request, team)
    context = {"team": team, "choice": choice, "panel": panel}
    return render_page(request, "scorers/types.html", context, parts=["types", "suggested"])


@form_page
def new_scorer(request: SignedInRequest, slug: str, type_name: str) -> HttpResponse:
    """The second step: its config."""
    team = team_for(request.user, slug, Role.EDITOR)
    kind = _type_or_404(type_name)
    start = {"threshold": kind.default_threshold, "name": request.GET.get("name", "")[:MAX_NAME]}
    config = _given_config(request.GET, kind)
    form = ScorerForm(request.POST or None, team=team, kind=kind, initial=start, config=config)
    if is_saving(request.POST) and form.is_valid() and (made := form.save(request.user)):
        messages.success(request, f"Scorer {made.name} is ready.")
        return redirect("scorer", made.uuid)
    return _shown(request, form)


@get_page
def scorer(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One scorer: its config now and before, and what rests on it."""
    found = scorer_for(request.user, uid)
    context = {
        "team": found.team,
        "scorer": found,
        "type": _type_or_none(found.type),
        "warnings": _warnings(found),
        "versions": Versions(found, request.GET),
        "uses": ScorerUses(found),
        "calibrations": calibrate_versions(found)[:MAX_CALIBRATED],
        "may_edit": has_role(request.user, found.team, Role.EDITOR),
    }
    return render_page(request, "scorers/detail.html", context, parts=["changes"])


@form_page
def edit_scorer(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """A changed config becomes a new version; old runs keep theirs."""
    found = scorer_for(request.user, uid, Role.EDITOR)
    kind, before = _type_or_404(found.type), found.current
    start = {"name": found.name}
    form = ScorerForm(request.POST or None, team=found.team, kind=kind, scorer=found, initial=start)
    if is_saving(request.POST) and form.is_valid() and form.save(request.user):
        text = "Saved." if found.current == before else f"Saved as {found.current}."
        messages.success(request, text)
        return redirect("scorer", uid)
    return _shown(request, form)


def _shown(request: SignedInRequest, form: ScorerForm) -> HttpResponse:
    """A scorer's form with the panels to try it, or the part of that which is asked for."""
    order = request.POST.get("tree", "")
    form = form.redrawn(order) if order else form
    panel, preview = TryoutPanel(request, form), PreviewPanel(request, form)
    context = {"team": form.team, "type": form.kind, "scorer": form.scorer, "form": form}
    context |= {"panel": panel, "tried": panel.tried}
    context |= {"preview": preview, "previewed": preview.previewed}
    wanted = next((each for each in (panel, preview) if each.is_wanted), None)
    status = wanted.status if wanted else 422 if form.is_refused else 200
    answer = render_page(request, "scorers/edit.html", context, parts=PARTS, status=status)
    if order:
        answer["HX-Trigger-After-Settle"] = "settings-changed"  # which is no input of the person
    return answer


def is_saving(posted: QueryDict) -> bool:
    """Whether the form is sent to be saved, and not to be tried or changed."""
    return bool(posted) and not posted.keys() & UNSAVED_ACTIONS


def _given_config(query: QueryDict, kind: ScorerType) -> dict[str, Any] | None:
    """The config that a link begins with, as far as it can be used; None for the defaults."""
    try:
        config = parse(query.get("config", "")[:MAX_CONFIG])
        configure_scorer(kind.name, config)
    except (CaseProblem, ConfigError):
        return None
    return dict(config)


def _warnings(scorer: Scorer) -> list[str]:
    """What its config allows but probably does not mean."""
    if scorer.current is None:
        return []
    try:
        return configure_scorer(scorer.type, scorer.current.config).warnings
    except ConfigError:  # a type that is not installed, or has changed
        return []


def _type_or_404(name: str) -> ScorerType:
    found = _type_or_none(name)
    if found is None:
        raise Http404
    return found


def _type_or_none(name: str) -> ScorerType | None:
    """The type, or None where a custom scorer's package is no longer installed."""
    try:
        return scorer_type(name)
    except ConfigError:
        return None
