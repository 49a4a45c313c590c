"""A run's name and note, its archiving and its deletion, which can be undone."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.web.decorators import form_page, post_action
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.responses import SignedInRequest, redirect_browser, render_page
from evalsite.pages.web.stale_forms import ConcurrentEditForm
from evalsite.pages.web.undo import add_undo_message
from scoring.engine.runs import lifecycle
from scoring.models import AuditEntry, Role, Run, User
from scoring.models.locks import lock_row
from scoring.models.team.audit_entry import AuditQuerySet


class RunDetailsForm(ConcurrentEditForm):
    """A run's name and note."""

    run: Run

    name = NameField(max_length=120)
    note = forms.CharField(
        max_length=10_000,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Plain text, shown on the run's page.",
    )

    def audited(self) -> AuditQuerySet:
        return AuditEntry.objects.about(self.run).filter(action="run.edited")

    def save(self, by: User) -> bool:
        """False if another user saved since the form was opened; the form then shows that."""
        name, note = (self.cleaned_data[name] for name in ("name", "note"))
        with transaction.atomic():
            lock_row(self.run, "name", "note")
            if self.is_stale(by):
                return False
            lifecycle.edit_run(self.run, name=name, note=note.replace("\r\n", "\n"), by=by)
        return True


@form_page
def edit_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Edit the name and note of a run."""
    run = access.run_for(request.user, uid, Role.EDITOR)
    form = RunDetailsForm(request.POST or None, initial={"name": run.name, "note": run.note})
    form.run = run
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect_browser(request, reverse("run", args=[uid]))
    context = {"team": run.team, "run": run, "form": form}
    return render_page(request, "runs/edit.html", context, status=422 if form.errors else 200)


@post_action
def archive_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    lifecycle.archive_run(run, request.user)
    text = "The run is archived: lists show it only when asked to."
    add_undo_message(request, text, reverse("unarchive_run", args=[uid]))
    return redirect("run", uid)


@post_action
def unarchive_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    lifecycle.unarchive_run(run, request.user)
    messages.success(request, "The run is out of the archive: lists show it again.")
    return redirect("run", uid)


@post_action
def delete_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete the run, which another tab may have done, and offer Undo on the list of runs."""
    try:
        run = access.run_for(request.user, uid, Role.EDITOR)
        lifecycle.delete_run(run, request.user)
    except Http404:
        run = access.deleted_run_for(request.user, uid)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect("run", uid)
    return redirect(f"{reverse('runs', args=[run.team.slug])}?undo={uid}")


@post_action
def restore_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Restore the run, also if it is restored already."""
    try:
        run = access.deleted_run_for(request.user, uid)
        lifecycle.restore_run(run, request.user)
    except Http404:
        run = access.run_for(request.user, uid, Role.EDITOR)
    messages.success(request, f"{run.name} is back.")
    return redirect("run", uid)
