"""Reviews of a run from a file and into one."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase

from evalsite import access
from evalsite.access import RunAccess
from evalsite.blind_review import blind_outputs
from evalsite.pages.review.forms import ReviewFileForm
from evalsite.pages.uploads.size_limit import is_too_large
from evalsite.pages.web.decorators import form_page, get_page
from evalsite.pages.web.exports import send_export
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.review.preference_export import preference_sheet
from scoring.engine.review.review_export import review_sheet
from scoring.engine.review.review_import import (
    ReviewReport,
    ReviewsRefusedError,
    import_review_file,
)
from scoring.models import Review, Role


@form_page
def run_reviews(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Export the reviews of a run, or import those of a file, and see what it held."""
    role = Role.EDITOR if request.method == "POST" else Role.VIEWER
    opened = access.run_access_for(request.user, uid, role)
    if is_too_large(request):
        context = {"team": opened.run.team, "limit": settings.EVALSITE_MAX_UPLOAD_BYTES}
        return render_page(request, "uploads/too_large.html", context, status=413)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ReviewFileForm(*sent)
    if not form.is_valid():
        return _render(request, opened, form, status=422 if form.errors else 200)
    try:
        report = import_review_file(
            opened.run,
            form.cleaned_data["file"],
            form.cleaned_data["file"].name,
            by=request.user,
            reviewer=form.cleaned_data["reviewer"],
            is_dry_run=form.cleaned_data["preview"],
            blind=blind_outputs(request.user, opened.run),
        )
    except ReviewsRefusedError as refused:
        return _render(request, opened, form, refused.report, status=422)
    return _render(request, opened, form, report)


@get_page
def export_run_reviews(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The reviews that the person may export, in the order of the cases."""
    opened = access.run_access_for(request.user, uid)
    return send_export(request, review_sheet(opened.run, access.exportable_reviews_of_run(opened)))


@get_page
def export_queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The preferences between the two runs of a pairwise queue, else the reviews of its run."""
    queue = access.review_queue_for(request.user, uid)
    if not queue.is_pairwise:
        return export_run_reviews(request, queue.run.uuid)
    preferences = access.exportable_preferences_of(request.user, queue)
    return send_export(request, preference_sheet(queue, preferences))


def _render(
    request: SignedInRequest,
    opened: RunAccess,
    form: ReviewFileForm,
    report: ReviewReport | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    total = Review.objects.of_run(opened.run).count()
    exportable = access.exportable_reviews_of_run(opened).count()
    context: dict[str, Any] = {
        "team": opened.run.team,
        "run": opened.run,
        "form": form,
        "report": report,
        "file_name": form.cleaned_data["file"].name if report else "",
        "is_preview": report is not None and form.cleaned_data["preview"],
        "exportable": exportable,
        "left_out": total - exportable,
        **opened.permissions,
    }
    return render_page(request, "review/files/files.html", context, status=status)
