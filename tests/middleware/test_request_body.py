"""A form is whole when as much came as was announced, and of several parts the last boundary."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.test import RequestFactory

from evalsite.middleware.request_body import BODY, is_cut_short, watch_body

PLAIN, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'


@pytest.mark.parametrize(
    ("kind", "body", "announced", "is_cut"),
    [
        (PLAIN, b"a=1", 3, False),
        (PLAIN, b"a=1", 4, True),
        (PLAIN, b"", 0, False),
        (PARTS, PART + b"\r\n--x--", None, False),
        (PARTS, PART + b"\r\n--x--\r\nan epilogue" + b"." * 900, None, False),
        (PARTS, PART + b"\r\n--x--", 1_000, True),
        (PARTS, PART + b"\r\n--x-", None, True),
        (PARTS, PART + b"\r\n--y--", None, True),
        ("application/json", b"{", 9, False),  # which is no form
    ],
)
def test_a_form_that_ended_too_early_is_noticed(
    rf: RequestFactory, kind: str, body: bytes, announced: int | None, is_cut: bool
) -> None:
    request = rf.generic("POST", "/", body, content_type=kind)
    request.META["CONTENT_LENGTH"] = str(len(body) if announced is None else announced)
    request._stream = BytesIO(body)  # type: ignore[assignment]
    watch_body(request)
    watched = request.META[BODY]
    while watched.read(7):
        pass
    assert watched.size == len(body)
    assert is_cut_short(request) == is_cut
