"""Looks a dataset version's tags through, once, for the pages that list the cases of one tag."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from typing import Final

from scoring.models import Case, DatasetVersion, TagPlaces
from scoring.models.tag_places import FEW, may_be_kept

MOST_TAGS: Final = 1_000  # of more, as where each case has a tag of its own, nothing is kept


def keep_tag_places(version: DatasetVersion) -> None:
    """Keep where the version's tags stand, unless they are kept already or too many."""
    if TagPlaces.objects.filter(version=version).exists():
        return
    cases = Case.objects.filter(version=version).exclude(tags_json="[]").order_by("position")
    found = places_of(cases.values_list("position", "tags_json").iterator(chunk_size=10_000))
    if found is not None:
        few = {tag: list(at) if len(at) <= FEW else None for tag, at in found.items()}
        TagPlaces.objects.keep(version, few)


def places_of(cases: Iterable[tuple[int, str]]) -> dict[str, array[int]] | None:
    """By tag the positions of its cases, no more than tell that they are not few; None for more
    tags than MOST_TAGS. The cases are positions with the JSON of their tags.
    """
    found: dict[str, array[int]] = {}
    read: dict[str, list[array[int]]] = {}
    for position, written in cases:
        if written not in read:
            if len(read) > MOST_TAGS:
                read.clear()
            read[written] = [found.setdefault(tag, array("I")) for tag in _tags(written)]
            if len(found) > MOST_TAGS:
                return None
        for at in read[written]:
            if len(at) <= FEW:
                at.append(position)
    return found


def _tags(written: str) -> set[str]:
    return set(filter(may_be_kept, json.loads(written)))
