"""The audit log is told where each request comes from."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from evalsite.middleware.client_address import client_address
from scoring.models.team.audit_entry import acting_from


class AuditedAddress:
    """Middleware: what a request changes is recorded with the client's address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with acting_from(client_address(request)):
            return self._get_response(request)
