"""A dataset's name, its archiving and its deletion, which can be undone."""

from __future__ import annotations

import uuid

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
from scoring.engine.datasets import lifecycle
from scoring.models import AuditEntry, Dataset, Role, User
from scoring.models.data.dataset import RETENTION
from scoring.models.locks import lock_row
from scoring.models.team.audit_entry import AuditQuerySet


class DatasetNameForm(ConcurrentEditForm):
    """A dataset's name."""

    dataset: Dataset

    name = NameField(
        max_length=120,
        help_text="Commands and gates name the dataset so; change it there, too.",
    )

    def audited(self) -> AuditQuerySet:
        return self.changes_of(self.dataset)

    @staticmethod
    def changes_of(dataset: Dataset) -> AuditQuerySet:
        """The audit entries of the dataset's names, the latest first."""
        return AuditEntry.objects.about(dataset).filter(action="dataset.renamed")

    def save(self, by: User) -> bool:
        """False, with an error, where the name is taken, or another user saved since."""
        try:
            with transaction.atomic():
                lock_row(self.dataset, "name")
                if not self.is_stale(by):
                    lifecycle.rename_dataset(self.dataset, self.cleaned_data["name"], by)
        except ValidationError as taken:
            self.add_error("name", taken)
        return not self.errors


@form_page
def rename_dataset(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Rename the dataset, and offer Undo."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    old = dataset.name
    form = DatasetNameForm(request.POST or None, initial={"name": old})
    form.dataset = dataset
    if form.is_valid() and form.save(request.user):
        if dataset.name != old:
            text = f"{old} is called {dataset.name} now."
            path = reverse("rename_dataset", args=[uid])
            seen = DatasetNameForm.changes_of(dataset).values_list("pk", flat=True)[0]
            add_undo_message(request, text, path, {"name": old, "seen": seen})
        return redirect_browser(request, reverse("dataset", args=[uid]))
    context = {"team": dataset.team, "dataset": dataset, "old": old, "form": form}
    status = 422 if form.errors else 200
    return render_page(request, "datasets/rename.html", context, status=status)


@post_action
def archive_dataset(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    lifecycle.archive_dataset(dataset, request.user)
    text = "The dataset is archived: lists show it only when asked to."
    add_undo_message(request, text, reverse("unarchive_dataset", args=[uid]))
    return redirect("dataset", uid)


@post_action
def unarchive_dataset(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    lifecycle.unarchive_dataset(dataset, request.user)
    messages.success(request, "The dataset is out of the archive: lists show it again.")
    return redirect("dataset", uid)


@post_action
def delete_dataset(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete the dataset with its runs, which another tab may have done, and offer Undo."""
    try:
        dataset = access.dataset_for(request.user, uid, Role.EDITOR)
        lifecycle.delete_dataset(dataset, request.user)
    except Http404:
        dataset = access.deleted_dataset_for(request.user, uid)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect("dataset", uid)
    text = f"{dataset.name} is deleted. You can restore it for {RETENTION.days} days."
    add_undo_message(request, text, reverse("restore_dataset", args=[uid]))
    return redirect("datasets", dataset.team.slug)


@post_action
def restore_dataset(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Restore the dataset, also if it is restored already."""
    try:
        dataset = access.deleted_dataset_for(request.user, uid)
        lifecycle.restore_dataset(dataset, request.user)
    except Http404:
        dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect(f"{reverse('datasets', args=[dataset.team.slug])}?deleted")
    messages.success(request, f"{dataset.name} is back.")
    return redirect("dataset", uid)
