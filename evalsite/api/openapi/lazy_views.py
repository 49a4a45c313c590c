"""The doors to the schema and its page: what makes them is imported once somebody asks."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt  # as all views of the API: those that sign in by session ask for the token themselves
def schema(request: HttpRequest) -> HttpResponseBase:
    from evalsite.api.openapi.views import SchemaView

    response: HttpResponseBase = SchemaView.as_view()(request)
    return response


@csrf_exempt
@login_required
def docs(request: HttpRequest) -> HttpResponseBase:
    from evalsite.api.openapi.views import DocsView

    response: HttpResponseBase = DocsView.as_view()(request)
    return response
