"""How much of a request's body has come: pages and API refuse a form that ends too early."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest

#: Of `request.META`: the watched body, and that a file of it went over the limit and was dropped.
BODY: Final = "evalsite.body"
TOO_LARGE: Final = "evalsite.too_large"
_MULTIPART: Final = "multipart/form-data"
_FORMS: Final = (_MULTIPART, "application/x-www-form-urlencoded")
_KEPT: Final = 1024  # bytes of a body's end: more than a boundary and what may follow it


class BodyWatcher:
    """A request's body that records how much of it was read and how reading ended."""

    def __init__(self, request: HttpRequest) -> None:
        self._stream: Any = getattr(request, "_stream", None)
        self.size = 0  # bytes
        self.end = b""

    def read(self, *size: int) -> bytes:
        return self._record(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._record(self._stream.readline(*size))

    def close(self) -> None:
        self._stream.close()

    def _record(self, chunk: bytes) -> bytes:
        self.size += len(chunk)
        self.end = (self.end + chunk[-_KEPT:])[-_KEPT:]
        return chunk

    def is_whole(self, request: HttpRequest) -> bool:
        """Whether as much came as was announced, and of several parts the end of the last."""
        length = str(request.META.get("CONTENT_LENGTH"))
        if length.isdecimal() and self.size < int(length):
            return False
        boundary = (request.content_params or {}).get("boundary", "")
        is_multipart = request.content_type == _MULTIPART and self.size
        return not is_multipart or f"--{boundary}--".encode() in self.end


def watch_body(request: HttpRequest) -> None:
    """Record from now on how much of the body is read."""
    body = BodyWatcher(request)
    request._stream = body  # type: ignore[assignment]
    request.META[BODY] = body


def is_cut_short(request: HttpRequest) -> bool:
    """Whether a form that has been read ended before its end."""
    return request.content_type in _FORMS and not request.META[BODY].is_whole(request)
