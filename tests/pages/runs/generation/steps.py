"""What tests of making outputs share: a connection to a stub, and the form as it is sent."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import Connection, Dataset, Scorer, Suite, Team, Worker

OFFERED = [
    {"name": "stub-1", "usd_per_million_in": 100.0, "usd_per_million_out": 0.0},
    {"name": "unpriced", "usd_per_million_in": None, "usd_per_million_out": None},
]
ASKED: dict[str, Any] = {"model": "stub-1", "template": "Answer {{ input.q }}", "trials": "2"}
URL = "https://api.example.org/v1"


def connected(team: Team, name: str = "own", url: str = URL) -> Connection:
    return Connection.objects.define(team, name, url, offered=OFFERED, by=None)


def suite_with(team: Team, kind: str = "exact_match", **config: Any) -> Suite:
    scorer = Scorer.objects.define(team, kind, kind, config)
    return Suite.objects.define(team, f"suite of {kind}", [(scorer, None)])


def address(dataset: Dataset) -> str:
    return reverse("generate_run", args=[dataset.uuid])


def shown(browser: Client, dataset: Dataset) -> dict[str, Any]:
    """What a browser would send if nobody touched the form."""
    form = browser.get(address(dataset)).context["form"]
    return {field.html_name: field.value() for field in form if field.value()}


def filled(browser: Client, dataset: Dataset, suite: Suite, **more: Any) -> dict[str, Any]:
    """The form of a run that asks each question twice."""
    return shown(browser, dataset) | ASKED | {"suite": str(suite.uuid)} | more


def part(browser: Client, url: str, target: str, sent: dict[str, Any]) -> Any:
    """The part of a page that htmx asks for."""
    return browser.post(url, sent, headers={"HX-Request": "true", "HX-Target": target})


def work_begins() -> None:
    """A worker says that it is alive."""
    now = timezone.now()
    Worker.objects.create(name="a worker", started_at=now, seen_at=now)
