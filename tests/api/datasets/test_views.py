"""Datasets come in as JSON or as a file, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from scoring.engine import imports
from scoring.models import AuditEntry, Case, Dataset, DatasetVersion, Upload, UploadState
from tests.api.conftest import API, Api, codes
from tests.support.undone import undone

CONTRACT: dict[str, Any] = {
    "name": "Support answers",
    "cases": [
        {
            "key": "q1",
            "input": "…",
            "expected": "…",
            "references": [],
            "tags": ["billing"],
            "metadata": {},
        }
    ],
}
CSV = "id,question,answer\nq1,What?,This\nq2,Why?,That\n"


@pytest.fixture(autouse=True)
def spool(settings: Any, tmp_path: Path) -> Path:
    """A spool of this test's own."""
    settings.SPOOL_DIR = tmp_path
    return tmp_path


def with_cases(*cases: Any) -> dict[str, Any]:
    return CONTRACT | {"cases": list(cases)}


def send_file(api: Api, text: str | bytes = CSV, **fields: Any) -> Any:
    content = text.encode() if isinstance(text, str) else text
    form = {"file": SimpleUploadedFile("qa.csv", content), "name": "From a file", **fields}
    return api.client.post(f"{API}datasets/", form, headers=api.headers)


def test_a_file_that_cannot_be_kept_may_be_sent_again(
    alices: Api, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "shared").touch()  # not a folder
    backend = "django.core.files.storage.FileSystemStorage"
    storage = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path / "shared")}}
    settings.STORAGES = {**settings.STORAGES, "uploads": storage}
    response = send_file(alices)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["code"] == "storage_unreachable"
    assert not Upload.objects.exists()


def work(state: str = UploadState.DONE) -> None:
    """Do the worker's part of the only upload."""
    upload = Upload.objects.get()
    imports.import_upload(upload)
    upload.refresh_from_db()
    assert upload.state == state, upload.problems


def test_the_contracts_example_comes_out_as_written(alices: Api) -> None:
    response = alices.post("datasets/", CONTRACT)
    assert response.status_code == 201
    made = response.json()
    assert made == {
        "id": made["id"],
        "name": "Support answers",
        "version": 1,
        "case_count": 1,
        "state": "ready",
    }
    assert alices.get(f"datasets/{made['id']}/").json() == made
    assert alices.get("datasets/").json()["results"] == [made]
    assert AuditEntry.objects.get(action="dataset.created").actor


def test_a_bad_body_is_refused_and_nothing_is_stored(
    alices: Api, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({}, 400, [("cases", "required"), ("name", "required")]),
        (with_cases(), 422, [("cases", "empty")]),
        (CONTRACT | {"name": ""}, 422, [("name", "blank")]),
        (CONTRACT | {"suite": 1}, 400, [("suite", "unknown_field")]),
        (with_cases({}), 400, [("cases[0].input", "required")]),
        (
            with_cases({"input": 1}, {"inputs": 1, "input": 2}),
            400,
            [("cases[1].inputs", "unknown_field")],
        ),
        (with_cases({"key": 7, "input": 1}), 400, [("cases[0].key", "invalid")]),
        (with_cases({"key": "k" * 201, "input": 1}), 422, [("cases[0].key", "max_length")]),
        (with_cases({"key": "", "input": 1}), 422, [("cases[0].key", "blank")]),
        (with_cases({"key": " ", "input": 1}), 422, [("cases[0].key", "missing_id")]),
        (
            with_cases({"key": "a", "input": 1}, {"key": "a", "input": 2}),
            422,
            [("cases[1].key", "duplicate_case")],
        ),
        (with_cases({"input": 1, "tags": "x"}), 400, [("cases[0].tags", "not_a_list")]),
        (with_cases({"input": 1, "references": [None]}), 400, [("cases[0].references[0]", "null")]),
        (with_cases({"input": 1, "metadata": [1]}), 400, [("cases[0].metadata", "invalid")]),
        (with_cases(*[{"input": 1}] * 10_001), 413, [("cases", "too_many_rows")]),
    ]
    for body, status, errors in cases:
        with subtests.test(body=body, status=status, errors=errors), undone():
            response = alices.post("datasets/", body)
            assert (response.status_code, codes(response)) == (status, errors)
            assert not Dataset.objects.exists()
            assert not DatasetVersion.with_loading.exists()


def test_a_number_that_is_not_finite_is_named_by_its_path(alices: Api) -> None:
    text = '{"name": "x", "cases": [{"input": "a"}, {"input": 1, "expected": 1e999}]}'
    response = alices.post("datasets/", text)
    assert (response.status_code, codes(response)) == (400, [("cases[1].expected", "not_finite")])


def test_a_taken_name_names_the_dataset(alices: Api) -> None:
    first = alices.post("datasets/", CONTRACT).json()
    again = alices.post("datasets/", CONTRACT)
    assert (again.status_code, again.json()["code"]) == (409, "name_taken")
    assert again.json()["id"] == first["id"]
    assert DatasetVersion.objects.count() == 1


def test_ten_thousand_cases_are_taken_at_once(alices: Api) -> None:
    cases = [{"key": f"q{n}", "input": "…", "expected": "…"} for n in range(10_000)]
    response = alices.post("datasets/", with_cases(*cases))
    assert (response.status_code, response.json()["case_count"]) == (201, 10_000)


def test_a_new_version_is_added(alices: Api) -> None:
    uid = alices.post("datasets/", CONTRACT).json()["id"]
    cases = {"cases": [{"key": "q1", "input": "other"}, {"key": "q2", "input": "new"}]}
    response = alices.post(f"datasets/{uid}/versions/", cases)
    assert response.status_code == 201
    assert (response.json()["version"], response.json()["case_count"]) == (2, 2)
    assert alices.get(f"datasets/{uid}/").json()["version"] == 2
    listed = alices.get(f"datasets/{uid}/versions/").json()["results"]
    assert [version["version"] for version in listed] == [2, 1]


def test_the_same_cases_make_no_new_version(alices: Api) -> None:
    uid = alices.post("datasets/", CONTRACT).json()["id"]
    response = alices.post(f"datasets/{uid}/versions/", {"cases": CONTRACT["cases"]})
    assert (response.status_code, response.json()["version"]) == (200, 1)
    assert DatasetVersion.objects.count() == 1


def test_a_file_is_loaded_by_the_worker(alices: Api) -> None:
    response = send_file(alices)
    assert response.status_code == 202
    made = response.json()
    assert (made["state"], made["version"], made["case_count"]) == ("loading", None, None)
    assert alices.get(f"datasets/{made['id']}/").json() == made
    work()
    ready = alices.get(f"datasets/{made['id']}/").json()
    check = ["input ✓ question · expected ✓ answer · output ✗"]
    assert ready == made | {"state": "ready", "version": 1, "case_count": 2, "check": check}


def test_a_mapping_says_which_column_is_which(alices: Api) -> None:
    mapping = json.dumps({"id": "id", "input": "answer", "tags": ["question"]})
    assert send_file(alices, mapping=mapping).status_code == 202
    work()
    assert [case.input for case in Case.objects.all()] == ["This", "That"]
    assert [case.tags for case in Case.objects.all()] == [["What?"], ["Why?"]]


def test_a_bad_form_is_refused_and_leaves_nothing(
    alices: Api, spool: Path, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], int, tuple[str, str]]] = [
        ({"mapping": "{"}, 400, ("mapping", "invalid_json")),
        ({"mapping": "[]"}, 400, ("mapping", "not_an_object")),
        ({"mapping": '{"input": 3}'}, 400, ("mapping", "invalid")),
        ({"mapping": '{"inputs": "question"}'}, 422, ("", "unknown_field")),
        ({"mapping": '{"input": "questoin"}'}, 422, ("questoin", "missing_column")),
        ({"name": ""}, 422, ("name", "blank")),
        ({"colour": "x"}, 400, ("colour", "unknown_field")),
        ({"skip_bad_rows": "perhaps"}, 400, ("skip_bad_rows", "invalid")),
        ({"text": "", "name": "empty"}, 422, ("", "empty_file")),
        ({"text": b"\x89PNG\r\n\x1a\n\0\0", "name": "png"}, 422, ("", "type_mismatch")),
    ]
    for fields, status, error in cases:
        with subtests.test(fields=fields, status=status, error=error), undone():
            response = send_file(alices, **fields)
            assert (response.status_code, codes(response)) == (status, [error])
            assert not Dataset.objects.exists()
            assert not list(spool.iterdir())


def test_a_form_without_a_file_is_refused(alices: Api) -> None:
    response = alices.client.post(f"{API}datasets/", {"name": "x"}, headers=alices.headers)
    assert (response.status_code, codes(response)) == (400, [("file", "required")])


def test_a_broken_form_is_refused(alices: Api) -> None:
    response = alices.client.post(
        f"{API}datasets/",
        b"no boundary here",
        content_type="multipart/form-data; boundary=",
        headers=alices.headers,
    )
    assert (response.status_code, response.json()["code"]) == (400, "broken_multipart")


def test_a_file_that_says_it_is_too_large_is_not_read(alices: Api, settings: Any) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = 10
    response = send_file(alices, "x" * 2 * 1024**2)
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_a_file_whose_rows_are_bad_tells_them_to_whoever_asks(alices: Api) -> None:
    uid = send_file(alices, "id,question\nq1,What?\nq1,Again?\n").json()["id"]
    work(UploadState.FAILED)
    failed = alices.get(f"datasets/{uid}/").json()
    assert failed["state"] == "failed"
    (error,) = failed["errors"]
    assert (error["field"], error["line"], error["code"]) == ("id", 3, "duplicate_case")
    assert not Dataset.objects.exists()


def test_bad_rows_may_be_left_out(alices: Api) -> None:
    text = "id,question\nq1,What?\nq1,Again?\n"
    uid = send_file(alices, text, skip_bad_rows="true").json()["id"]
    work()
    assert alices.get(f"datasets/{uid}/").json()["case_count"] == 1
    (version,) = alices.get(f"datasets/{uid}/versions/").json()["results"]
    assert version["skipped_rows"] == 1


def test_a_file_for_a_taken_name_leaves_nothing(alices: Api, spool: Path) -> None:
    first = alices.post("datasets/", CONTRACT).json()["id"]
    response = send_file(alices, name="Support answers")
    assert (response.status_code, response.json()["id"]) == (409, first)
    assert not list(spool.iterdir())


def test_the_same_file_and_key_are_one_dataset(alices: Api) -> None:
    def send(text: str) -> Any:
        file = SimpleUploadedFile("qa.csv", text.encode())
        headers = {**alices.headers, "Idempotency-Key": "k"}
        form = {"file": file, "name": "From a file"}
        return alices.client.post(f"{API}datasets/", form, headers=headers)

    first, again, other = send(CSV), send(CSV), send(CSV + "q3,Who?,I\n")
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert Upload.objects.count() == 1


def test_roles_and_strangers(alices: Api, bobs: Api, charlies: Api) -> None:
    uid = alices.post("datasets/", CONTRACT).json()["id"]
    assert bobs.get(f"datasets/{uid}/").status_code == 200
    assert bobs.post("datasets/", CONTRACT).status_code == 403
    assert bobs.post(f"datasets/{uid}/versions/", CONTRACT).status_code == 403
    missing = "01890000-0000-7000-8000-000000000000"
    for path in ("datasets/{}/", "datasets/{}/versions/"):
        theirs, none = charlies.get(path.format(uid)), charlies.get(path.format(missing))
        assert (theirs.status_code, theirs.content) == (404, none.content)
    assert charlies.post(f"datasets/{uid}/versions/", {"cases": []}).status_code == 404
    assert charlies.get("datasets/").json()["results"] == []


def test_a_failed_upload_is_not_shown_to_strangers(alices: Api, bobs: Api, charlies: Api) -> None:
    uid = send_file(alices, "id,question\nq1,What?\nq1,Again?\n").json()["id"]
    work(UploadState.FAILED)
    assert bobs.get(f"datasets/{uid}/").json()["state"] == "failed"
    assert charlies.get(f"datasets/{uid}/").status_code == 404
