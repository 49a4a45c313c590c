"""Comparison of JSON values path by path: leaves that differ, are missing or are new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scoring.core.contract import Json
from scoring.core.json_path import StepTexts, whole_path
from scoring.core.textdiff.text_layout import format_scalar, plain_number


class LeafRow(NamedTuple):
    """A leaf in each of the values, as JSON; None where a value has nothing at the path."""

    path: str
    leaves: tuple[str | None, ...]


def compare_paths(values: Sequence[Json]) -> list[LeafRow]:
    """Every leaf of any value, in the first one's order; empty objects and arrays are leaves too.

    Numbers that are equal are written alike: 880.0 is 880.
    """
    known = StepTexts()
    columns: list[dict[str, str]] = [{} for _ in values]
    for value, leaves in zip(values, columns, strict=True):
        _gather(value, "", leaves, known)
    paths = dict.fromkeys(path for leaves in columns for path in leaves)
    return [
        LeafRow(whole_path(path), tuple([leaves.get(path) for leaves in columns])) for path in paths
    ]


def format_leaf(value: Json) -> str:
    """A leaf as a table of paths writes it."""
    return format_scalar(plain_number(value))


def _gather(value: Json, path: str, leaves: dict[str, str], known: StepTexts) -> None:
    if value and isinstance(value, dict):
        for key, part in value.items():
            _gather(part, path + known[key], leaves, known)
    elif value and isinstance(value, list):
        for place, part in enumerate(value):
            _gather(part, path + known[place], leaves, known)
    else:
        leaves[path] = format_leaf(value)
