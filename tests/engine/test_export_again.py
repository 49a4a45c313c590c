"""Exported cases and outputs as an upload reads them again, and what their files are called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring.engine import loading
from scoring.engine.export import FILE_FORMATS, Sheet, output_set_sheet, version_sheet
from scoring.engine.export.cases import STORED
from scoring.engine.export.sheet import stem
from scoring.models import DatasetVersion, Output, OutputSet, Team
from tests.compared import run_with
from tests.conftest import MakeDataset
from tests.engine.test_export import CASES, rows_of

pytestmark = pytest.mark.django_db


# A version: what an upload makes of it again.


Load = Callable[[Sheet, str], loading.Loaded]


@pytest.fixture
def load(team: Team, tmp_path: Path) -> Load:
    """The sheet as a file and back, every guess of an upload taken."""

    def loaded(sheet: Sheet, file_format: str, **options: Any) -> loading.Loaded:
        path = tmp_path / sheet.file_name(file_format)
        path.write_bytes(b"".join(sheet.stream(file_format, **options)))
        return loading.load_file(team, path, f"again {file_format}")

    return loaded


def stored(version: DatasetVersion) -> list[tuple[Any, ...]]:
    """Key, input, expected, references, tags and metadata as they are kept."""
    return list(version.cases.order_by("position").values_list("key", *STORED))


@pytest.mark.parametrize("file_format", ["jsonl", "json"])
def test_a_version_comes_back_as_it_was(
    make_dataset: MakeDataset, load: Load, file_format: str
) -> None:
    inside = {"output": "an answer", "a.b": [1.50, 12345678901234567890123, None]}
    odd = {"key": "-5", "input": inside, "expected": inside, "metadata": inside}
    version = make_dataset(
        [*CASES, odd, {"key": "\u202e'\"/\\", "input": "\x01\r\u2028", "expected": "\t"}]
    )
    version.cases.update(metadata_json='{"compact":1.50}')
    again = load(version_sheet(version), file_format)
    assert again.report.problem_count == 0
    assert again.output_sets == ()
    assert [json.loads(row[1]) for row in stored(again.version)] == [
        json.loads(row[1]) for row in stored(version)
    ]
    assert rows_of(version_sheet(again.version)) == rows_of(version_sheet(version))
    expected = [json.loads(row[2]) if row[2] else ... for row in stored(again.version)]
    assert expected == ["a", None, "", ..., inside, "\t"]


def test_a_version_of_texts_comes_back_from_csv(make_dataset: MakeDataset, load: Load) -> None:
    texts = ["=1", "+1", "-1", "@a", "\t", "\r", "'", "'=", "a;=1", 'a"b', " ", "ä\u202e"]
    version = make_dataset(
        [
            {
                "key": f"{text}{n}",
                "input": text,
                "expected": text,
                "tags": [text],
                "references": [text],
            }
            for n, text in enumerate(texts)
        ]
    )
    again = load(version_sheet(version), "csv")
    assert stored(again.version) == stored(version)
    assert again.output_sets == ()


def test_an_expected_value_is_found_behind_many_cases_without_one(
    make_dataset: MakeDataset, load: Load
) -> None:
    version = make_dataset(
        [*({"input": f"{n}"} for n in range(1_100)), {"input": "?", "expected": "!"}]
    )
    again = load(version_sheet(version), "jsonl")
    assert stored(again.version)[-1] == stored(version)[-1]


# An output set.


def outputs_of(output_set: OutputSet) -> list[tuple[Any, ...]]:
    rows = Output.objects.filter(output_set=output_set).order_by("case", "trial")
    figures = ("latency_ms", "tokens_in", "tokens_out", "cost_usd")
    return list(rows.values_list("case__key", "trial", "text", "is_json", "error", *figures))


@pytest.mark.parametrize("file_format", ["jsonl", "json", "csv"])
def test_an_output_set_comes_back_as_it_was(
    team: Team, make_dataset: MakeDataset, tmp_path: Path, file_format: str
) -> None:
    version = make_dataset([{"key": f"q{n}"} for n in range(3)])
    output_set = run_with(version, {"close": [1.0] * 6}, trials=2).output_set
    first, *_ = Output.objects.filter(output_set=output_set).order_by("pk")
    Output.objects.filter(pk=first.pk).update(text=None, error="=timeout", latency_ms=0.25)
    Output.objects.filter(pk=first.pk + 1).update(
        text="-1", tokens_in=1, tokens_out=2, cost_usd=0.1
    )
    if file_format != "csv":
        Output.objects.filter(pk=first.pk + 2).update(text='{"a":[1]}', is_json=True)
    sheet = output_set_sheet(output_set)
    path = tmp_path / sheet.file_name(file_format)
    path.write_bytes(b"".join(sheet.stream(file_format)))
    again = loading.load_outputs_file(version, path).output_set
    assert outputs_of(again) == outputs_of(output_set)


# What the file is called.


@pytest.mark.parametrize(
    ("name", "file_stem"),
    [
        ("Answers v1", "Answers-v1"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\\c/d:e*f?g|h<i>', "a-b-c-d-e-f-g-h-i"),
        ("line\r\nSet-Cookie: x=1", "line-Set-Cookie-x-1"),
        ("\u202egnp.exe", "gnp.exe"),
        ("Größe 東京", "Größe-東京"),
        (".hidden", "hidden"),
        ("a...b", "a-b"),
        ("\U0001f600", "export"),
        ("", "export"),
        ("x" * 200, "x" * 60),
    ],
)
def test_a_file_is_called_so_that_every_system_takes_it(name: str, file_stem: str) -> None:
    assert stem(name) == file_stem
    assert len(f"{stem(name)}.jsonl".encode()) <= 255


def test_formats_are_named_as_files_end() -> None:
    assert set(FILE_FORMATS) == {"csv", "jsonl", "json"}
