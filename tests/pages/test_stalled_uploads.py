"""Senders that stall or go away, over a real socket and through gunicorn's own parser."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from django.urls import reverse
from gunicorn.config import Config
from gunicorn.http import RequestParser, wsgi

from evalsite import gunicorn_conf
from scoring.models import Upload

START: Final = b'--x\r\nContent-Disposition: form-data; name="%s"'
ROWS: Final = b"id,input\n" + b"1,a\n" * 40_000
HEAD: Final = "POST {} HTTP/1.1\r\nHost: testserver\r\nCookie: {}\r\nContent-Type: {}\r\n{}"

Send = Callable[..., str]


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that gives stalled senders up after a second."""
    monkeypatch.setattr(gunicorn_conf, "STALLED_SECONDS", 1)


@pytest.fixture
def answer_to(patience: None) -> Send:
    """Sends these bytes over a socket, and nothing after them; returns the answer.

    With `leaves` the sender ends its side of the connection.
    """

    def sent(content: bytes, *, leaves: bool = False) -> str:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            gunicorn_conf.when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=listener)]))
            with socket.create_connection(listener.getsockname()) as sender:
                sender.sendall(content)
                if leaves:
                    sender.shutdown(socket.SHUT_WR)
                accepted, address = listener.accept()
                with accepted, _one_connection():
                    _serve(accepted, address)
                with sender.makefile("rb") as received:
                    return received.read().decode()

    return sent


@contextmanager
def _one_connection() -> Iterator[None]:
    """A request that leaves the test's connection to the database open."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def _serve(accepted: socket.socket, address: tuple[str, int]) -> None:
    """What gunicorn's workers do with a connection."""
    cfg = Config()
    request = next(RequestParser(cfg, accepted, address))
    response, environ = wsgi.create(request, accepted, address, accepted.getsockname(), cfg)
    body = WSGIHandler()(environ, response.start_response)
    for part in body:
        response.write(part)
    response.close()
    getattr(body, "close", lambda: None)()


def form(
    browser: Client, *, told: int = 9_000_000, rows: bytes = ROWS, extra: bytes = b""
) -> bytes:
    """The beginning of an upload: every field, and a file that has begun."""
    url = reverse("new_upload", args=["support"])
    page = browser.get(url).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    length = f"Content-Length: {told}\r\n\r\n"
    head = HEAD.format(url, cookies, "multipart/form-data; boundary=x", length).encode()
    fields = b"".join(
        START % name + b"\r\n\r\n" + value + b"\r\n"
        for name, value in ((b"csrfmiddlewaretoken", token[1].encode()), (b"kind", b"dataset"))
    )
    file = START % b"file" + b'; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
    return head + fields + file + rows + extra


def test_a_sender_that_stalls_is_told_408_and_nothing_is_left(
    browser: Client, spool: Path, answer_to: Send
) -> None:
    answer = answer_to(form(browser))
    assert answer.startswith("HTTP/1.1 408 ")
    assert "<code>stalled</code>" in answer
    assert "nothing of it was stored" in answer
    assert "Content-Security-Policy: " in answer
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_sender_that_goes_away_leaves_no_half_file(
    browser: Client, spool: Path, answer_to: Send
) -> None:
    answer = answer_to(form(browser), leaves=True)
    assert answer.startswith("HTTP/1.1 400 ")
    assert "<code>broken_multipart</code>" in answer
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


@pytest.mark.parametrize("told", [20, 60, 100, 130, 300, 90_000, 400_140])
def test_a_length_that_announces_less_than_comes_leaves_no_half_file(
    browser: Client, spool: Path, told: int
) -> None:
    """Of what comes, no more is read than was announced: a part of the file."""
    fields = START % b"kind" + b"\r\n\r\ndataset\r\n"
    file = START % b"file" + b'; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
    body = fields + file + b"id,input\n" + b"3,c\n" * 100_000 + b"\r\n--x--\r\n"
    answer = browser.generic(
        *("POST", reverse("new_upload", args=["support"]), body),
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH=str(told),
    )
    assert answer.status_code == 400
    assert "This request ended too early" in answer.text
    assert "<code>broken_multipart</code>" in answer.text
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


@pytest.mark.parametrize("cut", [1, 2, 5, 30, 60, 80, 100])
def test_a_form_whose_sender_goes_away_within_it_is_told_so(
    browser: Client, spool: Path, answer_to: Send, cut: int
) -> None:
    """Wherever it ends: within the last boundary, the file, a field or the head of a part."""
    whole = form(browser, rows=b"1,a", extra=b"\r\n--x--")
    answer = answer_to(whole[:-cut], leaves=True)
    assert answer.startswith("HTTP/1.1 400 ")
    assert "This request ended too early" in answer
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_plain_form_of_which_a_part_is_missing_changes_nothing(
    browser: Client, answer_to: Send
) -> None:
    """Cut within a field, it would pass for a whole form with a shorter text."""
    form(browser)
    token = browser.cookies["csrftoken"].value
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    body = f"csrfmiddlewaretoken={token}&kind=dataset&dataset_name=A&pasted=id,input%0A1,a".encode()
    length = f"Content-Length: {len(body) + 9}\r\n\r\n"
    url = reverse("new_upload", args=["support"])
    head = HEAD.format(url, cookies, "application/x-www-form-urlencoded", length)
    answer = answer_to(head.encode() + body, leaves=True)
    assert answer.startswith("HTTP/1.1 400 ")
    assert "This request ended too early" in answer
    assert not Upload.objects.exists()


def test_a_form_without_any_field_is_no_question_for_one(browser: Client) -> None:
    answer = browser.post(reverse("new_upload", args=["support"]))
    assert answer.status_code == 422
    assert "Choose a file, or paste rows." in answer.text


def test_what_follows_the_last_boundary_is_no_matter(browser: Client) -> None:
    fields = (
        START % b"kind" + b"\r\n\r\ndataset\r\n" + START % b"pasted" + b"\r\n\r\nid,input\r\n1,a"
    )
    answer = browser.post(
        reverse("new_upload", args=["support"]),
        fields + b"\r\n--x--\r\nan epilogue\r\n",
        content_type="multipart/form-data; boundary=x",
    )
    assert answer.status_code == 302


def test_a_form_that_comes_whole_is_taken(browser: Client, answer_to: Send) -> None:
    end = b"\r\n--x--\r\n"
    whole = form(browser, extra=end)
    head, _, body = whole.partition(b"\r\n\r\n")
    told = head.replace(b"9000000", str(len(body)).encode())
    answer = answer_to(told + b"\r\n\r\n" + body)
    assert answer.startswith("HTTP/1.1 302 ")
    assert Upload.objects.get().size_bytes == len(ROWS)


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_any_form_that_stalls_is_told_so(db: None, answer_to: Send, kind: str) -> None:
    head = HEAD.format(
        "/accounts/login/", "csrftoken=" + "a" * 32, kind, "Content-Length: 900\r\n\r\n"
    )
    answer = answer_to(head.encode() + b"login=a")
    assert answer.startswith("HTTP/1.1 408 ")


def test_a_body_of_the_api_that_stalls_is_told_so(browser: Client, answer_to: Send) -> None:
    form(browser)  # sets the cookie that the check wants
    token = browser.cookies["csrftoken"].value
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    more = f"X-CSRFToken: {token}\r\nContent-Length: 900\r\n\r\n"
    head = HEAD.format("/api/v1/score/", cookies, "application/json", more)
    answer = answer_to(head.encode() + b'{"a":')
    assert answer.startswith("HTTP/1.1 408 ")
    assert '"code":"stalled"' in answer


def test_a_sender_that_stalls_is_given_up_after_a_minute() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gunicorn_conf.when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=listener)]))
        with (
            socket.create_connection(listener.getsockname()),
            listener.accept()[0] as accepted,
        ):
            option = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16)
    assert struct.unpack("ll", option)[0] == gunicorn_conf.STALLED_SECONDS == 60
