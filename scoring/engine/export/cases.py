"""The cases of a dataset version as rows that its own import reads back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.core.files.writers import Fields, JsonText
from scoring.engine.export.formats import ExportTable
from scoring.models import DatasetVersion

BATCH: Final = 2_000
COLUMNS: Final = ("key", "input", "expected", "references", "tags", "metadata")
STORED: Final = ("input_json", "expected_json", "references_json", "tags_json", "metadata_json")


def version_table(version: DatasetVersion) -> ExportTable:
    """Every case in the version's order."""
    return ExportTable(
        f"{version.dataset.name} v{version.number}",
        version.case_count,
        COLUMNS,
        lambda: _cases(version),
        lambda row: [row.get(column) for column in COLUMNS],
    )


def case_fields(key: str, *stored: Any) -> dict[str, Any]:
    """A case as the API takes it, from its STORED columns; without `expected` where it has none."""
    values = zip(COLUMNS[1:], stored, strict=True)
    return {"key": key, **{name: JsonText(text) for name, text in values if text is not None}}


def _cases(version: DatasetVersion) -> Iterator[Fields]:
    rows, last = version.cases.order_by("position").values_list("position", "key", *STORED), 0
    while batch := list(rows.filter(position__gt=last)[:BATCH]):
        for _, key, *stored in batch:
            yield case_fields(key, *stored)
        last = batch[-1][0]
