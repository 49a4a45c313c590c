"""Editing a dataset's cases: the draft, one case of it, and its publication."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.forms.drafts import CaseForm, PublishForm, as_typed
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.keyset import keyset_page
from evalsite.pages.methods import filling, posting, reading
from evalsite.pages.undo import say_done
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError, StaleError, asks
from scoring.models import Case, Dataset, DatasetVersion, Draft, DraftEdit, EditKind, Role
from scoring.models.dataset import CaseContent
from scoring.models.version_changes import edited_fields


@reading
def draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """What the draft changes, case by case, and the form that publishes it."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    return show(request, "draft/page.html", _page(request, dataset, PublishForm()))


@filling
def draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One case as the draft has it; without a key a new one."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.GET.get("key", "")
    edit, case = _halves(dataset, key)
    if key and edit is None and case is None:
        raise Http404
    is_deleted = edit is not None and edit.kind == EditKind.DELETE
    content: CaseContent | None = case if is_deleted else (edit or case)
    seen = edit.revision if edit else 0
    version = _edited_version(dataset)
    number = version.number if version else None
    form = CaseForm(request.POST or None, content, seen, number)
    if form.is_valid() and _save(form, dataset, key, request):
        return redirect("draft", uid)
    context = {"team": dataset.team, "dataset": dataset, "key": key, "form": form, "edit": edit}
    context |= {"is_deleted": is_deleted, "version": version, "others": _others(form, edit, case)}
    return show(request, "draft/case.html", context, status=422 if form.errors else 200)


@posting
def delete_draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave a case out of the draft."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.POST.get("key", "")
    before, _ = _halves(dataset, key)
    try:
        with transaction.atomic():
            drafts.delete_case(drafts.begin(dataset, request.user), key, request.user)
    except DraftError as refused:
        messages.error(request, str(refused))
    else:
        text = f"Case {key} is deleted in the draft."
        after, _ = _halves(dataset, key)
        seen = after.revision if after else 0
        say_done(request, text, *_way_back(dataset, key, before, seen))
    return redirect("draft", uid)


@posting
def revert_draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Take back what the draft does to a case."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.POST.get("key", "")
    before, _ = _halves(dataset, key)
    try:
        drafts.revert(_open(dataset), key)
    except DraftError as refused:
        messages.error(request, str(refused))
    else:
        if before:
            text = f"The draft leaves case {key} as it was."
            say_done(request, text, *_way_back(dataset, key, before))
    return redirect("draft", uid)


@posting
def publish_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Make the draft the dataset's next version."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    form = PublishForm(request.POST)
    try:
        found = _open(dataset)
        if form.is_valid():
            return _published(request, found, form.cleaned_data["message"])
    except DraftError as refused:
        if Draft.objects.open_of(dataset) is None:
            messages.error(request, str(refused))
            return redirect("draft", uid)
        form.add_error(None, str(refused))
    return show(request, "draft/page.html", _page(request, dataset, form), status=422)


def _published(request: SignedInRequest, draft: Draft, message: str) -> HttpResponse:
    """To what the new version changes, or to the draft while the worker makes it."""
    version = asks.request_publish(draft, message, request.user)
    if version is None:
        return redirect("draft", draft.dataset.uuid)
    messages.success(request, f"Version {version.number} is published.")
    return redirect(_changes_of(draft.dataset, version))


def _changes_of(dataset: Dataset, version: DatasetVersion) -> str:
    """The address that says what the version changed."""
    return f"{reverse('version_changes', args=[dataset.uuid])}?new={version.number}"


@posting
def move_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Put the draft onto the version that was published meanwhile."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    try:
        conflicts = drafts.rebase(_open(dataset), request.user)
    except DraftError as refused:
        messages.error(request, str(refused))
        return redirect("draft", uid)
    text = "The draft now edits the latest version."
    if conflicts:
        text += f" {conflicts:,} of its cases changed there, too: look at them and save them again."
    messages.success(request, text)
    return redirect("draft", uid)


@posting
def discard_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Put the draft aside; the page of the draft offers to bring it back."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    try:
        drafts.discard(_open(dataset), request.user)
    except DraftError as refused:
        messages.error(request, str(refused))
    return redirect("draft", uid)


@posting
def restore_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Bring the draft back that was discarded last."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    try:
        drafts.restore(_discarded(dataset), request.user)
    except DraftError as refused:
        messages.error(request, str(refused))
    return redirect("draft", uid)


def _open(dataset: Dataset) -> Draft:
    """Raises DraftError where there is none."""
    found = Draft.objects.open_of(dataset)
    if found is None:
        raise DraftError(_end_of(Draft.objects.last_of(dataset)))
    found.dataset = dataset
    return found


def _end_of(draft: Draft | None) -> str:
    """Why there is no draft, where this one was the last."""
    if draft is None:
        return "There is no draft yet: it begins with the first edit."
    if draft.is_discarded:
        return "The draft was discarded meanwhile."
    version = draft.published
    who = f" by {version.created_by}" if version and version.created_by else ""
    what = f" as version {version.number}" if version else ""
    return f"The draft was published meanwhile{who}{what}."


def _discarded(dataset: Dataset) -> Draft:
    found = Draft.objects.last_of(dataset)
    if found is None or not found.is_discarded:
        raise DraftError("There is no discarded draft to bring back.")
    found.dataset = dataset
    return found


def _page(request: SignedInRequest, dataset: Dataset, form: forms.Form) -> dict[str, Any]:
    found = Draft.objects.open_of(dataset)
    context: dict[str, Any] = {"team": dataset.team, "dataset": dataset, "draft": found}
    if found is None:
        return context | _last(dataset)
    page = keyset_page(found.edits.select_related("edited_by"), "id", request.GET)
    before = Case.objects.filter(version=found.based_on_id)
    cases = {case.key: case for case in before.filter(key__in=[edit.key for edit in page.rows])}
    rows = [_row(edit, cases.get(edit.key)) for edit in page.rows]
    counts = found.counts()
    publishing = asks.progress_of(found) if found.is_publishing else None
    shown = {"form": form, "page": page, "rows": rows, "counts": counts}
    return context | shown | {"publishing": publishing}


def _row(edit: DraftEdit, case: Case | None) -> tuple[DraftEdit, list[str], CaseContent]:
    """An edit with the fields that it changes, and the case to know it by."""
    content: CaseContent = case if case and edit.kind == EditKind.DELETE else edit
    return edit, edited_fields(case, edit), content


def _last(dataset: Dataset) -> dict[str, Any]:
    """What became of the draft before, where there is none now."""
    last = Draft.objects.last_of(dataset)
    if last is None or last.is_discarded:
        return {"discarded": last}
    version = last.published
    if version is None:
        return {}
    changes = _changes_of(dataset, version)
    return {"published": version, "counts": last.counts(), "changes_url": changes}


def _halves(dataset: Dataset, key: str) -> tuple[DraftEdit | None, Case | None]:
    """What the draft makes of the case, and the case of the version that it edits."""
    found = Draft.objects.open_of(dataset)
    edit = found.edits.select_related("edited_by").filter(key=key).first() if found else None
    version = found.based_on_id if found else dataset.latest_id
    return edit, Case.objects.filter(version=version, key=key).first()


def _edited_version(dataset: Dataset) -> DatasetVersion | None:
    """The version that edits of the dataset begin from now."""
    found = Draft.objects.open_of(dataset)
    return found.based_on if found else dataset.latest


def _others(form: CaseForm, edit: DraftEdit | None, case: Case | None) -> dict[str, Any] | None:
    """What others made of the case, with the texts that are not as they are typed here."""
    found = form.theirs or (case if edit and edit.is_conflict else None)
    return {"case": found, "texts": form.unlike(found)} if found else None


def _way_back(
    dataset: Dataset, key: str, before: DraftEdit | None, seen: int = 0
) -> tuple[str, dict[str, object]]:
    """The form that makes the draft do again what it did to the case before, and its fields.

    `seen` is the revision of what the draft does to it now.
    """
    args = [dataset.uuid]
    if before is None:
        return reverse("revert_draft_case", args=args), {"key": key}
    if before.kind == EditKind.DELETE:
        return reverse("delete_draft_case", args=args), {"key": key}
    typed = as_typed(before) | {"seen": seen}
    if before.kind == EditKind.ADD:
        return reverse("draft_case", args=args), typed | {"key": key}
    return f"{reverse('draft_case', args=args)}?{urlencode({'key': key})}", typed


def _save(form: CaseForm, dataset: Dataset, key: str, request: SignedInRequest) -> bool:
    """Save the form into the draft, or say in the form why it cannot be."""
    asked = form.cleaned_data
    try:
        with transaction.atomic():
            found = drafts.begin(dataset, request.user)
            if key:
                seen = asked["seen"], asked["version"]
                drafts.save_case(found, key, form.texts, request.user, *seen)
            else:
                drafts.add_case(found, form.texts, request.user, asked["key"])
    except ContentError as refused:
        form.add_problems(refused.problems)
    except StaleError as stale:
        version = _edited_version(dataset)
        form.take_in(stale, version.number if version else None)
        form.add_error(None, str(stale))
    except DraftError as refused:
        form.add_error(None, str(refused))
    return form.is_valid()
