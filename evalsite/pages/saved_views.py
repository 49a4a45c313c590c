"""Views of a run's cases that a person or the whole team keeps under a name."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.case.columns import NAME as COLUMN
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from evalsite.pages.undo import say_done
from scoring.models import Run, SavedView, User
from scoring.models.saved_view import MAX_QUERY

#: What of an address is kept; the run to compare with and the place in the table are left out,
#: since a view is for any run.
KEPT = (
    "verdict",
    "scorer",
    "min",
    "max",
    "below",
    "code",
    "expected",
    "answered",
    "tag",
    "q",
    "unsteady",
    "change",
    "reviewed",
    "sort",
    "order",
    "trials",
    COLUMN,
)


class ViewForm(forms.Form):
    """A name for what the address shows, and for whom it is kept."""

    name = forms.CharField(max_length=60, label="Keep what is shown as")
    is_shared = forms.BooleanField(required=False, label="For the whole team")
    query = forms.CharField(required=False, max_length=2 * MAX_QUERY)

    def clean_query(self) -> str:
        """Only the parts that a view keeps, always in the same order."""
        query = QueryDict(self.cleaned_data["query"].removeprefix("?"))
        kept = QueryDict(mutable=True)
        for name in KEPT:
            if values := [value for value in query.getlist(name) if value]:
                kept.setlist(name, values)
        if len(kept.urlencode()) > MAX_QUERY:
            raise ValidationError("The filters are too long to be kept: shorten their texts.")
        return kept.urlencode()

    def save(self, run: Run, by: User) -> SavedView:
        asked: dict[str, Any] = self.cleaned_data
        return SavedView.objects.keep(
            run.team, asked["name"], asked["query"], by=by, is_shared=asked["is_shared"]
        )


@posting
def save_view(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Keep what the run's page shows; views of the whole team are an editor's."""
    run = access.run_for(request.user, uid)
    form = ViewForm(request.POST)
    if form.is_valid():
        _keep(request, form, run)
    else:
        for texts in form.errors.values():
            messages.error(request, f"The view is not kept: {texts[0]}")
    return _back(request, uid)


def _back(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The run as it was shown; a view that comes back by Undo may hold other filters."""
    query = request.POST.get("shown") or request.POST.get("query", "")
    return redirect(f"{reverse('run', args=[uid])}?{query.removeprefix('?')}#cases")


def _keep(request: SignedInRequest, form: ViewForm, run: Run) -> None:
    if form.cleaned_data["is_shared"] and not access.granted_on(request.user, run)["may_edit"]:
        raise PermissionDenied("This needs the role editor.")
    try:
        view = form.save(run, request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        whom = "the whole team" if view.owner_id is None else "you"
        messages.success(request, f"The view {view.name} is kept for {whom}.")


@posting
def remove_view(request: SignedInRequest, uid: uuid.UUID, view: uuid.UUID) -> HttpResponse:
    """Remove a view, and show the run as it was."""
    run = access.run_for(request.user, uid)
    found = access.saved_view_for(request.user, run, view)
    if not found.drop(by=request.user):
        messages.info(request, f"The view {found.name} was removed already.")
        return _back(request, uid)
    again = {"name": found.name, "query": found.query, "shown": request.POST.get("query") or "?"}
    if found.owner_id is None:
        again["is_shared"] = "on"
    text = f"The view {found.name} is removed."
    say_done(request, text, reverse("save_view", args=[uid]), again)
    return _back(request, uid)
