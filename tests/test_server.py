"""Senders that stall or go away, over a real socket and through the web server's own loop."""

from __future__ import annotations

import re
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from django.urls import reverse
from waitress import wasyncore

from evalsite import server
from scoring.models import Upload
from tests.pages.conftest import browser, spool
from tests.support.waiting import DEADLINE_SECONDS

__all__ = ["browser", "spool"]

START: Final = b'--x\r\nContent-Disposition: form-data; name="%s"'
ROWS: Final = b"id,input\n" + b"1,a\n" * 40_000
HEAD: Final = (
    "POST {} HTTP/1.1\r\nHost: testserver\r\nConnection: close\r\nCookie: {}\r\n"
    "Content-Type: {}\r\n{}"
)

Send = Callable[..., str]


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that gives slow senders up at once."""
    for name in ("WINDOW_SECONDS", "HEAD_SECONDS", "IDLE_SECONDS"):
        monkeypatch.setattr(server, name, 0.05)


class OwnThread:
    """Runs requests in the test's thread, which sees what the test has stored."""

    def __init__(self) -> None:
        self._tasks: deque[Any] = deque()

    def add_task(self, task: Any) -> None:
        self._tasks.append(task)

    def run(self) -> None:
        while self._tasks:
            self._tasks.popleft().service()


@pytest.fixture
def answer_to(monkeypatch: pytest.MonkeyPatch) -> Send:
    """Sends these bytes over a socket, and nothing after them; returns the answer.

    With `leaves` the sender ends its side of the connection.
    """
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())  # the server sets its own

    def sent(content: bytes, *, leaves: bool = False) -> str:
        with socket.create_server(("127.0.0.1", 0)) as listener, _one_connection():
            channels: dict[int, Any] = {}
            tasks = OwnThread()
            web = server.serve(WSGIHandler(), listener, channels, tasks)
            web.adj.cleanup_interval = 0  # deadlines are looked at in every turn of the loop
            with closing(web), socket.create_connection(listener.getsockname()) as sender:
                sender.sendall(content)
                if leaves:
                    sender.shutdown(socket.SHUT_WR)
                sender.settimeout(0.001)
                return _answer(sender, channels, tasks)

    return sent


def _answer(sender: socket.socket, channels: dict[int, Any], tasks: OwnThread) -> str:
    answer, end = b"", time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        wasyncore.loop(timeout=0.02, use_poll=True, map=channels, count=1)
        tasks.run()
        try:
            if not (part := sender.recv(65_536)):
                return answer.decode()
        except TimeoutError:
            continue
        answer += part
    raise AssertionError("the connection was never closed")


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


@pytest.mark.usefixtures("impatience")
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
    assert answer_to(form(browser), leaves=True) == ""
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_form_that_comes_whole_is_taken(browser: Client, answer_to: Send) -> None:
    end = b"\r\n--x--\r\n"
    whole = form(browser, extra=end)
    head, _, body = whole.partition(b"\r\n\r\n")
    told = head.replace(b"9000000", str(len(body)).encode())
    answer = answer_to(told + b"\r\n\r\n" + body)
    assert answer.startswith("HTTP/1.1 302 ")
    assert Upload.objects.get().size_bytes == len(ROWS)


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_any_form_that_stalls_is_told_so(db: None, answer_to: Send, kind: str) -> None:
    head = HEAD.format(
        "/accounts/login/", "csrftoken=" + "a" * 32, kind, "Content-Length: 900\r\n\r\n"
    )
    answer = answer_to(head.encode() + b"login=a")
    assert answer.startswith("HTTP/1.1 408 ")


@pytest.mark.usefixtures("impatience")
def test_a_body_of_the_api_that_stalls_is_told_so(browser: Client, answer_to: Send) -> None:
    form(browser)  # sets the cookie that the check wants
    token = browser.cookies["csrftoken"].value
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    more = f"X-CSRFToken: {token}\r\nContent-Length: 900\r\n\r\n"
    head = HEAD.format("/api/v1/score/", cookies, "application/json", more)
    answer = answer_to(head.encode() + b'{"a":')
    assert answer.startswith("HTTP/1.1 408 ")
    assert '"code":"stalled"' in answer


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("start", [b"", b"G", b"GET / HTTP/1.1\r\nHost: a\r\nX: "])
def test_a_connection_whose_head_does_not_come_is_closed(answer_to: Send, start: bytes) -> None:
    assert answer_to(start) == ""


def test_a_minute_is_given_to_480_kib_of_a_body() -> None:
    assert (server.WINDOW_SECONDS, server.WINDOW_BYTES) == (60, 480 * 1024)


def test_a_body_that_finds_no_room_is_answered_once_it_has_come(
    browser: Client, spool: Path, answer_to: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("waitress.buffers.TempfileBasedBuffer.newfile", full)
    whole = form(browser, rows=ROWS * 10, extra=b"\r\n--x--\r\n")
    head, _, body = whole.partition(b"\r\n\r\n")
    told = head.replace(b"9000000", str(len(body)).encode())
    answer = answer_to(told + b"\r\n\r\n" + body)
    assert answer.startswith("HTTP/1.1 507 ")
    assert "<code>disk_full</code>" in answer
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_one_large_body_too_many_is_told_to_wait(
    browser: Client, spool: Path, answer_to: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LARGE_BODY_BYTES", 100_000)
    monkeypatch.setattr(server, "MAX_LARGE_BODIES", 0)
    whole = form(browser, extra=b"\r\n--x--\r\n")
    head, _, body = whole.partition(b"\r\n\r\n")
    told = head.replace(b"9000000", str(len(body)).encode())
    answer = answer_to(told + b"\r\n\r\n" + body)
    assert answer.startswith("HTTP/1.1 503 ")
    assert "Retry-After: " in answer
    assert "<code>busy</code>" in answer
    assert not Upload.objects.exists()
