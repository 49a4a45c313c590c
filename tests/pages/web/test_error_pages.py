"""Requests that cannot be answered: unreadable forms, a locked database, a full disk."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.files import uploadedfile
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from evalsite.pages.operations import health
from evalsite.pages.web import error_pages
from scoring.engine.tryout import tryout
from scoring.models import Dataset, Member, Scorer, Team, Upload, User
from tests.conftest import MakeDataset
from tests.pages.uploads.steps import html_of, send, sent, url_of
from tests.support.full_disk import FULL, needs_full

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
    monkeypatch.setattr(health, "live_queues", fail)
    client.raise_request_exception = False
    answer = client.get("/healthz")
    assert answer.status_code == 500
    assert "The site made an error" in answer.text
    assert "Traceback" in written.getvalue()
    assert "RuntimeError: xyzzy" in written.getvalue()


# A locked database


@pytest.fixture
def locked(transactional_db: None, browser: Client) -> Iterator[None]:
    """Another connection holds a write transaction for longer than anybody here waits."""
    connection.cursor().execute("PRAGMA busy_timeout = 100")
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.rollback()
    other.close()
    connection.close()


@pytest.mark.sqlite
def test_a_form_is_answered_503_while_the_database_is_locked(
    browser: Client, locked: None, team: Team
) -> None:
    url = reverse("new_scorer", args=[team.slug, "exact_match"])
    answer = browser.post(url, {"name": "Exact", "threshold": "1"})
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert "The site is busy" in answer.text
    assert "<code>busy</code>" in answer.text
    assert not Scorer.objects.filter(name="Exact").exists()
    assert browser.get(reverse("runs", args=[team.slug])).status_code == 200


@pytest.mark.sqlite
def test_a_page_whose_session_cannot_be_stored_is_503(
    browser: Client, locked: None, team: Team
) -> None:
    """Django takes it for a session that was deleted, and would answer 400."""
    assert browser.get(reverse("team_home", args=[team.slug])).status_code == 503


def test_a_fault_of_the_middleware_is_told_as_well() -> None:
    """As where the session cannot be stored; any other stays an error of the site."""
    request = RequestFactory().get("/")
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorname = "SQLITE_BUSY"
    for sqlite_fault, status in ((cause, 503), (sqlite3.OperationalError("no such table"), 500)):
        try:
            raise OperationalError("…") from sqlite_fault
        except OperationalError:
            assert error_pages.internal_error(request).status_code == status


def test_a_database_out_of_reach_says_that_a_change_may_have_been_stored() -> None:
    fault = OperationalError("connection refused")
    fault.__cause__ = psycopg.OperationalError("connection refused")
    answer = error_pages.StorageFaultMiddleware(HttpResponse).process_exception(
        RequestFactory().get("/"), fault
    )
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "<h1>The database cannot be reached</h1>" in answer.text
    assert "see first whether it has been stored" in answer.text
    assert "<code>database_unreachable</code>" in answer.text


def test_a_try_beside_ones_own_is_answered_503(browser: Client, team: Team) -> None:
    me = Member.objects.get(user__email="erin@example.org").user
    url = reverse("new_scorer", args=[team.slug, "exact_match"])
    form = {"try": "typed", "try-output": "a", "try-expected": "a", "threshold": "1"}
    headers = {"HX-Request": "true", "HX-Target": "tried"}
    with tryout._queue.turn(me.pk):
        answer = browser.post(url, form, headers=headers)
    assert (answer.status_code, answer["Retry-After"]) == (503, "3")
    assert browser.post(url, form, headers=headers).status_code == 200


# A full disk


SAID = "There is no room left on the site's disk, so nothing was stored."


@needs_full
@pytest.mark.parametrize("size", [3, 100, 400_000])
def test_a_file_that_finds_no_room_on_its_way_is_answered_507(
    browser: Client, spool: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """While it is written, or not before it is closed."""
    named = uploadedfile.tempfile.NamedTemporaryFile  # type: ignore[attr-defined]
    monkeypatch.setattr(uploadedfile.tempfile, "NamedTemporaryFile", full_of(named))  # type: ignore[attr-defined]
    answer = send(browser, b"id,input\n" + b"1,a\n" * size)
    assert answer.status_code == 507
    assert SAID in answer.content.decode().replace("&#x27;", "'")
    assert "<code>disk_full</code>" in answer.content.decode()
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def full_of(named: Any) -> Any:
    def opened(*args: Any, **how: Any) -> Any:
        file = named(*args, **how)
        os.dup2(os.open(FULL, os.O_WRONLY), file.fileno())
        return file

    return opened


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_that_cannot_be_kept_comes_back_with_the_form(
    browser: Client, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.imports.upload_storage._copy", full)
    answer = send(browser)
    assert answer.status_code == 422
    assert "(disk_full)" in answer.content.decode()
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_page_that_finds_no_room_is_507(
    browser: Client, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = make_dataset([{"input": "a"}]).dataset
    monkeypatch.setattr("scoring.engine.drafts.case_copy.store_copies", full)
    form = {"seed": "1", "name": "Part"}
    answer = browser.post(reverse("carve", args=[dataset.uuid]), form)
    assert (answer.status_code, Dataset.objects.count()) == (507, 1)


def test_any_other_fault_is_an_error_of_the_site(
    browser: Client, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OperationalError("disk I/O error")

    dataset = make_dataset([{"input": "a"}]).dataset
    monkeypatch.setattr("scoring.engine.drafts.case_copy.store_copies", broken)
    browser.raise_request_exception = False
    form = {"seed": "1", "name": "Part"}
    assert browser.post(reverse("carve", args=[dataset.uuid]), form).status_code == 500


@pytest.mark.parametrize(("state", "is_readable"), [("failed", True), ("checked", False)])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("disk_full", "for a reason that lies not in it"),
        ("row_width", "Correct it and upload it again"),
    ],
)
def test_only_a_file_that_is_at_fault_is_to_be_corrected(
    browser: Client, state: str, is_readable: bool, code: str, said: str
) -> None:
    upload = sent(browser)
    problem = {"line": None, "column": None, "code": code, "message": "Told."}
    upload.state, upload.problems, upload.problem_count = state, [problem], 1
    upload.report = {"is_readable": is_readable, "rows": 0, "cases": 0, "outputs": {}}
    upload.save()
    page = html_of(browser, upload)
    assert ("Correct it and upload it again" in page) is (code == "row_width")
    assert (said in page) is (state == "checked" or code == "row_width")
    assert browser.get(url_of(upload)).status_code == 200


class TestFullDisk:
    @pytest.fixture(autouse=True)
    def released(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """The disk is full; how often the room kept aside was given up."""
        calls: list[bool] = []
        monkeypatch.setattr("scoring.engine.processes.disk_space._free_bytes", lambda: 0)
        monkeypatch.setattr(error_pages, "release_reserve", lambda: calls.append(True))
        return calls

    def test_pages_are_read_and_say_so(self, alices: Client, team: Team) -> None:
        page = alices.get(f"/teams/{team.slug}/")
        assert page.status_code == 200
        assert "no room on the site&#x27;s disk" in page.text

    def test_nothing_is_stored(self, alices: Client, team: Team) -> None:
        answer = alices.post(f"/teams/{team.slug}/datasets/upload/", {"pasted": "id,input"})
        assert answer.status_code == 507
        assert "The disk is full" in answer.text
        assert not Upload.objects.exists()

    def test_the_api_says_so_in_its_own_way(self, alices: Client) -> None:
        answer = alices.post("/api/v1/datasets/", {"name": "A", "cases": []}, "application/json")
        assert (answer.status_code, answer.json()["code"]) == (507, "disk_full")
        assert alices.get("/api/v1/runs/").status_code == 200

    def test_what_is_only_computed_is_answered(self, alices: Client) -> None:
        body = {"scorer": {"type": "exact_match"}, "cases": [{"output": "x", "expected": "x"}]}
        assert alices.post("/api/v1/score/", body, "application/json").status_code == 200

    def test_people_sign_out_and_in_with_the_room_kept_aside(
        self, alices: Client, alice: User, released: list[bool]
    ) -> None:
        assert alices.post("/accounts/logout/").status_code == 302
        assert alices.get("/", follow=True).request["PATH_INFO"] == "/accounts/login/"
        alice.set_password("korrekt-horse-9")
        alice.save()
        known = {"login": alice.email, "password": "korrekt-horse-9"}
        assert alices.post("/accounts/login/", known).status_code == 302
        assert released == [True, True]


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_session_is_lost_with_the_connection_or_deleted(
    monkeypatch: pytest.MonkeyPatch, is_lost: bool
) -> None:
    """Django raises the same for both."""

    def save(_: SessionStore, **__: object) -> None:
        fault = OperationalError("…")
        fault.__cause__ = psycopg.OperationalError("connection refused") if is_lost else None
        try:
            raise fault
        except OperationalError:
            raise UpdateError from fault

    def touch(request: HttpRequest) -> HttpResponse:
        request.session["seen"] = True
        return HttpResponse()

    monkeypatch.setattr(SessionStore, "save", save)
    answer = error_pages.StoredSessions(touch)
    if is_lost:
        assert answer(RequestFactory().get("/")).status_code == 503
    else:
        with pytest.raises(SessionInterrupted):
            answer(RequestFactory().get("/"))
