"""Whatever is uploaded, chosen or posted: no page breaks, and nothing is left."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.engine import imports
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    Upload,
    UploadState,
)
from tests.core.files.test_fuzz import CELL, JSON, NAMES, PIECES
from tests.pages.uploads.steps import send, url_of
from tests.support.thoroughness import examples
from tests.support.workbooks import packed, parts_of, row_xml, sheet_xml, texts_xml

CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "encoding": st.sampled_from(["", "utf-8", "utf-16-le", "cp1252", "iso8859-1", "klingon"]),
        "delimiter": st.sampled_from(["", ",", "tab", "|", "xx", "\n"]),
        "quote": st.sampled_from(["", '"', "'", "none", "x"]),
        "header": st.sampled_from(["", "yes", "no", "maybe"]),
        "sheet": st.sampled_from(["", "A", "B", "\0"]),
        "references_separator": st.sampled_from(["", ",", "lines", "?"]),
        **{
            f"column-{place}": st.sampled_from(["", "id", "input", "output", "tags", "metadata"])
            for place in range(4)
        },
    },
)
WORKBOOKS = st.lists(st.lists(CELL, max_size=3), max_size=4).map(
    lambda rows: packed(
        parts_of(
            {"A": sheet_xml("".join(row_xml(*row) for row in [["id", "input"], *rows]))},
            sharedStrings=texts_xml("a", "b"),
        )
    )
)
TEXTS = st.lists(PIECES, min_size=1, max_size=40).map(lambda pieces: "".join(pieces).encode())
#: What a stranger may send in place of each of them.
ODD_CHOICES = st.dictionaries(
    st.sampled_from(
        [
            *("encoding", "delimiter", "quote", "header", "sheet", "skip_bad_rows"),
            *("references_separator", "tags_separator", "column-0", "column-1", "column-99"),
        ]
    ),
    st.text(max_size=8) | st.sampled_from(["on", "id", "input", "output", "drop", "trial", "tags"]),
)
ODD_FORMS = st.dictionaries(
    st.sampled_from(["kind", "dataset", "dataset_name", "series", "dated", "pasted", "file", "x"]),
    st.text(max_size=300) | st.sampled_from(["dataset", "outputs", "2026-11-22T10:00"]),
)
#: Files that may well be imported: name and content.
ROWS = st.lists(
    st.fixed_dictionaries(
        {"input": JSON},
        optional={
            **dict.fromkeys(("expected", "output", "tags", "metadata", "more"), JSON),
            "id": st.integers(0, 20) | st.text(max_size=3),
            "trial": st.integers(-1, 3),
            "latency_ms": st.floats(-1, 10) | st.text("0123456789.e", max_size=4),
        },
    ),
    min_size=1,
    max_size=6,
)
CELLS = st.lists(
    st.lists(PIECES | st.text(max_size=4), min_size=3, max_size=3), min_size=1, max_size=6
)
LIKELY = st.one_of(
    ROWS.map(lambda rows: ("a.json", json.dumps(rows).encode())),
    ROWS.map(lambda rows: ("a.jsonl", "\n".join(map(json.dumps, rows)).encode())),
    CELLS.map(lambda rows: ("a.csv", table([["id", "input", "output"], *rows]))),
)
ANY = st.tuples(NAMES, TEXTS | WORKBOOKS | st.binary(min_size=1, max_size=200))
EXAMPLES = 25
PARTS = st.sampled_from(
    [
        b"--x\r\n",
        b"--x--",
        b"--x--\r\n",
        b"\r\n",
        b"\r\n\r\n",
        b'Content-Disposition: form-data; name="file"; filename="a.csv"',
        b'Content-Disposition: form-data; name="file"; filename="\xff\x00../a"',
        b'Content-Disposition: form-data; name="pasted"',
        b'Content-Disposition: form-data; name="kind"',
        b"Content-Transfer-Encoding: base64\r\n",
        b"Content-Length: 7\r\n",
        b"dataset",
        b"id,input\n1,a\n",
        b"=?",
        b"\xff\x00",
    ]
)
several = settings(
    max_examples=examples(EXAMPLES),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@several
@given(content=TEXTS | WORKBOOKS | st.binary(min_size=1, max_size=200), name=NAMES, choices=CHOICES)
def test_no_upload_breaks_a_page(
    browser: Client, spool: Path, content: bytes, name: str, choices: dict[str, Any]
) -> None:
    if send(browser, content, name, dataset_name="Fuzz").status_code == 302:
        _go_on(browser, Upload.objects.latest("pk"), choices)
    assert list(spool.iterdir()) == []
    assert not DatasetVersion.with_loading.exists()
    assert not Dataset.objects.exists()


@several
@given(
    file=LIKELY | ANY,
    choices=st.just({}) | CHOICES | ODD_CHOICES,
    skips=st.booleans(),
)
def test_an_import_ends_whole_or_with_nothing(
    browser: Client, spool: Path, file: tuple[str, bytes], choices: dict[str, Any], skips: bool
) -> None:
    name, content = file
    if send(browser, content, name, dataset_name="Fuzz").status_code == 302:
        upload = Upload.objects.latest("pk")
        _go_on(browser, upload, choices, loads=True, skips=skips)
        upload.refresh_from_db()
        if upload.state == UploadState.DONE:
            _check_whole(browser, upload)
            _remove(upload)
    assert list(spool.iterdir()) == []
    for model in (Dataset, Case, OutputSet, Output):
        assert not model._default_manager.exists(), model
    assert not DatasetVersion.with_loading.exists()


def table(rows: list[list[str]]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()


def _check_whole(browser: Client, upload: Upload) -> None:
    version = upload.version
    assert version
    assert upload.dataset
    assert version.case_count == version.cases.count() > 0
    assert version.skipped_rows == upload.problem_count
    for output_set in version.output_sets.all():
        assert output_set.output_count == output_set.outputs.count()
    assert browser.get(reverse("dataset", args=[upload.dataset.uuid])).status_code == 200
    for position in (1, version.case_count):
        case = reverse("dataset_case", args=[upload.dataset.uuid, position])
        assert browser.get(case).status_code == 200
    for kind in ("csv", "jsonl"):
        path = reverse("export_version", args=[upload.dataset.uuid, version.number])
        answer = browser.get(path, {"format": kind})
        assert answer.status_code == 200
        b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def _remove(upload: Upload) -> None:
    """Make room for the next example."""
    Output.objects.all().delete()
    Case.objects.all().delete()
    upload.delete()
    Dataset.objects.update(latest=None)
    Dataset.objects.all().delete()


@several
@given(form=ODD_FORMS)
def test_no_field_breaks_the_form(browser: Client, spool: Path, form: dict[str, str]) -> None:
    answer = browser.post(reverse("new_upload", args=["support"]), form)
    assert answer.status_code in (302, 422)
    for upload in Upload.objects.filter(state=UploadState.RECEIVED):
        _go_on(browser, upload, {})
    assert list(spool.iterdir()) == []


@several
@given(body=st.binary(max_size=300) | st.lists(PARTS, max_size=12).map(b"".join))
def test_no_body_breaks_the_form(browser: Client, spool: Path, body: bytes) -> None:
    kind = "multipart/form-data; boundary=x"
    url = reverse("new_upload", args=["support"])
    answer = browser.post(url, body, content_type=kind)
    assert answer.status_code in (302, 400, 422)
    for upload in Upload.objects.filter(state=UploadState.RECEIVED):
        _go_on(browser, upload, {})
    assert list(spool.iterdir()) == []


def _go_on(
    browser: Client,
    upload: Upload,
    choices: dict[str, Any],
    *,
    loads: bool = False,
    skips: bool = False,
) -> None:
    """Preview, map as the page shows it but for the choices, check, look and perhaps import, as far
    as it goes; then give it up.
    """
    page = browser.get(url_of(upload))
    assert page.status_code == 200
    assert browser.get(url_of(upload), choices).status_code == 200
    if loads and "form" in page.context:
        shown = {each.html_name: each.value() or "" for each in page.context["form"]}
        choices = shown | choices
    assert browser.post(url_of(upload), choices).status_code in (302, 422)
    upload.refresh_from_db()
    if upload.state == UploadState.CHECKING:
        imports.check_upload(upload)
        assert browser.get(url_of(upload)).status_code == 200
        if loads:
            _load(browser, upload, skips=skips)
    assert browser.post(url_of(upload, "cancel_upload")).status_code == 302


def _load(browser: Client, upload: Upload, *, skips: bool) -> None:
    answer = browser.post(url_of(upload, "load_upload"), {"skip_bad_rows": "on"} if skips else {})
    assert answer.status_code == 302
    upload.refresh_from_db()
    if upload.state == UploadState.LOADING:
        imports.import_upload(upload)
        assert browser.get(url_of(upload)).status_code == 200


@several
@given(pasted=st.text(max_size=200) | TEXTS.map(lambda content: content.decode()))
def test_no_pasted_text_breaks_a_page(browser: Client, spool: Path, pasted: str) -> None:
    answer = send(browser, file="", pasted=pasted, dataset_name="Fuzz")
    if answer.status_code == 302:
        _go_on(browser, Upload.objects.latest("pk"), {})
    else:
        assert answer.status_code == 422
    assert list(spool.iterdir()) == []
