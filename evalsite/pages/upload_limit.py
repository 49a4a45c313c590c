"""A file over the limit is not kept, whatever length its sender announced, nor half of a file."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_MARK = "evalsite.too_large"


class LimitedUpload(TemporaryFileUploadHandler):
    """Writes a file to the spool. Beyond the limit the rest is read, so that the sender gets an
    answer, and dropped; what was written is removed.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if start + len(raw_data) > settings.EVALSITE_MAX_UPLOAD_BYTES:
            if self.request:
                self.request.META[_MARK] = True
            raise SkipFile
        return super().receive_data_chunk(raw_data, start)


def half_uploads_end(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: what was received of a file goes with its request.

    Where a connection breaks or stalls, Django leaves its file to the garbage collector.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        try:
            return get_response(request)
        finally:
            for handler in getattr(request, "_upload_handlers", ()):
                handler.upload_interrupted()

    return respond


def is_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request went over the limit and is missing from it."""
    return bool(request.POST) and _MARK in request.META  # looking at POST reads the body
