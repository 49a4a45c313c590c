"""A run's name and note, the archive, and its deletion, which can be taken back."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.forms.shared import SharedForm
from evalsite.pages.fragments import SignedInRequest, leave_for, show
from evalsite.pages.methods import filling, posting
from evalsite.pages.undo import say_done
from scoring.engine import run_life
from scoring.models import AuditEntry, Role, Run, User
from scoring.models.audit import AuditQuerySet


class RunDetailsForm(SharedForm):
    """What people call a run and what they say of it."""

    run: Run

    name = forms.CharField(max_length=120)
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
        """False where somebody else did so since the form was opened, which is now shown."""
        if self.is_overtaken(by):
            return False
        name, note = (self.cleaned_data[name] for name in ("name", "note"))
        run_life.edit(self.run, name=name, note=note.replace("\r\n", "\n"), by=by)
        return True


@filling
def edit_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Name and note of a run."""
    run = access.run_for(request.user, uid, Role.EDITOR)
    form = RunDetailsForm(request.POST or None, initial={"name": run.name, "note": run.note})
    form.run = run
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return leave_for(request, reverse("run", args=[uid]))
    context = {"team": run.team, "run": run, "form": form}
    return show(request, "run/edit.html", context, status=422 if form.errors else 200)


@posting
def archive_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    run_life.archive(run, request.user)
    text = "The run is archived: lists show it only when asked to."
    say_done(request, text, reverse("unarchive_run", args=[uid]))
    return redirect("run", uid)


@posting
def unarchive_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    run_life.unarchive(run, request.user)
    messages.success(request, "The run is out of the archive: lists show it again.")
    return redirect("run", uid)


@posting
def delete_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete the run, which another tab may have done, and offer to take that back on the list."""
    try:
        run = access.run_for(request.user, uid, Role.EDITOR)
        run_life.delete(run, request.user)
    except Http404:
        run = access.deleted_run_for(request.user, uid)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect("run", uid)
    return redirect(f"{reverse('runs', args=[run.team.slug])}?undo={uid}")


@posting
def restore_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Bring the run back; where somebody was first, show that it is."""
    try:
        run = access.deleted_run_for(request.user, uid)
        run_life.restore(run, request.user)
    except Http404:
        run = access.run_for(request.user, uid, Role.EDITOR)
    messages.success(request, f"{run.name} is back.")
    return redirect("run", uid)
