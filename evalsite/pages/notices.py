"""Notices: what a person is told on whatever page they are."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import posting, reading
from scoring.models import Notice


@reading
def notices(request: SignedInRequest) -> HttpResponse:
    """The unread ones, which pages look for while a run of the person goes on.

    The page of a run shows its end itself.
    """
    if (found := _run_looked_at(request)) and getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, run__uuid=found).mark_read()
    return show(request, "notice/page.html", {}, parts=["notices"])


def _run_looked_at(request: SignedInRequest) -> uuid.UUID | None:
    """The run whose page asks; None where any other page does."""
    path = (HtmxDetails(request).current_url_abs_path or "").partition("?")[0]
    try:
        found = resolve(path)
    except Resolver404:
        return None
    return found.kwargs["uid"] if found.view_name == "run" else None


@posting
def read_notice(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Take a notice off, and stay on the page."""
    found = Notice.objects.filter(user=request.user, uuid=uid)
    if not found.exists():
        raise Http404
    found.mark_read()
    if HtmxDetails(request):
        return show(request, "notice/page.html", {}, parts=["notices"])
    back = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if back and is_own else "home")
