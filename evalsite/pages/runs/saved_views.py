"""Views of a run's cases that a person or the whole team saves under a name."""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import RunAccess
from evalsite.pages.cases.table.columns import NAME as COLUMN
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import SignedInRequest
from evalsite.pages.web.undo import add_undo_message
from scoring.models import Run, SavedView, User
from scoring.models.reviews.saved_view import MAX_QUERY

#: The parameters that a view saves. A view is for any run, so the run to compare with and the
#: cursor are left out.
SAVED_PARAMS = (
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
    """The name of a view, its query, and whom it is for."""

    name = NameField(max_length=60, label="Save view as")
    is_shared = forms.BooleanField(required=False, label="For the whole team")
    query = forms.CharField(required=False, max_length=2 * MAX_QUERY)

    def clean_query(self) -> str:
        """Only the parameters that a view saves, always in the same order."""
        query = QueryDict(self.cleaned_data["query"].removeprefix("?"))
        saved = urlencode(
            [(name, value) for name in SAVED_PARAMS for value in query.getlist(name) if value]
        )
        if len(saved) > MAX_QUERY:
            raise ValidationError("The filters are too long to be kept: shorten their texts.")
        return saved

    def save(self, run: Run, by: User) -> SavedView:
        name, query = self.cleaned_data["name"], self.cleaned_data["query"]
        is_shared = self.cleaned_data["is_shared"]
        return SavedView.objects.keep(run.team, name, query, by=by, is_shared=is_shared)


@post_action
def save_view(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Save what the run's page shows; a view of the whole team takes the role editor."""
    opened = access.run_access_for(request.user, uid)
    form = ViewForm(request.POST)
    if form.is_valid():
        _save(request, form, opened)
    else:
        for texts in form.errors.values():
            messages.error(request, f"The view is not kept: {texts[0]}")
    return _show_run(request, uid)


def _show_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The run as it was shown; a view restored by Undo may hold other filters."""
    query = request.POST.get("shown") or request.POST.get("query", "")
    return redirect(f"{reverse('run', args=[uid])}?{query.removeprefix('?')}#cases")


def _save(request: SignedInRequest, form: ViewForm, opened: RunAccess) -> None:
    if form.cleaned_data["is_shared"] and not opened.permissions["may_edit"]:
        raise PermissionDenied("This needs the role editor.")
    try:
        view = form.save(opened.run, request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        whom = "the whole team" if view.owner_id is None else "you"
        messages.success(request, f"The view {view.name} is kept for {whom}.")


@post_action
def remove_view(request: SignedInRequest, uid: uuid.UUID, view: uuid.UUID) -> HttpResponse:
    """Remove a view, and show the run as it was."""
    run = access.run_for(request.user, uid)
    saved = access.saved_view_for(request.user, run, view)
    if saved.drop(by=request.user):
        shown = request.POST.get("query") or "?"
        fields = {"name": saved.name, "query": saved.query, "shown": shown}
        if saved.owner_id is None:
            fields["is_shared"] = "on"
        path = reverse("save_view", args=[uid])
        add_undo_message(request, f"The view {saved.name} is removed.", path, fields)
    else:
        messages.info(request, f"The view {saved.name} was removed already.")
    return _show_run(request, uid)
