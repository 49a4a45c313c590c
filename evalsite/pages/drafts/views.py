"""Drafts: editing the cases of a dataset and publishing the edits as a version."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.drafts.forms import CaseForm, PublishForm, form_values
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.pages.web.undo import add_undo_message
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError, EditConflictError, jobs
from scoring.engine.review.score_again import runs_to_score_again
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Draft,
    DraftEdit,
    EditKind,
    Role,
    WorkQueue,
)
from scoring.models.data.dataset import CaseContent
from scoring.models.data.version_changes import edited_fields


@get_page
def draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The edits of the draft, and the form that publishes them."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    return render_page(request, "drafts/page.html", _draft_context(request, dataset, PublishForm()))


@form_page
def draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One case of the draft; without a key, a new one."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.GET.get("key", "")
    edit, case = _find_case(dataset, key)
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
    context |= {"is_deleted": is_deleted, "version": version}
    context["other_edit"] = _other_edit(form, edit, case)
    return render_page(request, "drafts/case.html", context, status=422 if form.errors else 200)


@post_action
def delete_draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete a case in the draft."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.POST.get("key", "")
    before, _ = _find_case(dataset, key)
    with _show_refusal(request):
        with transaction.atomic():
            drafts.delete_case(drafts.open_draft(dataset, request.user), key, request.user)
        after, _ = _find_case(dataset, key)
        undo = undo_edit_form(dataset, key, before, after.revision if after else 0)
        add_undo_message(request, f"Case {key} is deleted in the draft.", *undo)
    return redirect("draft", uid)


@post_action
def revert_draft_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Drop the draft's edit of a case."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    key = request.POST.get("key", "")
    before, _ = _find_case(dataset, key)
    with _show_refusal(request):
        drafts.revert_case(_get_open_draft(dataset), key)
        if before:
            text = f"The draft leaves case {key} as it was."
            add_undo_message(request, text, *undo_edit_form(dataset, key, before))
    return redirect("draft", uid)


@post_action
def publish_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Make the draft the dataset's next version."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    form = PublishForm(request.POST)
    try:
        draft = _get_open_draft(dataset)
        if form.is_valid():
            return _publish(request, draft, form.cleaned_data["message"])
    except DraftError as refused:
        if Draft.objects.open_of(dataset) is None:
            messages.error(request, str(refused))
            return redirect("draft", uid)
        form.add_error(None, str(refused))
    return render_page(
        request, "drafts/page.html", _draft_context(request, dataset, form), status=422
    )


def _publish(request: SignedInRequest, draft: Draft, message: str) -> HttpResponse:
    """Redirect to the changes of the new version, to the draft while the worker makes it, or to the
    runs that are scored again.
    """
    chosen: list[str] = []
    if "again" in request.POST:
        named = set(request.POST.getlist("runs"))
        offered = (str(run.uuid) for run in runs_to_score_again(draft.dataset))
        chosen = [name for name in offered if name in named]
    version = jobs.publish_or_enqueue(draft, message, request.user, chosen)
    if version is None:
        return redirect("draft", draft.dataset.uuid)
    messages.success(request, f"Version {version.number} is published.")
    if chosen:
        return redirect("dataset_older_runs", draft.dataset.uuid)
    return redirect(_changes_url(draft.dataset, version))


def _changes_url(dataset: Dataset, version: DatasetVersion) -> str:
    return reverse("version_changes", args=[dataset.uuid], query={"new": version.number})


@post_action
def move_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Rebase the draft onto the version that was published meanwhile."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    with _show_refusal(request):
        text = "The draft now edits the latest version."
        if conflicts := drafts.rebase_draft(_get_open_draft(dataset), request.user):
            text += (
                f" {conflicts:,} of its cases changed there, too: look at them and save them again."
            )
        messages.success(request, text)
    return redirect("draft", uid)


@post_action
def discard_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Discard the draft; its page offers to undo that."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    with _show_refusal(request):
        drafts.discard_draft(_get_open_draft(dataset), request.user)
    return redirect("draft", uid)


@post_action
def restore_draft(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Restore the draft that was discarded last."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    with _show_refusal(request):
        draft = Draft.objects.last_of(dataset)
        if draft is None or not draft.is_discarded:
            raise DraftError("There is no discarded draft to bring back.")
        draft.dataset = dataset
        drafts.restore_draft(draft, request.user)
    return redirect("draft", uid)


@contextmanager
def _show_refusal(request: SignedInRequest) -> Iterator[None]:
    """Show a DraftError of the block as a message."""
    try:
        yield
    except DraftError as refused:
        messages.error(request, str(refused))


def _get_open_draft(dataset: Dataset) -> Draft:
    """Raise DraftError if there is none."""
    draft = Draft.objects.open_of(dataset)
    if draft is None:
        raise DraftError(_explain_missing_draft(Draft.objects.last_of(dataset)))
    draft.dataset = dataset
    return draft


def _explain_missing_draft(last: Draft | None) -> str:
    if last is None:
        return "There is no draft yet: it begins with the first edit."
    if last.is_discarded:
        return "The draft was discarded meanwhile."
    version = last.published
    who = f" by {version.created_by}" if version and version.created_by else ""
    what = f" as version {version.number}" if version else ""
    return f"The draft was published meanwhile{who}{what}."


def _draft_context(request: SignedInRequest, dataset: Dataset, form: forms.Form) -> dict[str, Any]:
    draft = Draft.objects.open_of(dataset)
    context: dict[str, Any] = {"team": dataset.team, "dataset": dataset, "draft": draft}
    if draft is not None and not draft.is_publishing:
        context["score_again"] = runs_to_score_again(dataset)
    if draft is None:
        return context | _last_draft_context(dataset)
    page = keyset_page(draft.edits.select_related("edited_by"), "id", request.GET)
    edited = Case.objects.filter(
        version=draft.based_on_id, key__in=[edit.key for edit in page.rows]
    )
    cases = {case.key: case for case in edited}
    publishing = jobs.publish_progress(draft) if draft.is_publishing else None
    counts = draft.counts()
    changed = counts[EditKind.EDIT] + counts[EditKind.ADD] + counts[EditKind.DELETE]
    return context | {
        "form": form,
        "page": page,
        "rows": [_edit_row(edit, cases.get(edit.key)) for edit in page.rows],
        "counts": counts,
        "changed": changed,
        "unchanged": draft.based_on.case_count - changed + counts[EditKind.ADD],
        "publishing": publishing,
        "stall_reason": find_worker_problem(WorkQueue.JOBS) if publishing else "",
    }


def _edit_row(edit: DraftEdit, case: Case | None) -> tuple[DraftEdit, list[str], CaseContent]:
    """The edit, the fields it changes, and the content to show."""
    content: CaseContent = case if case and edit.kind == EditKind.DELETE else edit
    return edit, edited_fields(case, edit), content


def _last_draft_context(dataset: Dataset) -> dict[str, Any]:
    """What became of the last draft, as there is no open one."""
    last = Draft.objects.last_of(dataset)
    if last is None or last.is_discarded:
        return {"discarded": last}
    version = last.published
    if version is None:
        return {}
    changes = _changes_url(dataset, version)
    return {"published": version, "counts": last.counts(), "changes_url": changes}


def edit_of_case(dataset: Dataset, key: str) -> DraftEdit | None:
    """The open draft's edit of the case; None without one."""
    return _find_case(dataset, key)[0]


def _find_case(dataset: Dataset, key: str) -> tuple[DraftEdit | None, Case | None]:
    """The draft's edit of the case, and the case in the version that the draft edits."""
    draft = Draft.objects.open_of(dataset)
    edit = draft.edits.select_related("edited_by").filter(key=key).first() if draft else None
    version = draft.based_on_id if draft else dataset.latest_id
    return edit, Case.objects.filter(version=version, key=key).first()


def _edited_version(dataset: Dataset) -> DatasetVersion | None:
    """The version that the open draft edits, or that a new one would."""
    draft = Draft.objects.open_of(dataset)
    return draft.based_on if draft else dataset.latest


def _other_edit(form: CaseForm, edit: DraftEdit | None, case: Case | None) -> dict[str, Any] | None:
    """Another editor's version of the case, with the texts that differ from the form."""
    other = form.other_edit or (case if edit and edit.is_conflict else None)
    return {"case": other, "texts": form.find_differences(other)} if other else None


def undo_edit_form(
    dataset: Dataset, key: str, before: DraftEdit | None, seen: int = 0
) -> tuple[str, dict[str, object]]:
    """The path and fields of the form that restores the edit of the case that was there before.

    `seen` is the revision of its present edit.
    """
    args = [dataset.uuid]
    if before is None:
        return reverse("revert_draft_case", args=args), {"key": key}
    if before.kind == EditKind.DELETE:
        return reverse("delete_draft_case", args=args), {"key": key}
    values = form_values(before) | {"seen": seen}
    if before.kind == EditKind.ADD:
        return reverse("draft_case", args=args), values | {"key": key}
    return reverse("draft_case", args=args, query={"key": key}), values


def _save(form: CaseForm, dataset: Dataset, key: str, request: SignedInRequest) -> bool:
    """Save the form into the draft; if that is refused, add the reason to its errors."""
    data = form.cleaned_data
    try:
        with transaction.atomic():
            draft = drafts.open_draft(dataset, request.user)
            if key:
                seen = data["seen"], data["version"]
                drafts.save_case(draft, key, form.texts, request.user, *seen)
            else:
                drafts.add_case(draft, form.texts, request.user, data["key"])
    except ContentError as refused:
        form.add_errors(refused.problems)
    except EditConflictError as stale:
        version = _edited_version(dataset)
        form.show_other_edit(stale, version.number if version else None)
        form.add_error(None, str(stale))
    except DraftError as refused:
        form.add_error(None, str(refused))
    return form.is_valid()
