"""What cannot be answered now says when to ask again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from django.db import connection

from scoring.engine.tryout import tryout
from scoring.models import Dataset, Team, User
from tests.api.conftest import Api

EXACT = {"scorer": {"type": "exact_match"}, "cases": [{"output": "x", "expected": "x"}]}


@pytest.fixture
def locked(transactional_db: None) -> Iterator[None]:
    """Another connection holds a write transaction for longer than anybody here waits."""
    connection.ensure_connection()
    connection.cursor().execute("PRAGMA busy_timeout = 100")
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.rollback()
    other.close()
    connection.close()


@pytest.mark.sqlite
def test_the_api_answers_503_while_the_database_is_locked(
    alices: Api, locked: None, team: Team
) -> None:
    answer = alices.post("datasets/", {"name": "A", "cases": [{"input": "a"}]})
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert int(answer["Retry-After"]) > 0
    assert not Dataset.objects.filter(name="A").exists()


def test_a_person_whose_last_request_is_scored_gets_503(alices: Api, alice: User) -> None:
    with tryout._queue.turn(alice.pk):
        answer = alices.post("score/", EXACT)
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert int(answer["Retry-After"]) > 0
    assert alices.post("score/", EXACT).status_code == 200
