"""What columns hold by their values: what asks is the input, what outputs repeat is expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scoring.core.files.rows import Row

_TELLING_ROWS: Final = 3  # fewer say nothing by what they hold


def add_by_contents(
    chosen: dict[str, Sequence[str]], columns: Sequence[str], rows: Sequence[Row]
) -> None:
    """Map as input what asks, and as expected what outputs repeat, where no name says so."""
    mapped = {column for taken in chosen.values() for column in taken}
    texts = {
        column: values
        for column in columns
        if column not in mapped and len(values := _texts(column, rows)) * 2 > len(rows)
    }
    if "input" not in chosen:
        asking = (column for column, values in texts.items() if _ask(values))
        if column := next(asking, ""):
            chosen["input"] = [column]
            del texts[column]
    outputs = chosen.get("output", ())
    if "expected" in chosen or "references" in chosen or len(outputs) != 1:
        return
    said = _texts(outputs[0], rows)
    repeated = (column for column, values in texts.items() if _repeat(said, values))
    if column := next(repeated, ""):
        chosen["expected"] = [column]


def _texts(column: str, rows: Sequence[Row]) -> dict[int, str]:
    """The column's texts that are not blank, folded, by the place of their row."""
    values = ((place, row.fields.get(column)) for place, row in enumerate(rows))
    return {
        place: text
        for place, value in values
        if isinstance(value, str) and (text := value.strip().casefold())
    }


def _ask(values: dict[int, str]) -> bool:
    return sum(text.endswith("?") for text in values.values()) * 2 >= len(values)


def _repeat(said: dict[int, str], values: dict[int, str]) -> bool:
    """Whether half of the outputs hold these texts, which are no few categories."""
    if len(set(values.values())) * 2 <= len(values) or len(values) < _TELLING_ROWS:
        return False
    found = sum(text in said.get(place, "") for place, text in values.items())
    return found * 2 >= len(values)
