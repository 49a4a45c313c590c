"""Rows that name other rows, by ids in a database and by numbers in an archive."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson

from scoring.models import AttemptKind, Case, Output

REFS: Final = "refs"  # in a judge's metadata: the model calls that it rests on


RANGE: Final = ("first_output", "last_output")  # of a shard: ids that are no foreign keys


class Numbers:
    """The numbers of rows by their ids, which are given in order."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._ids = array("q", ids)

    def __len__(self) -> int:
        return len(self._ids)

    def number_of(self, row_id: int | None) -> int | None:
        """None for a row that is not in the archive."""
        if row_id is None:
            return None
        place = bisect_left(self._ids, row_id)
        is_there = place < len(self._ids) and self._ids[place] == row_id
        return place if is_there else None


class People:
    """The numbers of people by their ids, in the order of their addresses."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._numbers = {user_id: number for number, user_id in enumerate(ids)}

    def number_of(self, user_id: int | None) -> int | None:
        return None if user_id is None else self._numbers.get(user_id)


def map_refs(metadata_json: str, changed: Callable[[str], str | None]) -> str:
    """The metadata of a score with every ref changed; those without a counterpart are left out."""
    if f'"{REFS}"' not in metadata_json:
        return metadata_json
    return orjson.dumps(_mapped(orjson.loads(metadata_json), changed)).decode()


def _mapped(value: Any, changed: Callable[[str], str | None]) -> Any:
    if isinstance(value, list):
        return [_mapped(part, changed) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [new for ref in part if isinstance(ref, str) and (new := changed(ref)) is not None]
        if name == REFS and isinstance(part, list)
        else _mapped(part, changed)
        for name, part in value.items()
    }


def shard_model(kind: str) -> type[Case | Output]:
    """What the range of a shard counts in an attempt of this kind."""
    return Case if kind == AttemptKind.GENERATE else Output
