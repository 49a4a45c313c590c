"""A page, or the one part of it that an htmx request swaps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from django_htmx.http import HttpResponseClientRedirect, HttpResponseLocation, reselect, retarget
from django_htmx.middleware import HtmxDetails

from scoring.models import User


class SignedInRequest(HttpRequest):
    """The request of a view behind `login_required`."""

    user: User


def show(
    request: HttpRequest,
    page: str,
    context: Mapping[str, Any],
    *,
    parts: Collection[str] = (),
    status: int = 200,
) -> HttpResponse:
    """The page, or the one of its parts that an htmx request targets.

    The part `cases` of `dataset/cases.html` is `dataset/_cases.html`, and its root has that id.
    Whoever goes back gets the whole page.
    """
    target = _target(request)
    name = f"{page.rpartition('/')[0]}/_{target}.html" if target in parts else page
    response = render(request, name, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def show_whole(response: HttpResponse) -> HttpResponse:
    """The page that a part of it was waiting for: it takes the place of what is on the screen."""
    response["HX-Reswap"] = "outerHTML show:none"
    return retarget(reselect(response, "#main"), "#main")


def leave_for(request: HttpRequest, path: str) -> HttpResponse:
    """To a page that has scripts of its own, which a swap would not load."""
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(path)
    return redirect(path)


def lead_on(path: str) -> HttpResponse:
    """To another page, in place of the one that asked again and has nothing left to wait for."""
    return HttpResponseLocation(path, target="#main", select="#main", swap="outerHTML")


def show_text(text: str | None) -> HttpResponse:
    """One text as it is. As plain text it can be of any size, and no browser runs anything."""
    if text is None:
        raise Http404
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def show_file(text: str, name: str) -> HttpResponse:
    """An HTML file to keep. As an attachment it is not opened under the site's address."""
    response = HttpResponse(text, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["Cache-Control"] = "private, no-store"
    return response


def _target(request: HttpRequest) -> str | None:
    htmx = HtmxDetails(request)
    if not htmx or htmx.boosted or htmx.history_restore_request:
        return None
    return htmx.target
