"""The page for a request that cannot be read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.template.loader import render_to_string


def unreadable(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """400. Django's own view looks into the form again, which may be what cannot be read."""
    return HttpResponseBadRequest(render_to_string("400.html"))
