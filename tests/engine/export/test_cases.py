"""Exported cases as an upload reads them again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring.engine import imports
from scoring.engine.export import ExportTable, version_table
from scoring.engine.export.cases import STORED
from scoring.models import DatasetVersion, Team
from tests.conftest import MakeDataset
from tests.engine.export.test_results import CASES, rows_of

# A version: what an upload makes of it again.


Load = Callable[[ExportTable, str], imports.ImportResult]


@pytest.fixture
def load(team: Team, tmp_path: Path) -> Load:
    """The sheet as a file and back, every guess of an upload taken."""

    def loaded(sheet: ExportTable, file_format: str, **options: Any) -> imports.ImportResult:
        path = tmp_path / sheet.file_name(file_format)
        path.write_bytes(b"".join(sheet.stream(file_format, **options)))
        return imports.import_file(team, path, f"again {file_format}")

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
    again = load(version_table(version), file_format)
    assert again.report.problem_count == 0
    assert again.output_sets == ()
    assert [json.loads(row[1]) for row in stored(again.version)] == [
        json.loads(row[1]) for row in stored(version)
    ]
    assert rows_of(version_table(again.version)) == rows_of(version_table(version))
    expected = [json.loads(row[2]) if row[2] else ... for row in stored(again.version)]
    assert expected == ["a", None, "", ..., inside, "\t"]


def test_a_version_of_texts_comes_back_from_csv(make_dataset: MakeDataset, load: Load) -> None:
    """But for expected texts of white space alone, which are no labels in a table."""
    texts = ["=1", "+1", "-1", "@a", "\t", "\r", "'", "'=", "a;=1", 'a"b', " ", "ä\u202e"]
    version = make_dataset(
        [
            {
                "key": f"{text}{n}",
                "input": text,
                "expected": text if text.strip() else "x",
                "tags": [text],
                "references": [text],
            }
            for n, text in enumerate(texts)
        ]
    )
    again = load(version_table(version), "csv")
    assert stored(again.version) == stored(version)
    assert again.output_sets == ()


def test_an_expected_value_is_found_behind_many_cases_without_one(
    make_dataset: MakeDataset, load: Load
) -> None:
    version = make_dataset(
        [*({"input": f"{n}"} for n in range(1_100)), {"input": "?", "expected": "!"}]
    )
    again = load(version_table(version), "jsonl")
    assert stored(again.version)[-1] == stored(version)[-1]
