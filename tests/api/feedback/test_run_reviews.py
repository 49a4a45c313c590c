"""Many reviews at a time through the API: in as a list, out as a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalsite.api.openapi.examples import REVIEWS
from scoring.models import AuditEntry, Member, Review, Role, Run, Team, User
from tests.api.conftest import Api, ApiOf, codes
from tests.api.openapi.test_schema import check_answer, operation, problems_of
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run
from tests.support.undone import undone

PATH = "runs/{uid}/reviews/"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": "q1", "input": "a"}, {"key": "q2", "input": "b"}]
    return queued_run(make_outputs(make_dataset(cases), ["a", "b"]))


def path_of(run: Run) -> str:
    return f"runs/{run.uuid}/reviews/"


def body(**more: Any) -> dict[str, Any]:
    return {"reviews": [{"key": "q1", "reviewer": "Jo", "verdict": "fail"} | more]}


def test_reviews_come_in_and_go_out(alices: Api, run: Run) -> None:
    sent = json.loads(json.dumps(REVIEWS))
    sent["reviews"].append({"key": "q9", "reviewer": "Jo", "verdict": True})
    answer = alices.post(path_of(run), sent)
    assert answer.status_code == 200, answer.content
    check_answer(answer, PATH, "post")
    assert answer.json() == {
        "rows": 2,
        "created": 1,
        "changed": 0,
        "unchanged": 0,
        "kept": 0,
        "unmatched": 1,
        "withheld": 0,
        "kept_reviews": [],
        "unmatched_reviews": [{"key": "q9", "trial": 0, "reviewer": "Jo"}],
    }
    exported = alices.get(path_of(run), format="json")
    rows = json.loads(exported.getvalue())
    shape = operation(PATH, "get")["responses"]["200"]["content"]["application/json"]["schema"]
    assert problems_of(rows, shape) == []
    [review] = rows
    assert review == REVIEWS["reviews"][0] | {
        "trial": 0,
        "failure_tags": [],
        "answers": {},
        "date": "2026-11-20T09:30:00+00:00",
    }
    assert alices.post(path_of(run), {"reviews": [review]}).json()["unchanged"] == 1


def test_reviews_are_stored_all_or_none(alices: Api, run: Run) -> None:
    sent = body()
    sent["reviews"].append({"key": "q2", "reviewer": "Jo", "verdict": "maybe", "score": 2})
    answer = alices.post(path_of(run), sent)
    assert answer.status_code == 422
    assert codes(answer) == [("reviews[1].verdict", "unknown_verdict")]
    assert not Review.objects.exists()


def test_other_bodies_are_refused(alices: Api, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[Any] = [
        {},
        {"reviews": []},
        {"reviews": "x"},
        {"reviews": [1]},
        body() | {"more": 1},
    ]
    for sent in cases:
        with subtests.test(sent=sent), undone():
            assert alices.post(path_of(run), sent).status_code in {400, 422}
            assert not Review.objects.exists()


def test_a_repeated_key_counts_once(alices: Api, run: Run) -> None:
    for _ in range(2):
        answer = alices.post(path_of(run), body(), Idempotency_Key="one")
        assert answer.json()["created"] == 1
    assert AuditEntry.objects.filter(action="reviews.imported").count() == 1


def test_editors_alone_import_and_strangers_find_nothing(
    api_of: ApiOf, alice: User, charlies: Api, team: Team, run: Run
) -> None:
    rita = User.objects.create_user("rita@example.org")
    Member.objects.create(team=team, user=rita, role=Role.REVIEWER)
    assert api_of(rita).post(path_of(run), body()).status_code == 403
    assert api_of(alice, Role.REVIEWER).post(path_of(run), body()).status_code == 403
    assert charlies.post(path_of(run), body()).status_code == 404
    assert charlies.get(path_of(run)).status_code == 404
    assert not Review.objects.exists()
