"""Cases that repeat others, and outputs that are there already: counted, placed, named."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.engine import loading
from scoring.engine.loading.likenesses import repeats_among
from scoring.models import DatasetVersion, OutputSet, Upload, UploadKind
from tests.engine.loading.conftest import Put, jsonl, load

QUESTION = "Which of the two customers was refunded on Monday, and how much was it?"


def looked(upload: Upload) -> Upload:
    assert loading.request_check(upload)
    loading.check(upload)
    upload.refresh_from_db()
    return upload


def test_a_dry_run_places_repeats_and_near_duplicates(put: Put) -> None:
    rows = [QUESTION, "another", QUESTION, QUESTION.upper(), "another"]
    report = looked(put(b"id,input\n" + _numbered(rows))).report
    assert report["duplicate_inputs"] == 2
    assert report["repeats"] == [[3, 1], [5, 2]]
    assert report["near"] == [[4, 1, 1.0]]
    assert report["near_count"] == 1


def test_an_import_keeps_what_the_dry_run_found(put: Put) -> None:
    upload = load(put(b"id,input\n" + _numbered([QUESTION, QUESTION.lower(), QUESTION])))
    assert upload.report["near"] == [[2, 1, 1.0]]
    assert upload.report["repeats"] == [[3, 1]]


def test_inputs_that_are_objects_repeat_by_their_value(put: Put) -> None:
    given = [{"a": [1]}, {"a": [1]}, 1]
    rows = jsonl(*({"id": n, "input": each} for n, each in enumerate(given)))
    assert looked(put(rows, "cases.jsonl")).report["repeats"] == [[2, 1]]


@pytest.mark.parametrize("count", [0, 1, 10, 250_000])
def test_repeats_are_found_however_many_there_are(count: int) -> None:
    values = [hash(f"text {n}") for n in range(count)]
    assert repeats_among(values) == []
    again = values[: count // 3]
    assert repeats_among(values + again) == [(count + n, n) for n in range(1, len(again) + 1)]


def test_a_repeat_leads_to_the_first_of_its_like() -> None:
    assert repeats_among([7, 7, 8, 7, 8]) == [(2, 1), (4, 1), (5, 3)]


@pytest.mark.parametrize(
    ("rows", "is_known"),
    [
        (b"id,output\nq1,x\nq2,y\n", True),
        (b"id,output,note\nq1,x,another column\nq2,y,\n", True),
        (b"id,output\nq1,x\nq2,z\n", False),
        (b"id,output\nq1,x\n", False),
        (b"id,output\nq2,y\nq1,x\n", False),  # the same in another order are not the same bytes
    ],
)
def test_outputs_that_are_there_already_are_named(
    put: Put, version: DatasetVersion, rows: bytes, is_known: bool
) -> None:
    more = {"kind": UploadKind.OUTPUTS, "dataset": version.dataset}
    load(put(b"id,output\nq1,x\nq2,y\n", "monday.csv", **more))
    known = OutputSet.objects.get()
    report = looked(put(rows, "again.csv", **more)).report
    named = {"output": f"monday, {known.dated:%Y-%m-%d}"}
    assert report["identical_outputs"] == (named if is_known else {})


def test_unmatched_ids_are_counted_and_the_first_hundred_listed(
    put: Put, version: DatasetVersion, spooled: Path
) -> None:
    rows = "id,output\nq1,x\n" + "".join(f"no{n},y\n" for n in range(250))
    upload = put(rows.encode(), kind=UploadKind.OUTPUTS, dataset=version.dataset)
    report = looked(upload).report
    assert (report["unmatched"], len(report["unmatched_ids"])) == (250, 100)
    assert report["unmatched_ids"][0] == "no0"


def _numbered(rows: list[str]) -> bytes:
    return "".join(f'{n},"{row}"\n' for n, row in enumerate(rows)).encode()
