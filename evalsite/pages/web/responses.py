"""Responses of pages: whole pages, htmx fragments, redirects, texts and files."""

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


def render_page(
    request: HttpRequest,
    page: str,
    context: Mapping[str, Any],
    *,
    parts: Collection[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Render the page, or the one of its parts that an htmx request targets.

    The part `cases` of `datasets/cases.html` is `datasets/_cases.html`, and its root has that id.
    A request from the browser history gets the whole page.
    """
    target = _target(request)
    name = f"{page.rpartition('/')[0]}/_{target}.html" if target in parts else page
    response = render(request, name, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def retarget_page(response: HttpResponse) -> HttpResponse:
    """Make htmx replace the whole page, though the request came from a part of it."""
    response["HX-Reswap"] = "outerHTML show:none"
    return retarget(reselect(response, "#main"), "#main")


def redirect_browser(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect to a page with scripts of its own, which an htmx swap would not load."""
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(path)
    return redirect(path)


def redirect_swap(path: str) -> HttpResponse:
    """Redirect a polling page to the one that replaces it, by an htmx swap."""
    return HttpResponseLocation(path, target="#main", select="#main", swap="outerHTML")


def text_response(text: str | None) -> HttpResponse:
    """A text of any size as plain text, of which a browser runs nothing; 404 for None."""
    if text is None:
        raise Http404
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def html_file_response(text: str, name: str) -> HttpResponse:
    """An HTML file as an attachment, which is not opened under the site's address."""
    response = HttpResponse(text, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["Cache-Control"] = "private, no-store"
    return response


def _target(request: HttpRequest) -> str | None:
    htmx = HtmxDetails(request)
    if not htmx or htmx.boosted or htmx.history_restore_request:
        return None
    return htmx.target
