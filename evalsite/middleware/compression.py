"""Compression of pages and API responses."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressedPages(GZipMiddleware):
    """Middleware: compress whole responses; downloads stream as they are.

    Django counters attacks on secrets by the length of a response (BREACH) twice: it masks the CSRF
    token anew in each response, and adds up to a hundred random bytes to each compressed one.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        return response if response.streaming else super().process_response(request, response)
