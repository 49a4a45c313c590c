"""Which methods a view answers, and that nobody gets past the sign-in."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory

from evalsite.pages.web.decorators import form_page, get_page, post_action
from scoring.models import User


@pytest.mark.parametrize(
    ("decorator", "methods"),
    [
        (get_page, ["GET", "HEAD"]),
        (form_page, ["GET", "HEAD", "POST"]),
        (post_action, ["POST"]),
    ],
)
def test_other_methods_are_refused(rf: RequestFactory, decorator: Any, methods: list[str]) -> None:
    view = decorator(lambda _: HttpResponse("seen"))
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        request = rf.generic(method, "/runs/")
        request.user = User(email="alice@example.org")
        assert view(request).status_code == (200 if method in methods else 405), method
        request.user = AnonymousUser()
        stranger = view(request)
        assert (stranger.status_code, stranger["Location"].endswith("?next=/runs/")) == (302, True)
