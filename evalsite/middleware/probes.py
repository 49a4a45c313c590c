"""Probes of the site's health name whatever host they know it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class HealthProbes:
    """Middleware: a probe by the machine's own address is answered as one by the site's name.

    It comes past the proxy, over plain HTTP, and learns nothing that depends on the host.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path in PATHS and settings.ALLOWED_HOSTS:
            request.META.pop("HTTP_X_FORWARDED_HOST", None)
            request.META["HTTP_HOST"] = settings.ALLOWED_HOSTS[0].lstrip(".")
        return self._get_response(request)
