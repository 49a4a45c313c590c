"""JSON values beside each other, path by path: which leaves differ, are missing or are new."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scoring.core.contract import Json
from scoring.core.json_path import Path, path_text
from scoring.core.shown import plain_number


class PathRow(NamedTuple):
    """A leaf in each of the values, as JSON; None where a value has nothing at the path."""

    path: str
    leaves: tuple[str | None, ...]


def path_rows(values: Sequence[Json]) -> list[PathRow]:
    """Every leaf of any value, in the first one's order; empty objects and arrays are leaves too.

    Numbers that are equal are written alike: 880.0 is 880.
    """
    found = [dict(_leaves(value, ())) for value in values]
    paths = dict.fromkeys(path for leaves in found for path in leaves)
    return [PathRow(path_text(path), tuple(leaves.get(path) for leaves in found)) for path in paths]


def _leaves(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    is_leaf = True
    for step, part in parts:
        is_leaf = False
        yield from _leaves(part, (*path, step))
    if is_leaf:
        yield path, json.dumps(plain_number(value), ensure_ascii=False)
