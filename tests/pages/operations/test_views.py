"""The page of whoever runs the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.runs.progress import NO_WORKER
from scoring.models import User, Worker
from tests.pages.runs.steps import with_code

URL = "/operations/"


@pytest.fixture
def administrator(db: None, browser_of: Callable[[User], Client]) -> Client:
    return browser_of(User.objects.create_superuser("root@example.org", "correct horse 9"))


def add_worker(name: str, queues: Sequence[str] = (), **settings: str) -> None:
    seen = {"started_at": timezone.now(), "seen_at": timezone.now()}
    Worker.objects.create(
        name=name, process_count=3, queues=list(queues), settings=settings, **seen
    )


def test_an_administrator_of_the_site_sees_queues_and_workers(administrator: Client) -> None:
    add_worker("scorer-2:17")
    page = administrator.get(URL).content.decode()
    for said in ("Shards", "Uploads", "scorer-2:17", "3 scoring processes", "0 outputs scored"):
        assert said in page
    assert 'hx-trigger="every 5s"' in page
    assert "not the same everywhere" not in page


def test_it_says_what_each_worker_takes_and_what_nobody_does(administrator: Client) -> None:
    add_worker("a:1", ["judges", "scoring"])
    page = administrator.get(URL).content.decode()
    assert '<td data-label="takes">judges, scoring</td>' in page
    assert "No worker that takes embeddings or imports or jobs: start <code>" in page
    add_worker("b:1")
    page = administrator.get(URL).content.decode()
    assert '<td data-label="takes">everything</td>' in page
    assert "No worker" not in page


def test_a_site_without_a_worker_says_so(administrator: Client) -> None:
    page = administrator.get(URL).content.decode()
    assert with_code(NO_WORKER.capitalize()) in page
    assert "None is alive." in page


def test_it_says_what_workers_have_otherwise(administrator: Client) -> None:
    add_worker("a:1", Python="3.11.7", EVALSITE_URL="")
    add_worker("b:1", Python="3.12.1", EVALSITE_URL="")
    page = " ".join(administrator.get(URL).content.decode().split())
    assert "The workers are not the same everywhere" in page
    cells = r'<code>([^<]+)</code> ?</td> ?<td[^>]*><span class="id">([^<]+)'
    assert re.findall(cells, page) == [("3.11.7", "a:1"), ("3.12.1", "b:1")]
    assert "EVALSITE_URL" not in page


def test_a_part_renews_itself(administrator: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": "figures"}
    part = administrator.get(URL, headers=headers).content.decode()
    assert part.lstrip().startswith('<div id="figures"')


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_member_of_a_team_is_refused(
    request: pytest.FixtureRequest, browser_of: Callable[[User], Client], name: str
) -> None:
    client = browser_of(request.getfixturevalue(name))
    assert client.get(URL).status_code == 403
    assert reverse("operations") not in client.get("/", follow=True).content.decode()


def test_the_menu_leads_there(administrator: Client) -> None:
    assert reverse("operations") in administrator.get("/", follow=True).content.decode()
