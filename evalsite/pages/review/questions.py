"""The team's question sets: what reviewers are asked beside the verdict."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from evalsite import access
from evalsite.pages.review.question_forms import QuestionSetForm
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.models import QuestionSet, Role, Team


@get_page
def question_sets(request: SignedInRequest, slug: str) -> HttpResponse:
    """The newest version of each set."""
    opened = access.team_access_for(request.user, slug)
    context = {
        "team": opened.team,
        "question_sets": QuestionSet.objects.newest(opened.team),
        **opened.permissions,
    }
    return render_page(request, "review/questions/list.html", context)


@form_page
def edit_question_set(request: SignedInRequest, slug: str) -> HttpResponse:
    """A form for a new set or, with the `name` of one, for its next version."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    newest = _named(request, team)
    form = QuestionSetForm(request.POST or None, newest=newest)
    if form.is_valid():
        made = QuestionSet.objects.publish(
            team, form.cleaned_data["name"], form.questions, by=request.user
        )
        messages.success(request, f"{made.label} saved. Choose it for a new review queue.")
        return redirect("question_sets", slug)
    context: dict[str, Any] = {"team": team, "form": form, "newest": newest}
    status = 422 if form.is_bound else 200
    return render_page(request, "review/questions/edit.html", context, status=status)


@post_action
def remove_question_set(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a set off the list; queues that ask it and answers to it stay."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    name = request.POST.get("name", "")
    if QuestionSet.objects.remove(team, name, by=request.user):
        messages.success(request, f"{name} removed. Queues that ask it go on.")
    else:
        messages.info(request, "These questions are not on the list any more.")
    return redirect("question_sets", slug)


def _named(request: SignedInRequest, team: Team) -> QuestionSet | None:
    """The set that the address names; None where it names none. 404 for one there is not."""
    if "name" not in request.GET:
        return None
    return get_object_or_404(QuestionSet.objects.newest(team), name=request.GET["name"])
