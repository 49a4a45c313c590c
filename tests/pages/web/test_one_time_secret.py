"""A secret is shown once, and lies encrypted in the session until then."""

from __future__ import annotations

from typing import Any, cast

from django.test import RequestFactory

from evalsite.pages.web.one_time_secret import keep_secret, take_secret
from evalsite.pages.web.responses import SignedInRequest


def request_of(session: dict[str, Any], method: str = "get") -> SignedInRequest:
    request = getattr(RequestFactory(), method)("/")
    request.session = session
    return cast("SignedInRequest", request)


def test_it_is_shown_once() -> None:
    session: dict[str, Any] = {}
    keep_secret(request_of(session), "a", "evs_secret")
    assert "evs_secret" not in str(session)
    assert take_secret(request_of(session, "post"), "a") == ""
    assert take_secret(request_of(session), "b") == ""
    assert take_secret(request_of(session), "a") == "evs_secret"
    assert take_secret(request_of(session), "a") == ""


def test_one_that_cannot_be_read_is_none() -> None:
    session: dict[str, Any] = {}
    keep_secret(request_of(session), "a", "evs_secret")
    session["b"] = session.pop("a")
    assert take_secret(request_of(session), "b") == ""
    assert session == {}
