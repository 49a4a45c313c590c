"""Files in the spool: their names, their size, and their preview."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from pytest_django.fixtures import Settings

from scoring.core.files import FileProblem
from scoring.engine import imports
from scoring.models import Team, UploadKind
from tests.support.fixtures.uploads import Put


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\cases.csv", "cases.csv"),
        ("a\x00b\n.csv", "a\ufffdb\ufffd.csv"),
        ("<script>alert(1)</script>.csv", "script>.csv"),
        ("\ud800.csv", "\ufffd.csv"),
        ("x" * 300 + ".csv", "x" * 251 + ".csv"),
        ("..", "upload"),
        ("", "upload"),
    ],
)
def test_a_hostile_file_name_is_only_ever_shown(
    team: Team, spooled: Path, name: str, shown: str
) -> None:
    file = ContentFile(b"id,input\n1,a\n")
    file.name = name
    upload = imports.store_upload(team, file, kind=UploadKind.DATASET, by=None, dataset_name="A")
    assert upload.file_name == shown
    (stored,) = spooled.iterdir()
    assert stored.name == upload.stored_name
    assert stored.name.removesuffix(".rows").isalnum()
    assert stored.stat().st_mode & 0o777 == 0o600


def test_a_preview_shows_first_rows_and_a_guess_without_reading_on(put: Put) -> None:
    rows = "".join(f"{n},text {n},more\n" for n in range(5_000))
    preview = imports.preview_upload(put(f"ID;Question;Note\n{rows}".replace(",", ";").encode()))
    assert preview.detected.delimiter == ";"
    assert preview.detected.columns == ("ID", "Question", "Note")
    assert (preview.mapping.id, preview.mapping.input) == ("ID", "Question")
    assert [row.line for row in preview.rows] == list(range(2, 22))


def test_a_file_may_be_as_large_as_the_limit(put: Put, spooled: Path, settings: Settings) -> None:
    content = b"id,input\n1,a\n"
    settings.EVALSITE_MAX_UPLOAD_BYTES = len(content)
    assert put(content).size_bytes == len(content)
    with pytest.raises(FileProblem, match="larger than") as raised:
        put(content + b"\n")
    assert raised.value.code == "too_large"
    assert len(list(spooled.iterdir())) == 1
