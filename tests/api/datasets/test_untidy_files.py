"""Untidy tables as multipart files: read as meant, told with the dataset, refused by their code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from scoring.engine import imports
from scoring.models import Case, Dataset, Upload
from tests.api.conftest import API, Api, codes
from tests.pages.uploads.test_untidy_uploads import NOTES, ONLY_RECORDS, UNTIDY
from tests.support.undone import undone
from tests.support.workbooks import FORMATTED_BOOK


@pytest.fixture(autouse=True)
def spool(settings: Any, tmp_path: Path) -> Path:
    """A spool of this test's own."""
    settings.SPOOL_DIR = tmp_path
    return tmp_path


def _post(api: Api, content: bytes, name: str = "may.csv", **fields: Any) -> Any:
    form = {"file": SimpleUploadedFile(name, content), "name": "May", **fields}
    return api.client.post(f"{API}datasets/", form, headers=api.headers)


def _load() -> dict[str, Any]:
    imports.import_upload(Upload.objects.get())
    return {case.key: case.input for case in Case.objects.all()}


def test_a_file_of_one_bad_record_has_its_code(
    alices: Api, spool: Path, subtests: pytest.Subtests
) -> None:
    for content, name, code in ONLY_RECORDS:
        with subtests.test(content=content, name=name, code=code), undone():
            answer = _post(alices, content, name)
            assert (answer.status_code // 100, answer.json()["code"]) == (4, code)
            assert not Dataset.objects.exists()
            assert not list(spool.iterdir())


def test_lines_are_skipped_and_what_was_left_out_is_told(alices: Api) -> None:
    answer = _post(alices, UNTIDY, skip_lines=2)
    assert answer.status_code == 202, answer.json()
    assert _load() == {"1": "a", "2": '5" pipe'}
    shown = alices.get(f"datasets/{answer.json()['id']}/").json()
    assert [note["message"] for note in shown["notes"]] == NOTES


def test_a_workbook_is_read_as_is_chosen(alices: Api) -> None:
    chosen = {"fill_merged": True, "skip_hidden": True, "as_shown": True}
    answer = _post(alices, FORMATTED_BOOK, "cells.xlsx", **chosen)
    assert answer.status_code == 202, answer.json()
    imports.import_upload(Upload.objects.get())
    assert [(case.expected, case.tags) for case in Case.objects.order_by("position")] == [
        ("01234", ["x"]),
        ("50%", ["x"]),
    ]
    shown = alices.get(f"datasets/{answer.json()['id']}/").json()
    assert shown["check"] == [
        "input ✓ input · expected ✓ expected · output ✗",
        "tags: one a case, in 2 of 2 cases",
    ]
    assert [note["code"] for note in shown["notes"]] == [
        "read_as_shown",
        "hidden_skipped",
        "merged_filled",
    ]


def test_a_delimiter_and_an_encoding_may_be_given(alices: Api) -> None:
    content = "id, input\n1, é\n".encode("cp1252")
    assert _post(alices, content, delimiter=",", encoding="cp1252").status_code == 202
    assert _load() == {"1": " é"}


def test_options_that_cannot_be_used_are_refused(alices: Api, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"skip_lines": -1}, 422, "min_value"),
        ({"skip_lines": 10_001}, 422, "max_value"),
        ({"skip_lines": "x"}, 400, "invalid"),
        ({"delimiter": '"'}, 422, "delimiter"),
        ({"encoding": "nope"}, 422, "encoding"),
    ]
    for fields, status, code in cases:
        with subtests.test(fields=fields, status=status, code=code), undone():
            answer = _post(alices, UNTIDY, **fields)
            assert (answer.status_code, codes(answer)[0][1]) == (status, code)
            assert not Upload.objects.exclude(state="cancelled").exists()
