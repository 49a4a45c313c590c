"""Programs that speak to the API in people's names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from scoring.models import Role, Run, Scorer, Suite, Team, Token, User
from tests.conftest import MakeDataset

API = "/api/v1/"
MISSING = "01890000-0000-7000-8000-000000000000"


class Api:
    """Sends JSON to the API and gives back the answer."""

    def __init__(self, secret: str = "", **headers: str) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Token {secret}"} if secret else {}
        self.headers |= headers

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(address(path), query, headers=self.headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return self.client.post(
            address(path),
            "" if body is None else text,
            content_type="application/json",
            headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}},
        )

    def patch(self, path: str, body: Any) -> Any:
        json_type = {"content_type": "application/json", "headers": self.headers}
        return self.client.patch(address(path), json.dumps(body), **json_type)

    def delete(self, path: str) -> Any:
        return self.client.delete(address(path), headers=self.headers)


def address(path: str) -> str:
    return path if path.startswith("/") else API + path


def codes(response: Any) -> list[tuple[str, str]]:
    """Where and how an answer says something is wrong."""
    return [(fault["field"], fault["code"]) for fault in response.json()["errors"]]


ApiOf = Callable[..., Api]


@pytest.fixture
def api_of() -> ApiOf:
    """A program with a token of this person, in their only team."""

    def made(user: User, role: Role = Role.ADMIN) -> Api:
        team = Team.objects.of(user).get()
        return Api(Token.objects.issue(team, user, "a program", role)[1])

    return made


@pytest.fixture
def alice_in_person(alice: User) -> Api:
    """Signed in with a browser's cookie."""
    api = Api()
    api.client.force_login(alice)
    return api


@pytest.fixture
def alices(api_of: ApiOf, alice: User) -> Api:
    return api_of(alice)


@pytest.fixture
def ritas(api_of: ApiOf, rita: User) -> Api:
    return api_of(rita)


@pytest.fixture
def bobs(api_of: ApiOf, bob: User) -> Api:
    return api_of(bob)


@pytest.fixture
def charlies(api_of: ApiOf, charlie: User) -> Api:
    return api_of(charlie)


@pytest.fixture
def close_enough(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close enough", "levenshtein", {})


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> str:
    """The id of a dataset of three cases."""
    version = make_dataset(
        [
            {"key": "q1", "input": "one", "expected": "Hello World", "tags": ["billing"]},
            {"key": "q2", "input": "two", "expected": "helo"},
            {"key": "q3", "input": "three", "expected": "other", "tags": ["billing", "b2"]},
        ]
    )
    return str(version.dataset.uuid)


@pytest.fixture
def suite(team: Team, close_enough: Scorer) -> Suite:
    return Suite.objects.define(team, "release", [(close_enough, 0.8)])


def outputs(*texts: Any, first: int = 1) -> list[dict[str, Any]]:
    return [{"key": f"q{n}", "output": text} for n, text in enumerate(texts, start=first)]


def body(dataset: str, suite: Suite, *texts: Any, **changed: Any) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "suite": str(suite.uuid),
        "outputs": outputs(*texts or ["Hello World!", "hello", "nothing alike"]),
    } | changed


def run_of(response: Any) -> Run:
    assert response.status_code in {200, 202}, response.content
    return Run.objects.get(uuid=response.json()["id"])
