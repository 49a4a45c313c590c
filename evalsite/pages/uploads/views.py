"""Uploads: choosing a file, mapping its columns, the report, and the import."""

from __future__ import annotations

import uuid
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import content_disposition_header

from evalsite import access
from evalsite.pages.uploads.forms import FileOptionsForm, ImportForm, NewUploadForm, encoding_label
from evalsite.pages.uploads.mapping_form import MappingForm
from evalsite.pages.uploads.size_limit import is_too_large
from evalsite.pages.web.decorators import form_page, post_action
from evalsite.pages.web.responses import SignedInRequest, redirect_swap, render_page, text_response
from evalsite.pages.web.undo import add_undo_message
from scoring.core.files import FileProblem
from scoring.core.files.columns.table_header import name_delimiter
from scoring.engine import imports
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import OutputSet, Role, Upload, UploadKind, UploadState, WorkQueue
from scoring.models.data.upload import WAITING

SENT_MAPPING = "column-0"  # a field of every mapping that is sent
ONLY_SLOTS = "only-slots"  # sent while columns are chosen, to see what they give
CHECKED_AGAIN = (
    "The columns were changed after the check, so the file is checked again. "
    "Nothing is imported yet."
)
NOT_THE_FILE = {
    *("disk_full", "store_failed", "storage_unreachable", "worker_crashed"),
    *("file_gone", "no_version"),
}


@form_page
def new_upload(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose a file for a new or an existing dataset."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    if is_too_large(request):
        context = {"team": team, "limit": settings.EVALSITE_MAX_UPLOAD_BYTES}
        return render_page(request, "uploads/too_large.html", context, status=413)
    start = {name: request.GET[name] for name in ("kind", "dataset") if name in request.GET}
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = NewUploadForm(*sent, team=team, initial=start)
    if form.is_valid() and (saved := form.save(request.user)):
        return redirect("upload", saved.uuid)
    context = {"team": team, "form": form}
    return render_page(request, "uploads/new.html", context, status=422 if form.errors else 200)


@form_page
def upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The next step of the upload: its mapping, report, progress or outcome."""
    upload = access.upload_for(request.user, uid)
    if "unmatched" in request.GET:
        return _send_unmatched_ids(upload)
    context = _next_step(request, upload)
    form = context.get("form")
    if ONLY_SLOTS in request.POST:
        return _render(request, upload, context, status=200)
    if form and form.is_valid() and form.save():
        return redirect("upload", uid)
    is_done = upload.state == UploadState.DONE and not context["output_sets"]
    if is_done and upload.dataset and request.headers.get("HX-Request"):
        # The page that polls goes on to the dataset, where nothing is left to do here.
        path = reverse("undo_upload", args=[uid])
        add_undo_message(request, f"{upload.file_name} is imported.", path)
        return redirect_swap(reverse("dataset", args=[upload.dataset.uuid]))
    return _render(request, upload, context)


def _render(
    request: SignedInRequest, upload: Upload, context: dict[str, Any], status: int | None = None
) -> HttpResponse:
    """The upload's page with the context of its next step."""
    codes = {problem["code"] for problem in upload.problems}
    if fault := context.get("fault"):
        codes.add(fault.code)
    is_file_at_fault = not NOT_THE_FILE & codes
    context |= {"team": upload.team, "upload": upload, "is_file_at_fault": is_file_at_fault}
    is_refused = request.method == "POST" and upload.state in WAITING
    status = status or (422 if is_refused else 200)
    return render_page(request, "uploads/page.html", context, parts=["upload"], status=status)


@post_action
def load_upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Import a checked file, without the rows with problems if they are to be skipped.

    Where the page showed other columns than were checked, the file is checked again instead.
    """
    upload = access.upload_for(request.user, uid)
    if upload.state == UploadState.CHECKED and SENT_MAPPING in request.POST:
        context = _next_step(request, upload)
        mapping = context.get("form")
        if mapping is None or not mapping.is_valid():
            return _render(request, upload, context)
        if not mapping.is_as_checked():
            if not mapping.save():
                return _render(request, upload, context)
            messages.info(request, CHECKED_AGAIN)
            return redirect("upload", uid)
    form = ImportForm(request.POST, upload=upload)
    if form.is_valid():
        imports.request_load(upload, skips_bad_rows=form.cleaned_data["skip_bad_rows"])
    else:
        messages.error(request, " ".join(map(str, form.non_field_errors())))
    return redirect("upload", uid)


@post_action
def undo_import(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Take back what an import added, within a day of it."""
    upload = access.upload_for(request.user, uid)
    try:
        imports.undo_import(upload, request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    return redirect("upload", uid)


@post_action
def cancel_upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Cancel the upload and remove what was read of it."""
    upload = access.upload_for(request.user, uid)
    if not imports.cancel_upload(upload):
        messages.info(request, f"{upload.file_name} had ended already.")
    return redirect("upload", uid)


def _next_step(request: SignedInRequest, upload: Upload) -> dict[str, Any]:
    """The context of an upload's page in its state."""
    if upload.state in WAITING:
        context = _mapping(request, upload)
        context["may_import"] = ImportForm.is_possible(upload)
        return context | {"unlike": _unlike_latest(upload)}
    if upload.is_working:
        cause = find_worker_problem(WorkQueue.IMPORTS) or None
        return {"cause": cause, "stage": imports.stage_of(upload)}
    return {"output_sets": _output_sets(upload), "may_undo": imports.can_undo(upload)}


def _unlike_latest(upload: Upload) -> list[str]:
    """The fields that the latest version took from its file, but no column of this one holds."""
    latest = upload.dataset.latest if upload.dataset else None
    if upload.kind != UploadKind.DATASET or not upload.mapping or latest is None:
        return []
    fields = ("id", "input", "expected", "references", "tags")
    return [name for name in fields if name in latest.mapping and name not in upload.mapping]


def _output_sets(upload: Upload) -> list[OutputSet]:
    """The output sets of a finished upload, to be scored next."""
    if upload.state != UploadState.DONE or upload.dataset is None:
        return []
    uids = upload.report.get("output_sets", [])
    return [*OutputSet.objects.to_score(upload.dataset).filter(uuid__in=uids).order_by("id")]


def _mapping(request: SignedInRequest, upload: Upload) -> dict[str, Any]:
    """The beginning of the file and the form for its columns, or the problem that prevents both."""
    reading = FileOptionsForm.from_request(upload, request.POST or request.GET)
    options = reading.options
    try:
        preview = imports.preview_upload(upload, **options)
    except FileProblem as fault:
        return {"reading": reading, "fault": fault}
    except FileNotFoundError:
        gone = FileProblem("file_gone", "The file is no longer here. Upload it again.")
        return {"reading": reading, "fault": gone}
    form = MappingForm(
        request.POST or None,
        upload=upload,
        preview=preview,
        options=options,
        paths=reading.requested_paths,
    )
    return {
        "reading": FileOptionsForm.from_detected(
            preview.detected, ", ".join(reading.requested_paths)
        ),
        "preview": preview,
        "encoding": encoding_label(preview.detected.encoding),
        "delimiter": name_delimiter(preview.detected.delimiter),
        "form": form,
    }


def _send_unmatched_ids(upload: Upload) -> HttpResponse:
    """The ids of the report that no case has, one a line, as a file."""
    keys = upload.report.get("unmatched_ids", [])
    response = text_response("".join(f"{key}\n" for key in keys))
    name = f"{PurePath(upload.file_name).stem} unmatched.txt"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response
