"""JSON values beside each other, path by path: which leaves differ, are missing or are new."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.json_path import Path, path_text
from scoring.core.shown import plain_number

_encoded: Final = json.JSONEncoder(ensure_ascii=False).encode


class PathRow(NamedTuple):
    """A leaf in each of the values, as JSON; None where a value has nothing at the path."""

    path: str
    leaves: tuple[str | None, ...]


def path_rows(values: Sequence[Json]) -> list[PathRow]:
    """Every leaf of any value, in the first one's order; empty objects and arrays are leaves too.

    Numbers that are equal are written alike: 880.0 is 880.
    """
    found: list[dict[Path, str]] = [{} for _ in values]
    for value, leaves in zip(values, found, strict=True):
        _gather(value, (), leaves)
    paths = dict.fromkeys(path for leaves in found for path in leaves)
    return [PathRow(path_text(path), tuple(leaves.get(path) for leaves in found)) for path in paths]


def leaf_text(value: Json) -> str:
    """A leaf as a table of paths writes it."""
    return _encoded(plain_number(value))


def _gather(value: Json, path: Path, leaves: dict[Path, str]) -> None:
    if value and isinstance(value, dict):
        for key, part in value.items():
            _gather(part, (*path, key), leaves)
    elif value and isinstance(value, list):
        for place, part in enumerate(value):
            _gather(part, (*path, place), leaves)
    else:
        leaves[path] = leaf_text(value)
