"""What a person and the log are told when a request fails."""

from __future__ import annotations

import logging
from io import StringIO
from typing import cast

import pytest
from django.test import Client

from evalsite.pages import health

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("charset", ["utf-7", "latin-1"])
@pytest.mark.parametrize("url", ["/accounts/login/", "/demo/", "/setup/token/"])
def test_a_form_that_is_not_utf_8_cannot_be_read(db: None, url: str, charset: str) -> None:
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.cookies["csrftoken"] = "a" * 32  # else the request is refused before it is read
    answer = browser.generic("POST", url, b"a=%00&b=%ff", f"{FORM}; charset={charset}")
    assert answer.status_code == 400
    assert "This request could not be read" in answer.text
    assert "default-src 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("body", [b"garbage", b"--x\r\ngarbage", b""])
@pytest.mark.parametrize("boundary", ["", "; boundary=", "; boundary=x"])
def test_a_broken_form_never_breaks_the_site(db: None, body: bytes, boundary: str) -> None:
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    answer = browser.generic("POST", "/accounts/login/", body, f"multipart/form-data{boundary}")
    assert answer.status_code in {400, 403}


def test_an_error_of_the_site_is_in_its_log(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> bool:
        raise RuntimeError("xyzzy")

    handlers = logging.getLogger("django.request").handlers
    (handler,) = [handler for handler in handlers if handler.name == "stderr"]
    written = StringIO()
    monkeypatch.setattr(cast("logging.StreamHandler[StringIO]", handler), "stream", written)
    monkeypatch.setattr(health, "worker_is_alive", fail)
    client.raise_request_exception = False
    answer = client.get("/healthz")
    assert answer.status_code == 500
    assert "The site made an error" in answer.text
    assert "Traceback" in written.getvalue()
    assert "RuntimeError: xyzzy" in written.getvalue()
