"""The pages for a request that cannot be read."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string

STALLED: Final = "stalled"
BROKEN: Final = "broken_multipart"


def unreadable(_request: HttpRequest, exception: Exception) -> HttpResponse:
    """400. Django's own view looks into the form again, which may be what cannot be read."""
    return _page(400, BROKEN if isinstance(exception, MultiPartParserError) else "")


def broken_off() -> HttpResponse:
    """400 for a form whose end never came."""
    return _page(400, BROKEN, is_cut=True)


def stalled() -> HttpResponse:
    """408 for a form of which nothing more came."""
    return _page(408, STALLED)


def _page(status: int, code: str, *, is_cut: bool = False) -> HttpResponse:
    context = {"error_code": code, "is_cut": is_cut}
    return HttpResponse(render_to_string(f"{status}.html", context), status=status)
