"""Responses are stored by no cache, unless they say otherwise."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase


class PrivateResponses:
    """Middleware: no cache stores a response without a `Cache-Control` header of its own.

    Static files are answered before it. Pages, fragments, downloads, the API and errors belong to
    one person: a shared cache must not hold them, and after signing out *Back* must not show them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
