"""The team's own list of failure tags."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.review.forms import TAG_EXISTS, FailureTagForm
from evalsite.pages.web.decorators import form_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.models import FailureTag, Role, Team, User


@form_page
def failure_tags(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list, to which editors add."""
    role = Role.EDITOR if request.method == "POST" else Role.VIEWER
    opened = access.team_access_for(request.user, slug, role)
    form = FailureTagForm(request.POST or None, team=opened.team)
    if form.is_valid() and (tag := _add(form, opened.team, request.user)):
        messages.success(request, f"Failure tag {tag.name} added.")
        return redirect("failure_tags", slug)
    context = {
        "team": opened.team,
        "tags": FailureTag.objects.filter(team=opened.team),
        "form": form,
        **opened.permissions,
    }
    return render_page(request, "review/tags.html", context, status=422 if form.errors else 200)


def _add(form: FailureTagForm, team: Team, by: User) -> FailureTag | None:
    """None, and an error of the form, where a colleague has just added the same one."""
    try:
        return FailureTag.objects.add(team, by, **form.cleaned_data)
    except IntegrityError:
        form.add_error("name", TAG_EXISTS)
        return None


@post_action
def mark_failure_tag(request: SignedInRequest, slug: str) -> HttpResponse:
    """Mark a tag as severe, or as not severe any more."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    if tag := _named_tag(request, team):
        tag.mark(is_severe="is_severe" in request.POST, by=request.user)
        messages.success(request, f"{tag.name} is {'severe' if tag.is_severe else 'not severe'}.")
    return redirect("failure_tags", slug)


@post_action
def remove_failure_tag(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a tag off the list; reviews that name it keep it."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    if tag := _named_tag(request, team):
        tag.remove(by=request.user)
        messages.success(request, f"Failure tag {tag.name} removed. Reviews keep it.")
    return redirect("failure_tags", slug)


def _named_tag(request: SignedInRequest, team: Team) -> FailureTag | None:
    """The team's tag that was sent; None, and a message, where a colleague has removed it."""
    tag = FailureTag.objects.filter(team=team, name=request.POST.get("name", "")).first()
    if tag is None:
        messages.info(request, "This tag is not on the list any more.")
    return tag
