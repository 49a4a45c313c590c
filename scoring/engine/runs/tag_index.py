"""The index of a dataset version's tags, for the pages that list the cases of one tag."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from typing import Final

from scoring.models import Case, DatasetVersion, TagIndex
from scoring.models.case_list.tag_index import MAX_POSITIONS, is_indexable

MAX_TAGS: Final = 1_000  # versions with more, such as one for each case, are not indexed


def store_tag_index(version: DatasetVersion) -> None:
    """Index the version's tags, unless that was done before or they are too many."""
    if TagIndex.objects.filter(version=version).exists():
        return
    cases = Case.objects.filter(version=version).exclude(tags_json="[]").order_by("position")
    rows = cases.values_list("position", "tags_json").iterator(chunk_size=10_000)
    by_tag = positions_by_tag(rows)
    if by_tag is not None:
        few = {
            tag: list(found) if len(found) <= MAX_POSITIONS else None
            for tag, found in by_tag.items()
        }
        TagIndex.objects.keep(version, few)


def positions_by_tag(cases: Iterable[tuple[int, str]]) -> dict[str, array[int]] | None:
    """By tag the positions of its cases, at most MAX_POSITIONS + 1; None for more tags than
    MAX_TAGS.

    The cases are positions with the JSON of their tags.
    """
    by_tag: dict[str, array[int]] = {}
    by_json: dict[str, list[array[int]]] = {}  # so that equal JSON is parsed once
    for position, tags_json in cases:
        if tags_json not in by_json:
            if len(by_json) > MAX_TAGS:
                by_json.clear()
            tags = set(filter(is_indexable, json.loads(tags_json)))
            by_json[tags_json] = [by_tag.setdefault(tag, array("I")) for tag in tags]
            if len(by_tag) > MAX_TAGS:
                return None
        for positions in by_json[tags_json]:
            if len(positions) <= MAX_POSITIONS:
                positions.append(position)
    return by_tag
