"""`manage.py start` as a person runs it: one command, and nothing left behind however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from evalsite import env
from scoring.management.commands import start
from scoring.models import User, Worker
from tests.support.fixtures.sites import Site, port
from tests.support.private_server import free_port
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["port"]


def descendants(pid: int) -> set[int]:
    """The process and everything it started, by /proc."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    def is_running(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return {pid for pid in pids if is_running(pid)}


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/healthz", timeout=DEADLINE_SECONDS
        ) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def seconds_of_answers(port: int) -> float:
    """How long ten requests take, one after the other."""
    began = time.monotonic()
    assert all(answers(port) for _ in range(10))
    return time.monotonic() - began


def connections_read(port: int) -> int:
    """How many connections the server has accepted and read all that was sent on."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    established = [row for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"]
    return sum(row[4].endswith(":00000000") and row[9] != "0" for row in established)


def up(port: int) -> bool:
    return Worker.objects.exists() and answers(port)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One site in a fresh folder, at work for all tests that leave it at work."""
    made = Running(tmp_path_factory.mktemp("site"), free_port())
    wait_until(lambda: made.worker and answers(made.port))
    yield made
    made.end()


class Running(Site):
    """A site of its own folder and port."""

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder)
        self.port = port
        self.process = self.start("start", "--port", str(port))

    @property
    def worker(self) -> str:
        """The name of the worker seen last, or nothing while there is none."""
        with suppress(sqlite3.OperationalError), closing(self._database()) as database:
            found = database.execute("SELECT name FROM scoring_worker ORDER BY seen_at DESC")
            return str((found.fetchone() or [""])[0])
        return ""

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.folder / 'evalsite.sqlite3'}?mode=ro", uri=True)


def test_a_fresh_folder_gets_its_database(shared: Running) -> None:
    assert shared.log.count(f"Setting up the database in {shared.folder}") == 1
    assert (shared.folder / "evalsite.sqlite3").exists()


def test_a_fresh_site_prints_a_link_that_works(shared: Running) -> None:
    (link,) = re.findall(r"(http://localhost:\d+/setup/\S+/)", shared.log)
    with urllib.request.urlopen(link, timeout=DEADLINE_SECONDS) as reply:
        assert reply.status == 200


def test_an_address_beyond_this_machine_is_warned_of(site: Site) -> None:
    site.start("start", "--host", "0.0.0.0", "--port", "0")
    wait_until(lambda: "Ctrl-C stops it" in site.log)
    assert "Warning: 0.0.0.0 can be reached from other machines" in site.log


def test_the_web_server_alone_leaves_the_worker_to_others(site: Site, port: int) -> None:
    def status(path: str) -> int:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}{path}"):
            return 200
        return 0

    web = site.start("start", "--no-worker", "--port", str(port))
    wait_until(lambda: status("/readyz") == 200)
    assert status("/healthz") == 0
    site.start("worker")  # in the same folder
    wait_until(lambda: status("/healthz") == 200)
    web.send_signal(signal.SIGTERM)
    assert web.wait(DEADLINE_SECONDS) == 0
    assert Worker.objects.exists()


def test_the_worker_runs_at_a_lower_priority_than_the_pages(shared: Running) -> None:
    worker = int(shared.worker.rpartition(":")[2])
    family = descendants(shared.process.pid)
    nice = {pid: os.getpriority(os.PRIO_PROCESS, pid) for pid in family}
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert nice.pop(worker) == min(own + 10, 19)
    assert own in nice.values()


def test_connections_that_drip_or_say_nothing_hold_up_nobody(shared: Running) -> None:
    """More of them than there are threads."""
    port = shared.port
    head = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n"
    starts = [b"", b"GET / HTT", head, head + b"\r\nlogin="] * 10
    undisturbed = seconds_of_answers(port)
    with ExitStack() as opened:
        for start in starts:
            sender = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            sender.sendall(start)
        wait_until(lambda: connections_read(port) >= len(starts))
        assert seconds_of_answers(port) < max(4, 10 * undisturbed)


@pytest.mark.long("a site is killed, started again and stopped")
def test_killed_or_stopped_it_leaves_nothing_running_and_keeps_what_it_has(
    site: Site, port: int
) -> None:
    process = site.start("start", "--port", str(port))
    wait_until(lambda: up(port))
    family = descendants(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not alive(family))
    assert f"http://localhost:{port}/setup/" in site.log

    User.objects.create_user("alice@example.org", "a long enough phrase")
    again = site.start("start", "--port", str(port))
    wait_until(lambda: answers(port))
    assert f"Sign in at http://localhost:{port}/" in site.log
    assert site.log.count("/setup/") == 1
    assert "Setting up the database" not in site.log
    # it, the worker, gunicorn and its two processes: the second may still be starting
    wait_until(lambda: len(descendants(again.pid)) >= 5)
    family = descendants(again.pid)
    again.send_signal(signal.SIGINT)  # as Ctrl-C does
    assert again.wait(DEADLINE_SECONDS) == 0
    wait_until(lambda: not alive(family))
    assert "Traceback" not in site.log


def test_a_busy_port_is_named_and_nothing_starts(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = site.start("start", "--port", str(port))
        assert process.wait(DEADLINE_SECONDS) == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in site.log
    assert "choose another with --port" in site.log
    assert not Worker.objects.exists()


def test_a_worker_that_dies_is_started_again(shared: Running) -> None:
    first = shared.worker
    os.kill(int(first.rpartition(":")[2]), signal.SIGKILL)
    wait_until(lambda: shared.worker not in {"", first})
    assert answers(shared.port)


@pytest.mark.long("the demo is loaded into a new database")
def test_the_demo_does_not_wait_for_embeddings(fresh_site: Site, port: int, minilm: str) -> None:
    fresh_site.start("start", "--demo", "--port", str(port))
    wait_until(lambda: answers(port))
    assert "24 scored runs; the worker scores 12 more" in fresh_site.log


def test_a_second_site_on_the_same_folder_is_refused(
    shared: Running, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = shared.folder
    monkeypatch.setattr(start, "ENDING_SECONDS", 0.0)  # the other is not about to end
    text = f"another site or worker runs on {shared.folder}; stop it first"
    with pytest.raises(CommandError, match=re.escape(text)) as caught:
        call_command("start", "--port", "0")
    assert caught.value.returncode == 2
    assert answers(shared.port)


@pytest.mark.sqlite
def test_a_broken_database_is_one_line(fresh_site: Site) -> None:
    (fresh_site.folder / "evalsite.sqlite3").write_text("no database at all, but long enough")
    assert fresh_site.start("start", "--port", "0").wait(DEADLINE_SECONDS) == 2
    assert "the database cannot be used" in fresh_site.log
    assert "Traceback" not in fresh_site.log


def test_a_folder_that_cannot_be_made_is_one_line(fresh_site: Site) -> None:
    (fresh_site.folder / "file").touch()
    folder = str(fresh_site.folder / "file" / "data")
    assert fresh_site.start("start", EVALSITE_DATA_DIR=folder).wait(DEADLINE_SECONDS) == 1
    assert f"EVALSITE_DATA_DIR: the folder {folder} cannot be made" in fresh_site.log
    assert "Traceback" not in fresh_site.log


def test_an_empty_folder_name_means_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It must not scatter the site's files over whatever folder the command was called from."""
    monkeypatch.setenv("A_FOLDER", "")
    assert env.read_folder("A_FOLDER", tmp_path / "var") == tmp_path / "var"


def test_a_number_of_proxies_is_refused_where_anybody_could_name_an_address(
    settings: Settings,
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 1
    with pytest.raises(CommandError, match="list the addresses of the proxies instead") as fault:
        call_command("start", host="0.0.0.0", port=0)
    assert fault.value.returncode == 2


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({}, ""),
        ({"EVALSITE_URL": "https://a.example.org"}, "https://a.example.org"),
        ({"SECURE_SSL_REDIRECT": True}, ""),
        (
            {
                "SECURE_SSL_REDIRECT": True,
                "CSRF_TRUSTED_ORIGINS": ["https://*.b.org", "https://b.org/"],
            },
            "https://b.org",
        ),
        ({"CSRF_TRUSTED_ORIGINS": ["https://b.org"]}, ""),
    ],
)
def test_the_set_up_link_leads_through_the_proxy(
    settings: Settings, given: dict[str, Any], url: str
) -> None:
    settings.EVALSITE_URL, settings.CSRF_TRUSTED_ORIGINS = "", []
    for name, value in given.items():
        setattr(settings, name, value)
    assert start._site_url() == url
