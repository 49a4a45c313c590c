"""A disk that fills up while a page is asked for: told so, never an error of the site."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files import uploadedfile
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from scoring.models import Dataset, Upload
from tests.conftest import MakeDataset
from tests.no_room import FULL, needs_full
from tests.pages.upload_steps import html_of, send, sent, url_of

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
    monkeypatch.setattr("scoring.engine.loading.spool._copy", full)
    answer = send(browser)
    assert answer.status_code == 422
    assert "(disk_full)" in answer.content.decode()
    assert list(spool.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_page_that_finds_no_room_is_507(
    browser: Client, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = make_dataset([{"input": "a"}]).dataset
    monkeypatch.setattr("scoring.engine.drafts.copying.store", full)
    form = {"seed": "1", "name": "Part"}
    answer = browser.post(reverse("carve", args=[dataset.uuid]), form)
    assert (answer.status_code, Dataset.objects.count()) == (507, 1)


def test_any_other_fault_is_an_error_of_the_site(
    browser: Client, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OperationalError("disk I/O error")

    dataset = make_dataset([{"input": "a"}]).dataset
    monkeypatch.setattr("scoring.engine.drafts.copying.store", broken)
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
