"""JSON comes back with its keys and numbers as they were written, on every database."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from scoring.migrations._operations import collation_statements
from scoring.models import AuditEntry, Scorer, Team

WRITTEN = '{"longest key": 1e+22, "b": [-0.0, 1.0, 12345678901234567890], "a": "\\u0000x"}'


def test_keys_and_numbers_stay_as_they_are(team: Team) -> None:
    entry = AuditEntry.objects.record(team, None, "team.renamed", team, new=json.loads(WRITTEN))
    kept = AuditEntry.objects.get(pk=entry.pk)
    assert json.dumps(kept.new) == WRITTEN
    assert kept.hash_after("") == entry.hash_after("")


def test_a_schema_is_shown_as_it_was_typed(team: Team) -> None:
    schema = {"type": "object", "properties": {"zebra": {}, "ant": {}}, "$comment": "ours"}
    made = Scorer.objects.define(team, "shape", "json_schema", {"schema": schema})
    made.refresh_from_db()
    assert made.current is not None
    assert list(made.current.config["schema"]) == ["type", "properties", "$comment"]
    assert list(made.current.config["schema"]["properties"]) == ["zebra", "ant"]


@pytest.mark.postgresql
def test_every_text_of_the_site_is_in_the_order_of_sqlite(db: None) -> None:
    """A migration that adds or alters a column of text ends with `SortTextByCodePoint`."""
    assert collation_statements("scoring", connection) == []


def test_names_are_in_the_order_of_their_code_points(team: Team) -> None:
    for name in ("apple", "Zebra", "élan", "a-b", "ab", "Äpfel"):
        Scorer.objects.define(team, name, "exact_match", {})
    names = list(Scorer.objects.order_by("name").values_list("name", flat=True))
    assert names == sorted(names)
