"""What each part of a case gets from a file, in one line."""

from __future__ import annotations

from typing import NamedTuple

from scoring.core.files.columns.mapping import Mapping


class Slot(NamedTuple):
    """A part of a case, and the columns that fill it; without any it stays empty."""

    name: str
    columns: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.name} ✓ {', '.join(self.columns)}" if self.columns else f"{self.name} ✗"


def case_slots(mapping: Mapping) -> list[Slot]:
    """Of a file of cases: input, what is expected or the references instead, outputs."""
    answers = (*_given(mapping.expected), *mapping.references)
    return [
        Slot("input", _given(mapping.input)),
        Slot("expected", answers),
        Slot("output", mapping.output),
    ]


def output_slots(mapping: Mapping) -> list[Slot]:
    """Of a file of outputs: what tells the case, and outputs."""
    key = "id" if mapping.id or not mapping.input else "input"
    return [Slot(key, _given(mapping.id or mapping.input)), Slot("output", mapping.output)]


def _given(column: str) -> tuple[str, ...]:
    return (column,) if column else ()
