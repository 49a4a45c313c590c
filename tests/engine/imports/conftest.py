"""Uploads on their way, in a spool of the test's own."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from pytest_django.fixtures import Settings

from scoring.engine import imports
from scoring.engine.imports import uploads
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    Team,
    Upload,
    UploadKind,
    User,
)
from tests.conftest import MakeDataset

Put = Callable[..., Upload]
AtEachBeat = Callable[[Callable[[], object]], None]


@pytest.fixture(autouse=True)
def spooled(settings: Settings, tmp_path: Path) -> Path:
    """The spool of this test; `spooled.iterdir()` shows what is left in it."""
    settings.SPOOL_DIR = tmp_path / "spool"
    settings.SPOOL_DIR.mkdir()
    return Path(settings.SPOOL_DIR)


@pytest.fixture
def put(team: Team, alice: User) -> Put:
    """An upload that has been received."""

    def received(content: bytes, name: str = "cases.csv", **given: Any) -> Upload:
        kind = given.pop("kind", UploadKind.DATASET)
        if kind == UploadKind.DATASET:
            given.setdefault("dataset_name", "Answers")
        file = ContentFile(content, name=name)
        return imports.store_upload(team, file, kind=kind, by=alice, **given)

    return received


@pytest.fixture
def at_each_beat(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something before every beat; each batch has one."""

    def each(act: Callable[[], object]) -> None:
        monkeypatch.setattr(uploads, "HEARTBEAT_SECONDS", 0)
        beat = uploads.ProgressWriter.__call__

        def after(keeper: uploads.ProgressWriter, row_count: int, share: float) -> None:
            act()
            beat(keeper, row_count, share)

        monkeypatch.setattr(uploads.ProgressWriter, "__call__", after)

    return each


def load(upload: Upload, choices: dict[str, list[str]] | None = None, **options: Any) -> Upload:
    """Check and load as pages and worker do."""
    return load_unchecked(check(upload, choices, **options))


def check(upload: Upload, choices: dict[str, list[str]] | None = None, **options: Any) -> Upload:
    assert imports.request_check(upload, choices, **options)
    imports.check_upload(upload)
    upload.refresh_from_db()
    return upload


def load_unchecked(upload: Upload, *, skips_bad_rows: bool = False) -> Upload:
    """Load without a check before."""
    assert imports.request_load(upload, skips_bad_rows=skips_bad_rows)
    imports.import_upload(upload)
    upload.refresh_from_db()
    return upload


def table(rows: Sequence[Sequence[str]]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()


def jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def cases_of(version: DatasetVersion | None) -> list[Case]:
    return list(Case.objects.filter(version=version).order_by("position"))


def outputs_of(output_set: OutputSet) -> list[Output]:
    found = Output.objects.filter(output_set=output_set).select_related("case")
    return list(found.order_by("case__position", "trial"))


def assert_nothing_is_left(spooled: Path) -> None:
    for model in (Dataset, Case, OutputSet, Output):
        assert not model._default_manager.exists(), model
    assert not DatasetVersion.with_loading.exists()
    assert not list(spooled.iterdir())


def many(count: int = 12_000) -> bytes:
    return ("id,input\n" + "".join(f"{n},text {n}\n" for n in range(count))).encode()


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "q1", "input": "a"}, {"key": "q2", "input": "b"}])
