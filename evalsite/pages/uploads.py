"""Uploads: choose a file, map its columns, read the report, import."""

from __future__ import annotations

import uuid
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import content_disposition_header

from evalsite import access
from evalsite.pages.forms.mapping import MappingForm
from evalsite.pages.forms.uploads import ImportForm, NewUploadForm, ReadingForm, spoken_encoding
from evalsite.pages.fragments import SignedInRequest, lead_on, show, show_text
from evalsite.pages.methods import filling, posting
from evalsite.pages.upload_limit import is_too_large
from scoring.core.files import FileProblem
from scoring.core.files.table import spoken_delimiter
from scoring.engine import loading
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Dataset, OutputSet, Role, Upload, UploadKind, UploadState

WAITING = (UploadState.RECEIVED, UploadState.CHECKED)
NOT_THE_FILE = {"disk_full", "store_failed", "worker_crashed", "file_gone", "no_version"}


@filling
def new_upload(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose a file, for a new dataset or for one that is there."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    if is_too_large(request):
        context = {"team": team, "limit": settings.EVALSITE_MAX_UPLOAD_BYTES}
        return show(request, "upload/too_large.html", context, status=413)
    start = {name: request.GET[name] for name in ("kind", "dataset") if name in request.GET}
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = NewUploadForm(*sent, team=team, initial=start)
    if form.is_valid() and (made := form.save(request.user)):
        return redirect("upload", made.uuid)
    context = {"team": team, "form": form}
    return show(request, "upload/new.html", context, status=422 if form.errors else 200)


@filling
def upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """What is next for the upload: its mapping, report, progress or outcome."""
    found = access.upload_for(request.user, uid)
    if "unmatched" in request.GET:
        return _unmatched_file(found)
    context = {"team": found.team, "upload": found} | _next_step(request, found)
    context["is_file_at_fault"] = not NOT_THE_FILE & {each["code"] for each in found.problems}
    form = context.get("form")
    if form and form.is_valid() and form.save():
        return redirect("upload", uid)
    is_done = found.state == UploadState.DONE and not context["output_sets"]
    if is_done and found.dataset and request.headers.get("HX-Request"):
        return _onwards(request, found, found.dataset)
    status = 422 if request.method == "POST" and found.state in WAITING else 200
    return show(request, "upload/page.html", context, parts=["upload"], status=status)


@posting
def load_upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Import a checked file; rows with problems only if they are to be left out."""
    found = access.upload_for(request.user, uid)
    form = ImportForm(request.POST, upload=found)
    if form.is_valid():
        loading.request_load(found, skips_bad_rows=form.cleaned_data["skip_bad_rows"])
    else:
        messages.error(request, " ".join(map(str, form.non_field_errors())))
    return redirect("upload", uid)


@posting
def cancel_upload(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Give the upload up; what was read of it goes away."""
    found = access.upload_for(request.user, uid)
    if not loading.cancel(found):
        messages.info(request, f"{found.file_name} had ended already.")
    return redirect("upload", uid)


def _next_step(request: SignedInRequest, upload: Upload) -> dict[str, Any]:
    """What the page of an upload in this state shows beside the upload itself."""
    if upload.state in WAITING:
        shown = {"may_import": ImportForm.suits(upload), "unlike": _unlike_latest(upload)}
        return _mapping(request, upload) | shown
    if upload.is_working:
        cause = None if worker_is_alive() else NO_WORKER
        return {"cause": cause, "stage": loading.stage_of(upload)}
    return {"output_sets": _output_sets(upload)}


def _unlike_latest(upload: Upload) -> list[str]:
    """What the latest version took from columns of its file and a new one, as it is mapped, not."""
    latest = upload.dataset.latest if upload.dataset else None
    if upload.kind != UploadKind.DATASET or not upload.mapping or latest is None:
        return []
    fields = ("id", "input", "expected", "references", "tags")
    return [each for each in fields if each in latest.mapping and each not in upload.mapping]


def _output_sets(upload: Upload) -> list[OutputSet]:
    """Those that the file's outputs are in, to be scored next."""
    if upload.state != UploadState.DONE or upload.dataset is None:
        return []
    made = upload.report.get("output_sets", [])
    return [*OutputSet.objects.to_score(upload.dataset).filter(uuid__in=made).order_by("id")]


def _mapping(request: SignedInRequest, upload: Upload) -> dict[str, Any]:
    """The beginning of the file and the form for its columns, or the fault that prevents both."""
    reading = ReadingForm.of(upload, request.POST or request.GET)
    options = reading.options
    try:
        preview = loading.preview(upload, **options)
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
        paths=reading.asked_paths,
    )
    return {
        "reading": ReadingForm.used(preview.detected, ", ".join(reading.asked_paths)),
        "preview": preview,
        "encoding": spoken_encoding(preview.detected.encoding),
        "delimiter": spoken_delimiter(preview.detected.delimiter),
        "form": form,
    }


def _unmatched_file(upload: Upload) -> HttpResponse:
    """The keys that no case has, a line each: those that the report lists."""
    keys = upload.report.get("unmatched_ids", [])
    response = show_text("".join(f"{key}\n" for key in keys))
    name = f"{PurePath(upload.file_name).stem} unmatched.txt"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


def _onwards(request: SignedInRequest, upload: Upload, dataset: Dataset) -> HttpResponse:
    """To the dataset, as soon as the page that waited asks again, where nothing is left to do."""
    messages.success(request, f"{upload.file_name} is imported.")
    return lead_on(reverse("dataset", args=[dataset.uuid]))
