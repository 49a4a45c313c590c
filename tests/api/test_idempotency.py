"""A POST with an Idempotency-Key counts once, however often it is sent."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evalsite.api import idempotency
from scoring.models import IdempotencyKey, Scorer, Team, User
from scoring.models.team.idempotency_key import LostClaimError
from tests.api.conftest import Api, ApiOf, codes

CLOSE = {"name": "close enough", "type": "levenshtein", "config": {}}


def post(api: Api, body: dict[str, Any] | None = None, key: str = "k-1") -> Any:
    return api.post("scorers/", body or CLOSE, Idempotency_Key=key)


def test_the_same_key_and_body_give_the_same_object(alices: Api) -> None:
    first, second = post(alices), post(alices)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert Scorer.objects.count() == 1


def test_the_order_of_keys_and_white_space_make_no_other_body(alices: Api) -> None:
    post(alices)
    text = '{ "config": {}, "type": "levenshtein",\n "name": "close enough" }'
    again = alices.post("scorers/", text, Idempotency_Key="k-1")
    assert again.status_code == 201


def test_the_same_key_with_another_body_is_refused(alices: Api) -> None:
    post(alices)
    response = post(alices, CLOSE | {"name": "other"})
    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert Scorer.objects.count() == 1


def test_another_key_is_another_request(alices: Api) -> None:
    post(alices)
    assert post(alices, key="k-2").status_code == 409


def test_people_do_not_share_keys(alices: Api, charlies: Api) -> None:
    assert post(alices).json()["id"] != post(charlies).json()["id"]


def test_a_failed_request_leaves_its_key_free(alices: Api) -> None:
    assert post(alices, CLOSE | {"type": "guess"}).status_code == 422
    assert not IdempotencyKey.objects.exists()
    assert post(alices).status_code == 201


def test_a_refused_role_leaves_no_key(bobs: Api) -> None:
    assert post(bobs).status_code == 403
    assert not IdempotencyKey.objects.exists()


def test_while_the_first_works_the_second_is_told_to_wait(
    alices: Api, team: Team, alice: User
) -> None:
    digest = idempotency.request_digest(CLOSE)
    IdempotencyKey.objects.claim(team, alice, "/api/v1/scorers/", "k-1", digest)
    response = post(alices)
    assert (response.status_code, response.json()["code"]) == (409, "in_progress")
    assert response["Retry-After"] == "1"
    IdempotencyKey.objects.update(claimed_at=timezone.now() - timedelta(minutes=3))
    assert post(alices).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb", "\x7f"])
def test_a_strange_key_is_refused(alices: Api, key: str) -> None:
    response = post(alices, key=key)
    assert (response.status_code, codes(response)) == (
        400,
        [("Idempotency-Key", "bad_idempotency_key")],
    )


def test_the_work_is_undone_when_its_answer_cannot_be_kept(
    alices: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(self: IdempotencyKey, *_: Any) -> None:
        raise LostClaimError

    monkeypatch.setattr(IdempotencyKey, "keep", lose)
    assert post(alices).status_code == 409
    assert not Scorer.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_several_at_once_make_one(api_of: ApiOf, alice: User) -> None:
    program = api_of(alice)
    program.get("scorers/")  # notes the token's use
    ready = threading.Barrier(4)
    answers: list[Any] = []

    def send() -> None:
        ready.wait()
        answers.append(post(program))
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = {answer.status_code for answer in answers}
    assert 201 in statuses
    assert statuses <= {201, 409}
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 201}) == 1
    assert Scorer.objects.count() == 1
