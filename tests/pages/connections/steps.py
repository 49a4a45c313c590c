"""What tests of the connection pages share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.models import Connection, Team, User

BrowserOf = Callable[[User], Client]
KEY = "sk-very-secret-0123456789"
URL = "https://api.example.org/v1"
PRICED = {"name": "small", "usd_per_million_in": 0.15, "usd_per_million_out": None}


@pytest.fixture
def no_environment(settings: Settings) -> None:
    """Neither a key nor a list of hosts from wherever the tests run."""
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    settings.EVALSITE_MODEL_HOSTS = frozenset()


@pytest.fixture
def administrator(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def own(team: Team, alice: User) -> Connection:
    return Connection.objects.define(team, "own", URL, key=KEY, offered=[PRICED], by=alice)


def at(name: str, row: Connection) -> str:
    return reverse(name, args=[row.team.slug, row.uuid])


def filled(*models: tuple[str, str, str], **fields: str) -> dict[str, str]:
    """What a browser sends for these rows of models and fields."""
    rows = {"models-TOTAL_FORMS": str(len(models)), "models-INITIAL_FORMS": "0"}
    for number, row in enumerate(models):
        for name, value in zip(PRICED, row, strict=True):
            rows[f"models-{number}-{name}"] = value
    given = {"base_url": URL, "timeout_seconds": "60", "concurrency": "8", "key": ""}
    return given | rows | fields


def changed(*models: tuple[str, str, str], **fields: str) -> dict[str, str]:
    return filled(*models, **fields) | {"models-INITIAL_FORMS": "1"}
