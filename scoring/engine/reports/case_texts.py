"""The texts of outputs and their cases, of any size, read in one query and in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import Case as SqlCase
from django.db.models import F, TextField, When
from django.db.models.functions import Left, Length

from scoring.core.contract import Case as ScoredCase
from scoring.core.contract import Json
from scoring.core.textdiff.side_by_side import mark_differences
from scoring.core.textdiff.text_layout import TextLayout, display_text, layout_text, normalize_pair
from scoring.core.textdiff.truncation import truncate_layout
from scoring.models import Output
from scoring.models.case_paging import CasePosition, opening_text

WHOLE: Final = 20_000  # characters up to which a text is read whole, and can be compared
START: Final = 6_000  # of a longer one
INPUT_BYTES, EXPECTED_BYTES, OUTPUT_BYTES = 2_000, 2_500, 4_500  # bytes of HTML
ERROR_BYTES: Final = 1_000
LINE: Final = 120  # characters

_TEXTS: Final = {
    "output": "text",
    "input": "case__input_json",
    "expected": "case__expected_json",
    "references": "case__references_json",
    "metadata": "case__metadata_json",
}


class PartialText(NamedTuple):
    """A value, or the start of its text where `rest` characters of it were not read."""

    value: Json
    rest: int = 0


@dataclass(frozen=True)
class CaseReport:
    """An output with its case. `expected_text` and `output_text` are None where there is none."""

    output: int
    place: CasePosition
    key: str
    tags: list[str]
    error: str
    input_text: PartialText
    expected_text: PartialText | None
    output_text: PartialText | None
    scored: ScoredCase | None  # what its scorers saw; None where some text was not read whole

    @property
    def opening(self) -> str:
        """The start of the input, for one line."""
        return " ".join(display_text(self.input_text.value)[:LINE].split())

    @property
    def input(self) -> TextLayout:
        return layout_part(self.input_text, INPUT_BYTES)

    @property
    def expected(self) -> TextLayout | None:
        return layout_aligned(self.expected_text, self.output_text, EXPECTED_BYTES)

    @property
    def answer(self) -> TextLayout | None:
        """The output, with what differs from what is expected."""
        return layout_difference(self.expected_text, self.output_text)

    @property
    def failure(self) -> TextLayout:
        return truncate_layout(layout_text(self.error), ERROR_BYTES)


def read_cases(outputs: Iterable[int]) -> dict[int, CaseReport]:
    """The outputs of these ids with their cases, by id; one query."""
    sizes = {f"{name}_size": Length(field) for name, field in _TEXTS.items()}
    sized = Output.objects.filter(pk__in=list(outputs)).annotate(**sizes)
    rows = sized.values(
        *(*sizes, "pk", "trial", "is_json", "error"),
        position=F("case__position"),
        key=F("case__key"),
        tags=F("case__tags_json"),
        **{f"{name}_start": _start(name) for name in _TEXTS},
    )
    return {row["pk"]: _read(row) for row in rows}


def layout_part(part: PartialText, size: int) -> TextLayout:
    """The text by itself."""
    text = layout_text(display_text(part.value))
    return truncate_layout(TextLayout(text.blocks, text.hidden + part.rest), size)


def layout_aligned(
    first: PartialText | None, second: PartialText | None, size: int
) -> TextLayout | None:
    """The first text, written like the second one where both are JSON."""
    if alike := _alike(first, second):
        return truncate_layout(layout_text(alike[0]), size)
    return layout_part(first, size) if first else None


def layout_difference(
    first: PartialText | None, second: PartialText | None, size: int = OUTPUT_BYTES
) -> TextLayout | None:
    """The second text with what differs from the first; None where there is no second one.

    JSON is compared as JSON. A text that was not read whole is shown as it is.
    """
    if second is None or first is None or first.rest or second.rest:
        return layout_part(second, size) if second else None
    if alike := _alike(first, second):
        return truncate_layout(mark_differences(*alike, "line"), size)
    return truncate_layout(
        mark_differences(display_text(first.value), display_text(second.value), "word"), size
    )


def _alike(first: PartialText | None, second: PartialText | None) -> tuple[str, str] | None:
    if first is None or second is None or first.rest or second.rest:
        return None
    return normalize_pair(first.value, second.value)


def _start(name: str) -> SqlCase:
    """The text, or the start of a long one; its size is annotated."""
    is_short = When(**{f"{name}_size__lte": WHOLE}, then=F(_TEXTS[name]))
    return SqlCase(is_short, default=Left(_TEXTS[name], START), output_field=TextField())


def _read(row: Mapping[str, Any]) -> CaseReport:
    parts = {name: _part(row, name) for name in ("input", "expected", "references", "metadata")}
    output = _read_output(row)
    return CaseReport(
        output=row["pk"],
        place=CasePosition(row["position"], row["trial"]),
        key=row["key"],
        tags=json.loads(row["tags"]),
        error=row["error"],
        input_text=parts["input"] or PartialText(""),
        expected_text=parts["expected"],
        output_text=output,
        scored=_scored(output, {name: part for name, part in parts.items() if part}),
    )


def _part(row: Mapping[str, Any], name: str) -> PartialText | None:
    """A stored JSON text; None where the column is empty."""
    text, size = row[f"{name}_start"], row[f"{name}_size"]
    if text is None:
        return None
    return (
        PartialText(json.loads(text))
        if size <= WHOLE
        else PartialText(opening_text(text), size - START)
    )


def _read_output(row: Mapping[str, Any]) -> PartialText | None:
    text, size = row["output_start"], row["output_size"]
    if text is None:
        return None
    if size > WHOLE:
        return PartialText(text, size - START)
    return PartialText(json.loads(text) if row["is_json"] else text)


def _scored(output: PartialText | None, parts: Mapping[str, PartialText]) -> ScoredCase | None:
    if any(part.rest for part in [*parts.values(), *([output] if output else [])]):
        return None
    values = {name: part.value for name, part in parts.items()}
    return ScoredCase(
        output.value if output else None,
        values.get("expected"),
        values.get("input"),
        references=tuple(values.get("references") or ()),
        metadata=values.get("metadata") or {},
    )
