"""A form that is broken, cut short or too much has its code, and never fails the site."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from scoring.models import Dataset, Upload, User
from tests.api.conftest import API, Api
from tests.support.thoroughness import examples
from tests.support.undone import undone

KIND = "multipart/form-data; boundary=x"
PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
NAME = PART % (b"name", b"", b"Answers")
FILE = PART % (b"file", b'; filename="a.csv"\r\nContent-Type: text/csv', b"id,input\n1,a")
FORM = NAME + FILE + b"--x--\r\n"
LONG_HEAD = PART % (b"name", b'; filename="' + b"a" * 2_000 + b'"', b"id,input")
BASE64 = PART % (b"file", b'; filename="a.csv"\r\nContent-Transfer-Encoding: base64', b"abcde")


@pytest.fixture
def spool(tmp_path: Path, settings: Settings) -> Path:
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    return tmp_path


@pytest.fixture(params=["token", "session"])
def sender(request: pytest.FixtureRequest, alices: Api, alice: User) -> Api:
    """A program with a token, and a page's script with a session: theirs is read by Django."""
    if request.param == "session":
        alices.headers = {}
        alices.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        alices.client.force_login(alice)
        alices.client.get("/", follow=True)
        alices.headers = {"X-CSRFToken": alices.client.cookies["csrftoken"].value}
    return alices


def send(sender: Api, body: bytes, kind: str = KIND) -> Any:
    address = f"{API}datasets/"
    return sender.client.generic("POST", address, body, kind, headers=sender.headers)


def nothing_is_kept(spool: Path) -> bool:
    return not (list(spool.iterdir()) or Upload.objects.exists() or Dataset.objects.exists())


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        pytest.param(FORM, "multipart/form-data", 400, "broken_multipart", id="no boundary"),
        pytest.param(
            FORM, "multipart/form-data; boundary=", 400, "broken_multipart", id="empty boundary"
        ),
        pytest.param(
            FORM,
            "multipart/form-data; boundary=" + "x" * 300,
            415,
            "unsupported_media_type",
            id="long boundary",
        ),
        pytest.param(
            FORM, "multipart/form-data; boundary=y", 400, "broken_multipart", id="other boundary"
        ),
        pytest.param(
            FORM, "multipart/form-data; boundary=\xff", 400, "broken_multipart", id="odd boundary"
        ),
        pytest.param(b"no form at all", KIND, 400, "broken_multipart", id="no form"),
        pytest.param(FORM[:-6], KIND, 400, "broken_multipart", id="cut end"),
        pytest.param(FORM[:-20], KIND, 400, "broken_multipart", id="cut file"),
        pytest.param(NAME + BASE64 + b"--x--\r\n", KIND, 400, "broken_multipart", id="bad base64"),
        pytest.param(LONG_HEAD + b"--x--\r\n", KIND, 400, "header_too_large", id="long head"),
        pytest.param(FILE * 101 + b"--x--\r\n", KIND, 413, "too_many_files", id="many files"),
        pytest.param(NAME * 2_501 + b"--x--\r\n", KIND, 413, "too_many_fields", id="many fields"),
        pytest.param(
            PART % (b"name", b"", b"a" * 33 * 1024**2) + b"--x--\r\n",
            KIND,
            413,
            "too_large",
            id="long field",
        ),
        pytest.param(NAME + b"--x--\r\n", KIND, 400, "required", id="no file"),
        pytest.param(FILE + b"--x--\r\n", KIND, 400, "required", id="no name"),
        pytest.param(b"--x--\r\n", KIND, 400, "required", id="no part"),
    ],
)
def test_every_fault_has_its_code(
    sender: Api, spool: Path, body: bytes, kind: str, status: int, code: str
) -> None:
    answer = send(sender, body, kind)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert answer.json()["message"]
    assert nothing_is_kept(spool)


def test_a_form_that_ends_early_is_not_taken_for_a_whole_one(
    sender: Api, spool: Path, subtests: pytest.Subtests
) -> None:
    cases: list[int] = [3, 8, 20, 60, 120]
    for missing in cases:
        with subtests.test(missing=missing), undone():
            answer = send(sender, FORM[:-missing])
            assert (answer.status_code, answer.json()["code"]) == (400, "broken_multipart")
            assert nothing_is_kept(spool)


def test_a_file_over_the_limit_is_too_large_and_not_missing(
    sender: Api, spool: Path, settings: Settings
) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = 100
    large = PART % (b"file", b'; filename="a.csv"', b"id,input\n" + b"1,a\n" * 50)
    answer = send(sender, NAME + large + b"--x--\r\n")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert nothing_is_kept(spool)


def test_a_whole_form_is_taken(sender: Api, spool: Path) -> None:
    assert send(sender, FORM).status_code == 202


def test_damaged_forms_are_never_a_failure_of_the_site(alices: Api, spool: Path) -> None:
    chance = Random(11)
    for _ in range(examples(300)):
        body = bytearray(FORM)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(body))
            body[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        answer = send(alices, bytes(body))
        assert answer.status_code in {202, 400, 409, 413, 422}, bytes(body)
        assert answer.status_code == 202 or answer.json()["code"]
