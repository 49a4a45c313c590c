"""A file over the limit is not kept, whatever length its sender announced, nor half of a file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase

from evalsite.pages.problems import broken_off, no_room, stalled
from scoring.core.files.full_disk import is_full_disk

_TOO_LARGE: Final = "evalsite.too_large"
_BODY: Final = "evalsite.body"
_MULTIPART: Final = "multipart/form-data"
_FORMS: Final = (_MULTIPART, "application/x-www-form-urlencoded")
_KEPT: Final = 1024  # bytes of a body's end: more than a boundary and what may follow it


class LimitedUpload(TemporaryFileUploadHandler):
    """Writes a file to the spool. Beyond the limit the rest is read, so that the sender gets an
    answer, and dropped; what was written is removed.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        if start + len(raw_data) > settings.EVALSITE_MAX_UPLOAD_BYTES:
            if self.request:
                self.request.META[_TOO_LARGE] = True
            raise SkipFile
        return super().receive_data_chunk(raw_data, start)

    def upload_interrupted(self) -> None:
        with suppress(OSError):  # the disk may be too full for what was not yet written
            super().upload_interrupted()


class WatchedBody:
    """A request's body, of which is known how much of it was read and how that ended."""

    def __init__(self, request: HttpRequest) -> None:
        self._stream: Any = getattr(request, "_stream", None)
        self.size = 0  # bytes
        self.end = b""

    def read(self, *size: int) -> bytes:
        return self._seen(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._seen(self._stream.readline(*size))

    def close(self) -> None:
        self._stream.close()

    def _seen(self, chunk: bytes) -> bytes:
        self.size += len(chunk)
        self.end = (self.end + chunk[-_KEPT:])[-_KEPT:]
        return chunk

    def is_whole(self, request: HttpRequest) -> bool:
        """Whether as much came as was announced, and of several parts the end of the last."""
        told = str(request.META.get("CONTENT_LENGTH"))
        if told.isdecimal() and self.size < int(told):
            return False
        boundary = (request.content_params or {}).get("boundary", "")
        is_parted = request.content_type == _MULTIPART and self.size
        return not is_parted or f"--{boundary}--".encode() in self.end


class WholeForms:
    """Middleware: a form comes whole or is refused, and what was received of it goes with it.

    It looks at the form before the check against forged requests, which takes one that it cannot
    read for a forged one. Where a connection breaks or stalls, Django leaves its file to the
    garbage collector.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        body = WatchedBody(request)
        request._stream = body  # type: ignore[assignment]
        request.META[_BODY] = body
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
        except UnreadablePostError:
            return stalled()
        except OSError as fault:
            return _no_room_for(request.META[_BODY], fault)
        is_cut = request.content_type in _FORMS and not request.META[_BODY].is_whole(request)
        return broken_off() if is_cut and _TOO_LARGE not in request.META else None


def _no_room_for(body: WatchedBody, fault: OSError) -> HttpResponse:
    """Reads the rest, so that the sender gets an answer; raises what is no full disk."""
    if not is_full_disk(fault):
        raise fault
    with suppress(OSError):
        while body.read(_KEPT * 64):
            pass
    return no_room()


def is_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request went over the limit and is missing from it."""
    return bool(request.POST) and _TOO_LARGE in request.META  # looking at POST reads the body
