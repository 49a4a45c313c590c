"""Room for the frames of a whole request in one piece of memory.

CPython keeps the frames of Python functions in pieces of 16 KB, and gives a piece back as soon as
the last frame in it returns. A loop whose calls begin at the end of a piece has one mapped and
unmapped for each call, which takes longer than most of the calls. Templates are rendered a hundred
frames deep, so that some loop always stood there: of two pages that do the same, one took up to
twice as long, depending on how deep the server calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]

SLOTS: Final = 8_000  # of 8 bytes; as much again follows them in the same piece


class StackRoom:
    """Middleware: the frames below it fit into one piece, up to 64 KB."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return _call_with_room(self._get_response, request)


def _call_with_room(get_response: GetResponse, request: HttpRequest) -> HttpResponseBase:
    return get_response(request)


# A frame is as large as its code says. One that does not fit gets a piece of up to twice its size.
_call_with_room.__code__ = _call_with_room.__code__.replace(co_stacksize=SLOTS)
