"""Ids and numbers of rows, and the calls that a score's metadata names."""

from __future__ import annotations

import json

from scoring.engine.team_archive.references import Numbers, People, map_refs, shard_model
from scoring.models import AttemptKind, Case, Output


def test_rows_are_numbered_in_the_order_of_their_ids() -> None:
    numbers = Numbers([3, 7, 100])
    assert [numbers.number_of(pk) for pk in (3, 7, 100, 4, 0, 101, None)] == [
        *(0, 1, 2),
        *[None] * 4,
    ]


def test_people_are_numbered_as_they_are_given() -> None:
    people = People([9, 2])
    assert [people.number_of(pk) for pk in (9, 2, 3, None)] == [0, 1, None, None]


def test_refs_are_changed_wherever_they_stand() -> None:
    metadata = {"refs": ["1", "2", 3], "children": [{"metadata": {"refs": ["2"]}}], "n": "refs"}
    changed = map_refs(json.dumps(metadata), {"1": "10", "2": "20"}.get)
    assert json.loads(changed) == {
        "refs": ["10", "20"],
        "children": [{"metadata": {"refs": ["20"]}}],
        "n": "refs",
    }
    assert map_refs(json.dumps({"refs": ["5"]}), {}.get) == '{"refs":[]}'


def test_metadata_without_refs_stays_as_it_is_written() -> None:
    text = '{"a":  1.0}'
    assert map_refs(text, {}.get) is text


def test_a_shard_counts_cases_while_outputs_are_made() -> None:
    assert shard_model(AttemptKind.GENERATE) is Case
    assert shard_model(AttemptKind.SCORE) is shard_model(AttemptKind.RETRY) is Output
