"""Scorers and suites are made, listed and read through the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import AuditEntry, Scorer, Suite, Team
from tests.api.conftest import Api, codes
from tests.support.undone import undone

CLOSE = {"name": "close enough", "type": "levenshtein", "config": {}, "threshold": 0.7}


def test_a_scorer_is_made_with_its_first_version(alices: Api) -> None:
    response = alices.post("scorers/", CLOSE)
    assert response.status_code == 201
    made = response.json()
    assert list(made) == ["id", "name", "type", "version", "config", "threshold"]
    assert (made["name"], made["version"], made["threshold"]) == ("close enough", 1, 0.7)
    assert made["config"]["case_sensitive"] is False
    assert alices.get(f"scorers/{made['id']}/").json() == made
    assert AuditEntry.objects.get(action="scorer.created").actor


def test_config_and_threshold_may_be_left_out(alices: Api) -> None:
    made = alices.post("scorers/", {"name": "same", "type": "exact_match"}).json()
    assert made["threshold"] == 1.0


def test_a_threshold_inside_the_config_is_taken(alices: Api) -> None:
    body = CLOSE | {"config": {"threshold": 0.4}, "threshold": None}
    assert alices.post("scorers/", body).json()["threshold"] == 0.4


def test_a_bad_scorer_is_refused_with_its_place(alices: Api, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({"name": " "}, 422, [("name", "blank")]),
        ({"name": 7}, 400, [("name", "invalid")]),
        ({"name": None}, 400, [("name", "null")]),
        ({"name": "x" * 121}, 422, [("name", "max_length")]),
        ({"colour": 1}, 400, [("colour", "unknown_field")]),
        ({"type": "guess"}, 422, [("type", "config_error")]),
        ({"threshold": 1.5}, 422, [("threshold", "config_error")]),
        ({"threshold": "0.5"}, 400, [("threshold", "invalid")]),
        ({"threshold": True}, 400, [("threshold", "invalid")]),
        ({"config": []}, 400, [("config", "invalid")]),
        ({"config": None}, 400, [("config", "null")]),
        ({"config": {"decimals": "two"}}, 422, [("config.decimals", "config_error")]),
        ({"config": {"colour": 1}}, 422, [("config.colour", "config_error")]),
        ({"type": "regex", "config": {"pattern": "("}}, 422, [("config.pattern", "config_error")]),
        ({"name": 1, "x": 2}, 400, [("name", "invalid"), ("x", "unknown_field")]),
    ]
    for changed, status, errors in cases:
        with subtests.test(changed=changed, status=status, errors=errors), undone():
            response = alices.post("scorers/", CLOSE | changed)
            assert response.status_code == status
            assert codes(response) == errors
            assert response.json()["code"] == errors[0][1]
            assert not Scorer.objects.exists()


def test_a_taken_name_names_who_has_it(alices: Api, close_enough: Scorer) -> None:
    response = alices.post("scorers/", CLOSE)
    assert response.status_code == 409
    assert response.json()["code"] == "name_taken"
    assert response.json()["id"] == str(close_enough.uuid)


def test_a_suite_freezes_thresholds(alices: Api, close_enough: Scorer) -> None:
    entries = [{"scorer": str(close_enough.uuid), "threshold": 0.8}]
    response = alices.post("suites/", {"name": "release", "entries": entries})
    assert response.status_code == 201
    made = response.json()
    assert made["entries"] == [
        {"scorer": str(close_enough.uuid), "name": "close enough", "threshold": 0.8}
    ]
    assert alices.get(f"suites/{made['id']}/").json() == made


def test_an_entry_without_threshold_takes_the_scorers(alices: Api, close_enough: Scorer) -> None:
    made = alices.post(
        "suites/", {"name": "release", "entries": [{"scorer": str(close_enough.uuid)}]}
    ).json()
    assert made["entries"][0]["threshold"] == 0.7


def suite_with(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"name": "release", "entries": list(entries)}


def test_a_bad_suite_is_refused_with_its_place(
    alices: Api, close_enough: Scorer, charlies: Api
) -> None:
    theirs = charlies.post("scorers/", CLOSE).json()["id"]
    here = str(close_enough.uuid)
    table = [
        (suite_with(), 422, ("entries", "empty")),
        (suite_with({}), 400, ("entries[0].scorer", "required")),
        (suite_with({"scorer": "x"}), 400, ("entries[0].scorer", "invalid")),
        (suite_with({"scorer": here, "threshold": 2}), 422, ("entries[0].threshold", "max_value")),
        (
            suite_with({"scorer": here}, {"scorer": here}),
            422,
            ("entries[1].scorer", "duplicate_scorer"),
        ),
        (suite_with({"scorer": theirs}), 404, ("entries[0].scorer", "not_found")),
        (suite_with({"scorer": here, "x": 1}), 400, ("entries[0].x", "unknown_field")),
        ({"name": "release", "entries": {}}, 400, ("entries", "not_a_list")),
        ({"name": "release", "entries": [1]}, 400, ("entries[0]", "invalid")),
        ([], 400, ("", "invalid")),
    ]
    for body, status, error in table:
        response = alices.post("suites/", body)
        assert (response.status_code, codes(response)) == (status, [error]), body
    assert not Suite.objects.exists()


def test_a_taken_suite_name_names_who_has_it(alices: Api, close_enough: Scorer) -> None:
    body = suite_with({"scorer": str(close_enough.uuid)})
    first = alices.post("suites/", body).json()
    again = alices.post("suites/", body)
    assert (again.status_code, again.json()["id"]) == (409, first["id"])


@pytest.mark.parametrize("path", ["scorers/", "suites/"])
def test_a_list_is_paged_newest_first(alices: Api, team: Team, path: str) -> None:
    for number in range(5):
        scorer = Scorer.objects.define(team, f"s{number}", "exact_match", {})
        Suite.objects.define(team, f"s{number}", [(scorer, None)])
    first = alices.get(path, page_size=2).json()
    assert [row["name"] for row in first["results"]] == ["s4", "s3"]
    assert first["previous"] is None
    second = alices.get(first["next"].removeprefix("http://testserver")).json()
    assert [row["name"] for row in second["results"]] == ["s2", "s1"]
    back = alices.get(second["previous"].removeprefix("http://testserver")).json()
    assert back["results"] == first["results"]


@pytest.mark.parametrize(("path", "queries"), [("scorers/", 4), ("suites/", 6)])
def test_a_list_costs_the_same_for_one_row_and_for_fifty(
    alices: Api, team: Team, path: str, queries: int
) -> None:
    alices.get(path)  # notes the token's use
    for number in range(50):
        scorer = Scorer.objects.define(team, f"s{number}", "exact_match", {})
        Suite.objects.define(team, f"s{number}", [(scorer, None)])
        if number in {0, 49}:
            with CaptureQueriesContext(connection) as found:
                assert len(alices.get(path).json()["results"]) == number + 1
            assert len(found) == queries, [query["sql"] for query in found]


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ({"page_size": "0"}, 422, ("page_size", "min_value")),
        ({"page_size": "1001"}, 422, ("page_size", "max_value")),
        ({"page_size": "many"}, 400, ("page_size", "invalid")),
        ({"pagesize": "2"}, 400, ("pagesize", "unknown_field")),
    ],
)
def test_a_list_refuses_what_it_cannot_be_asked(
    alices: Api, query: dict[str, str], status: int, error: tuple[str, str]
) -> None:
    response = alices.get("scorers/", **query)
    assert (response.status_code, codes(response)) == (status, [error])


@pytest.mark.parametrize("cursor", ["x", "cD1hYmM=", "bz0tMQ==", "é"])
def test_an_invented_cursor_is_refused(alices: Api, cursor: str) -> None:
    response = alices.get("scorers/", cursor=cursor)
    assert (response.status_code, response.json()["code"]) == (400, "bad_cursor")
