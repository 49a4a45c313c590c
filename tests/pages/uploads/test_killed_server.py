"""Web processes are killed while a file comes in: it is there whole or not at all."""

from __future__ import annotations

import os
import signal
import socket
import time
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final
from urllib.request import urlopen

import pytest
from django.conf import settings as site_settings
from django.test import Client
from django.urls import reverse

from scoring.engine.imports import upload_storage
from scoring.models import Team, Upload, User
from tests.support.fixtures.sites import Site, port, site
from tests.support.thoroughness import KILLS
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["port", "site"]

ROWS: Final = b"id,input\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(200_000))
BOUNDARY: Final = "a-boundary-between-parts"
TOKEN: Final = "c" * 32
DAY: Final = 24 * 60 * 60


class Sender:
    """Sends the file in pieces, as a browser on a slow line does."""

    def __init__(self, port: int, user: User, team: Team) -> None:
        client = Client()
        client.force_login(user)
        parts = [
            part("kind", b"dataset"),
            part("dataset_name", b"Squares"),
            part('file"; filename="squares.csv', ROWS),
            f"--{BOUNDARY}--\r\n".encode(),
        ]
        self.port, self._body = port, b"".join(parts)
        self._head = (
            f"POST {reverse('new_upload', args=[team.slug])} HTTP/1.1\r\nHost: localhost\r\n"
            f"Cookie: sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}\r\n"
            f"X-CSRFToken: {TOKEN}\r\nConnection: close\r\nContent-Length: {len(self._body)}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n"
        )

    def begin(self, share: float = 1.0) -> socket.socket:
        """A connection on which so much of the body has been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), DEADLINE_SECONDS)
        connection.sendall(self._head.encode() + self._body[: int(share * len(self._body))])
        return connection


def part(name: str, content: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n"


def status_of(connection: socket.socket) -> int:
    with connection, connection.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@pytest.fixture
def spool(site: Site, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site's, which this process sees as its own."""
    folder = site.folder / "spool"
    monkeypatch.setattr(site_settings, "SPOOL_DIR", folder)
    return folder


@pytest.mark.kills
@pytest.mark.long("a site is started and its web processes are killed twice")
def test_a_killed_server_leaves_whole_uploads_or_none(
    site: Site, port: int, spool: Path, team: Team, alice: User, chance: Random
) -> None:
    secret = {"EVALSITE_SECRET_KEY": site_settings.SECRET_KEY}
    started = site.start("start", "--no-worker", "--port", str(port), **secret)
    sender = Sender(port, alice, team)
    wait_until(lambda: is_ready(port))
    for number in range(KILLS):
        # In the middle of the body, or at some moment after all of it was sent.
        share = chance.random() if number % 2 else 1.0
        with sender.begin(share):
            time.sleep(chance.random() * 0.1 if share == 1.0 else 0)
            old = kill_web_processes(started.pid)
        wait_until(lambda: web_processes(started.pid).isdisjoint(old))  # noqa: B023
        wait_until(lambda: is_ready(port))
        assert_uploads_are_whole(spool)
    before = Upload.objects.count()
    assert status_of(sender.begin()) == 302
    assert Upload.objects.count() == before + 1
    assert_uploads_are_whole(spool)
    assert "Traceback" not in site.log


def assert_uploads_are_whole(spool: Path) -> None:
    """The next sweep leaves the files of uploads alone."""
    yesterday = time.time() - DAY
    for path in spool.iterdir():
        os.utime(path, (yesterday, yesterday))
    upload_storage.delete_unused_files()
    uploads = {upload.stored_name for upload in Upload.objects.all()}
    assert {path.name for path in spool.iterdir()} == uploads
    digests = {sha256((spool / name).read_bytes()).digest() for name in uploads}
    assert digests <= {sha256(ROWS).digest()}


def kill_web_processes(starter: int) -> set[int]:
    """Kill those there are, which gunicorn replaces."""
    found = web_processes(starter)
    assert found
    for process in found:
        os.kill(process, signal.SIGKILL)
    return found


def web_processes(starter: int) -> set[int]:
    """The children of gunicorn, which is the only child of a site without a worker."""
    return {child for server in children(starter) for child in children(server)}


def children(process: int) -> set[int]:
    paths = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for path in paths for child in path.read_text().split()}


def is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=DEADLINE_SECONDS) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
