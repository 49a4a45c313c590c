"""The pages for a request that cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from scoring.core.files import full_disk

log = logging.getLogger(__name__)

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


def no_room() -> HttpResponse:
    """507 for what found no room on the disk."""
    return _page(507, full_disk.CODE)


class FullDisk:
    """Middleware: what finds no room on the disk is told so, and not as a fault of the site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, _: HttpRequest, fault: Exception) -> HttpResponse | None:
        if not full_disk.is_full_disk(fault):
            return None
        log.error("There is no room left on the disk", exc_info=fault)
        return no_room()


def _page(status: int, code: str, *, is_cut: bool = False) -> HttpResponse:
    context = {"error_code": code, "is_cut": is_cut}
    return HttpResponse(render_to_string(f"{status}.html", context), status=status)
