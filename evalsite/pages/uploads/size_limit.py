"""A file over the limit is not kept, whatever length its sender announced, nor half of a file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase

from evalsite.middleware.request_body import BODY, TOO_LARGE, BodyWatcher, is_cut_short, watch_body
from evalsite.pages.web.error_pages import incomplete_form, insufficient_storage, unread_body
from scoring.core.disk_full import is_disk_full

_READ_BYTES: Final = 64 * 1024


class UploadSizeLimit(TemporaryFileUploadHandler):
    """Writes a file to the spool. Beyond the limit the rest is read, so that the sender gets an
    answer, and dropped; what was written is removed.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if start + len(raw_data) > settings.EVALSITE_MAX_UPLOAD_BYTES:
            if self.request:
                self.request.META[TOO_LARGE] = True
            raise SkipFile
        return super().receive_data_chunk(raw_data, start)

    def upload_interrupted(self) -> None:
        with suppress(OSError):  # the disk may be too full for what was not yet written
            super().upload_interrupted()


class IncompleteFormCheck:
    """Middleware: a form comes whole or is refused, and what was received of it goes with it.

    It looks at the form before the check against forged requests, which takes one that it cannot
    read for a forged one. Where a connection breaks or stalls, Django leaves its file to the
    garbage collector.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        watch_body(request)
        try:
            return self._get_response(request)
        finally:
            for handler in getattr(request, "_upload_handlers", ()):
                handler.upload_interrupted()

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: object
    ) -> HttpResponse | None:
        if request.method != "POST" or getattr(view, "csrf_exempt", False):
            return None
        try:
            request.POST  # noqa: B018  looking at it reads the body
        except UnreadablePostError as fault:
            return unread_body(fault)
        except OSError as fault:
            return _no_room_for(request.META[BODY], fault)
        return (
            incomplete_form() if is_cut_short(request) and TOO_LARGE not in request.META else None
        )


def _no_room_for(body: BodyWatcher, fault: OSError) -> HttpResponse:
    """Reads the rest, so that the sender gets an answer; raises what is no full disk."""
    if not is_disk_full(fault):
        raise fault
    with suppress(OSError):
        while body.read(_READ_BYTES):
            pass
    return insufficient_storage()


def is_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request went over the limit and is missing from it."""
    return bool(request.POST) and TOO_LARGE in request.META  # looking at POST reads the body
