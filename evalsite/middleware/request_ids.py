"""An id for each request, in the log, in the answer, and on the page of an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from uuid import uuid4

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from scoring.core.log_context import META_KEY, log_context

HEADER: Final = "X-Request-ID"
_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")  # what proxies send; anything else gets a new one


class RequestIds:
    """Middleware: takes the id that a proxy has given the request, else makes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        request_id = given if _ID.fullmatch(given) else uuid4().hex
        request.META[META_KEY] = request_id  # Django logs refusals when the block is over
        with log_context(request=request_id):
            response = self._get_response(request)
        response[HEADER] = request_id
        return response
