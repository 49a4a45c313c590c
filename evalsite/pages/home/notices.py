"""Notices, which every page shows."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django_htmx.middleware import HtmxDetails

from evalsite.pages.web.addresses import next_address, shown_path
from evalsite.pages.web.decorators import get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.models import Notice


@get_page
def notices(request: SignedInRequest) -> HttpResponse:
    """The unread notices, for which pages poll while a run of the person goes on.

    The page of a run shows its end itself.
    """
    run = _find_shown_run(request)
    if run and getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, run__uuid=run).mark_read()
    return render_page(request, "home/notices/page.html", {}, parts=["notices"])


def _find_shown_run(request: SignedInRequest) -> uuid.UUID | None:
    """The run whose page sends the request; None for any other page."""
    try:
        match = resolve(shown_path(request))
    except Resolver404:
        return None
    return match.kwargs["uid"] if match.view_name == "run" else None


@post_action
def read_notice(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Mark a notice as read, and stay on the page."""
    notice = Notice.objects.filter(user=request.user, uuid=uid)
    if not notice.exists():
        raise Http404
    notice.mark_read()
    if HtmxDetails(request):
        return render_page(request, "home/notices/page.html", {}, parts=["notices"])
    return redirect(next_address(request, reverse("home")))
