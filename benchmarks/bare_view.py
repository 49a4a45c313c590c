"""A bare Django view to compare the pages with, on the same database and the same machine.

A signed-in session, one query and a template of 50 rows by eight columns, behind the middleware and
the context processors that `django-admin startproject` sets. The user is read by Django's own
backend, as the site's has more to read.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.template.backends.django import DjangoTemplates
from django.test import Client, override_settings
from django.urls import path
from django.utils.functional import SimpleLazyObject

ROWS = 50
COLUMNS = ("id", "position", "key", "input_json", "expected_json", "tags_json", "version_id", "id")
MIDDLEWARE = [
    "bare_view.BareUrls",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "bare_view.BareUser",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATE = """<!DOCTYPE html><html lang="en"><head><title>Cases</title></head><body>
<p>{{ user.email }}</p>{% for message in messages %}<p>{{ message }}</p>{% endfor %}
<table><thead><tr>{% for name in columns %}<th>{{ name }}</th>{% endfor %}</tr></thead><tbody>
{% for case in cases %}<tr>CELLS</tr>
{% endfor %}</tbody></table></body></html>"""

_engine = DjangoTemplates(
    {"NAME": "bare", "DIRS": [], "APP_DIRS": False, "OPTIONS": {"context_processors": PROCESSORS}}
)
_cells = "".join(f"<td>{{{{ case.{name} }}}}</td>" for name in COLUMNS)
_template = _engine.from_string(TEMPLATE.replace("CELLS", _cells))


class BareUrls:
    """Route requests to this module's one address, whatever the settings' are."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.urlconf = __name__
        response: HttpResponse = self.get_response(request)
        return response


class BareUser:
    """Django's AuthenticationMiddleware, with its own backend instead of the site's."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> HttpResponse:
        user = partial(ModelBackend().get_user, request.session[SESSION_KEY])
        request.user = SimpleLazyObject(user)
        response: HttpResponse = self.get_response(request)
        return response


@login_required
def bare(request: HttpRequest) -> HttpResponse:
    from scoring.models import Case

    context = {"columns": COLUMNS, "cases": Case.objects.order_by("pk")[:ROWS]}
    return HttpResponse(_template.render(context, request))


urlpatterns = [path("", bare)]


def bare_client(user: Any) -> Client:
    """A client of the bare view's own handler, signed in and warm; ask it for "/"."""
    client = Client()
    client.force_login(user)
    with override_settings(MIDDLEWARE=MIDDLEWARE):
        answer = client.get("/")  # the handler keeps the middleware it was first asked with
    if answer.status_code != 200 or answer.content.count(b"<td>") != ROWS * len(COLUMNS):
        raise SystemExit("the bare view does not show its rows")
    return client
