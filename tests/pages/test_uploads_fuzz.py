"""Whatever is uploaded, chosen or posted: no page breaks, and nothing is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.engine import loading
from scoring.models import Dataset, DatasetVersion, Upload, UploadState
from tests.core.test_files_fuzz import CELL, NAMES, PIECES
from tests.core.workbooks import packed, parts_of, row_xml, sheet_xml, texts_xml
from tests.pages.upload_steps import send, url_of

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
several = settings(
    max_examples=40,
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


def _go_on(browser: Client, upload: Upload, choices: dict[str, Any]) -> None:
    """Preview, map, check and look as far as it goes; then give it up."""
    assert browser.get(url_of(upload)).status_code == 200
    assert browser.get(url_of(upload), choices).status_code == 200
    assert browser.post(url_of(upload), choices).status_code in (302, 422)
    upload.refresh_from_db()
    if upload.state == UploadState.CHECKING:
        loading.check(upload)
        assert browser.get(url_of(upload)).status_code == 200
    browser.post(url_of(upload, "cancel_upload"))


@several
@given(pasted=st.text(max_size=200) | TEXTS.map(lambda content: content.decode()))
def test_no_pasted_text_breaks_a_page(browser: Client, spool: Path, pasted: str) -> None:
    answer = send(browser, file="", pasted=pasted, dataset_name="Fuzz")
    if answer.status_code == 302:
        _go_on(browser, Upload.objects.latest("pk"), {})
    else:
        assert answer.status_code == 422
    assert list(spool.iterdir()) == []
