"""Connections: made, tested, changed and removed by a team's admins, and never a key shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.models import (
    AuditEntry,
    Connection,
    Job,
    JobKind,
    JobState,
    Scorer,
    Team,
    User,
    Worker,
)
from tests.pages.connections.steps import (
    KEY,
    PRICED,
    URL,
    BrowserOf,
    administrator,
    at,
    changed,
    filled,
    no_environment,
    own,
)
from tests.support.undone import undone

__all__ = ["administrator", "no_environment", "own"]  # fixtures

pytestmark = pytest.mark.usefixtures("no_environment")


def test_a_connection_is_made_and_ready_to_be_tested(administrator: Client, team: Team) -> None:
    sent = filled(("small", "0.15", ""), ("", "", ""), ("large", "2", "8"), name="own", key=KEY)
    answer = administrator.post(reverse("new_connection", args=[team.slug]), sent, follow=True)
    made = Connection.objects.get()
    assert answer.redirect_chain == [(at("connection", made), 302)]
    assert "Test it now." in answer.text
    assert made.endpoint().api_key == KEY
    assert [row["name"] for row in made.offered] == ["small", "large"]
    assert made.offered[0] == PRICED
    assert AuditEntry.objects.get().actor == made.created_by


def test_what_cannot_be_used_is_said_and_nothing_saved(
    administrator: Client, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"name": ""}, "This field is required"),
        ({"base_url": "http://api.example.org/v1"}, "Use https"),
        ({"base_url": "https://user:pw@api.example.org"}, "user name or password"),
        ({"base_url": "https://%6c%6fcalhost"}, "no host name"),
        ({"key": "two words"}, "A key has no spaces"),
        ({"timeout_seconds": "0"}, "greater than or equal to 1"),
        ({"concurrency": "9999"}, "less than or equal to 256"),
        ({"models-0-name": "", "models-0-usd_per_million_in": "1"}, "Name the model"),
        ({"models-0-usd_per_million_in": "-1"}, "greater than or equal to 0"),
        ({"models-0-usd_per_million_in": "nan"}, "Enter a number"),
        ({"models-TOTAL_FORMS": "x"}, "One of the models cannot be saved"),
    ]
    for fields, said in cases:
        with subtests.test(fields=fields, said=said), undone():
            sent = filled(("small", "", ""), name="own", key=KEY) | fields
            answer = administrator.post(reverse("new_connection", args=[team.slug]), sent)
            assert answer.status_code == 422
            assert said in answer.text
            assert "Nothing was saved" in answer.text
            assert KEY not in answer.text
            assert not Connection.objects.exists()


def test_a_taken_name_is_said(administrator: Client, team: Team, own: Connection) -> None:
    sent = filled(name="own")
    answer = administrator.post(reverse("new_connection", args=[team.slug]), sent)
    assert "The team has one called own already." in answer.text


def test_a_name_of_another_teams_connection_is_free(
    administrator: Client, team: Team, charlie: User
) -> None:
    Connection.objects.define(Team.objects.get(slug="elsewhere"), "own", URL, key=KEY, by=charlie)
    answer = administrator.post(reverse("new_connection", args=[team.slug]), filled(name="own"))
    assert answer.status_code == 302


def test_models_of_one_name_are_refused(administrator: Client, team: Team) -> None:
    sent = filled(("small", "1", ""), ("small", "2", ""), name="own")
    answer = administrator.post(reverse("new_connection", args=[team.slug]), sent)
    assert "Every model has a name of its own." in answer.text


@pytest.mark.parametrize(
    ("listed", "line"),
    [
        (frozenset(), "EVALSITE_MODEL_HOSTS=localhost:11434"),
        (frozenset({"models.lan"}), "EVALSITE_MODEL_HOSTS=…,localhost:11434"),
    ],
)
def test_a_refused_host_comes_with_the_line_that_lets_it_through(
    administrator: Client, team: Team, settings: Settings, listed: frozenset[str], line: str
) -> None:
    settings.EVALSITE_MODEL_HOSTS = listed
    sent = filled(name="own", base_url="http://localhost:11434/v1")
    answer = administrator.post(reverse("new_connection", args=[team.slug]), sent)
    assert f">{line}<" in answer.text
    assert "models.lan" not in answer.text
    settings.EVALSITE_MODEL_HOSTS = listed | {"localhost:11434"}
    assert administrator.post(reverse("new_connection", args=[team.slug]), sent).status_code == 302


def test_the_list_shows_each_with_the_end_of_its_key(
    administrator: Client, team: Team, own: Connection
) -> None:
    Connection.objects.define(team, "local", "https://models.example.org", by=None)
    text = administrator.get(reverse("connections", args=[team.slug])).text
    assert [part in text for part in ("own", "local", URL, "…6789", ">none<")] == [True] * 5
    assert text.count(">default<") == 1


def test_the_list_costs_the_same_however_much_there_is(
    administrator: Client,
    team: Team,
    own: Connection,
) -> None:
    url = reverse("connections", args=[team.slug])
    counts = []
    for more in (0, 49):
        for number in range(more):
            Connection.objects.define(team, f"more {number}", URL, by=None)
        with CaptureQueriesContext(database) as captured:
            assert administrator.get(url).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_an_empty_list_says_what_a_connection_is(administrator: Client, team: Team) -> None:
    text = administrator.get(reverse("connections", args=[team.slug])).text
    assert "No connections yet" in text


def test_the_endpoint_of_the_environment_is_named(
    administrator: Client, team: Team, settings: Settings
) -> None:
    settings.EVALSITE_OPENAI_API_KEY = KEY
    text = administrator.get(reverse("connections", args=[team.slug])).text
    assert "https://api.openai.com/v1" in text
    assert KEY not in text


def test_a_team_without_a_default_one_is_warned(
    administrator: Client, team: Team, own: Connection
) -> None:
    Connection.objects.update(is_default=False)
    text = administrator.get(reverse("connections", args=[team.slug])).text
    assert "No default connection." in text


def test_the_settings_change_and_the_key_stays(administrator: Client, own: Connection) -> None:
    sent = changed(("small", "0.15", ""), ("large", "2", "8"), concurrency="3")
    assert administrator.post(at("connection", own), sent).status_code == 302
    now = Connection.objects.get()
    assert (now.concurrency, len(now.offered), now.endpoint().api_key) == (3, 2, KEY)


def test_a_model_whose_name_is_emptied_goes(administrator: Client, own: Connection) -> None:
    assert administrator.post(at("connection", own), changed(("", "0.15", ""))).status_code == 302
    assert Connection.objects.get().offered == []


def test_a_new_url_asks_for_the_key(administrator: Client, own: Connection) -> None:
    sent = changed(("small", "", ""), base_url="https://other.example.org/v1")
    refused = administrator.post(at("connection", own), sent)
    assert refused.status_code == 422
    assert f"The stored key was given for {URL}." in refused.text
    assert administrator.post(at("connection", own), sent | {"key": KEY}).status_code == 302
    assert Connection.objects.get().endpoint().base_url == "https://other.example.org/v1"


def test_the_key_can_be_removed(administrator: Client, own: Connection) -> None:
    administrator.post(at("connection", own), changed(("small", "", ""), forget_key="on"))
    now = Connection.objects.get()
    assert (now.key_shown, now.endpoint().api_key) == ("none", "")
    assert "forget_key" not in administrator.get(at("connection", own)).text


def test_a_key_that_no_longer_opens_is_said(
    administrator: Client, own: Connection, settings: Settings
) -> None:
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    assert "Type the key again below." in administrator.get(at("connection", own)).text


def test_the_default_moves(administrator: Client, team: Team, own: Connection) -> None:
    other = Connection.objects.define(team, "other", URL, by=None)
    answer = administrator.post(at("default_connection", other), follow=True)
    assert "other is the default connection now." in answer.text
    assert Connection.objects.get(is_default=True) == other


def test_removing_says_who_names_it_first(
    administrator: Client, team: Team, own: Connection
) -> None:
    naming = Scorer.objects.define(team, "judge", "levenshtein", {})
    assert naming.current
    naming.current.config = {"scorers": [{"config": {"connection": "own"}}]}
    naming.current.save()
    Scorer.objects.define(team, "other", "exact_match", {})
    text = administrator.get(at("remove_connection", own)).text
    assert "1 scorer names this connection." in text
    assert reverse("scorer", args=[naming.uuid]) in text
    assert ">other<" not in text
    assert administrator.post(at("remove_connection", own)).status_code == 302
    assert not Connection.objects.exists()
    assert AuditEntry.objects.first().action == "connection.removed"  # type: ignore[union-attr]


@pytest.fixture
def worker(db: None) -> Worker:
    now = timezone.now()
    return Worker.objects.create(name="elsewhere:1", seen_at=now, started_at=now)


def fragment(browser: Client, own: Connection) -> str:
    headers = {"HX-Request": "true", "HX-Target": "test"}
    text = " ".join(browser.get(at("connection", own), headers=headers).text.split())
    assert text.startswith('<section class="section" id="test"')
    return text


def ended(state: JobState, problem: str = "", **answer: Any) -> None:
    Job.objects.update(state=state, answer=answer, problem=problem)


def test_a_test_is_asked_of_the_worker_and_looked_for(
    administrator: Client, own: Connection, worker: Worker
) -> None:
    text = administrator.post(at("test_connection", own), follow=True).text
    job = Job.objects.get()
    assert (job.kind, job.state) == (JobKind.TEST_CONNECTION, JobState.WAITING)
    assert job.request == {"connection": str(own.uuid)}
    assert 'hx-trigger="every 500ms"' in text
    assert "manage.py worker" not in text
    assert 'hx-trigger="every 500ms"' in fragment(administrator, own)


def test_a_double_click_asks_once(administrator: Client, own: Connection) -> None:
    for _ in range(2):
        administrator.post(at("test_connection", own))
    assert Job.objects.count() == 1


def test_without_a_worker_the_page_says_how_to_start_one(
    administrator: Client, own: Connection
) -> None:
    administrator.post(at("test_connection", own))
    assert "no worker: start <code>manage.py worker</code>" in fragment(administrator, own)


def test_the_answer_is_shown_and_the_page_stops_asking(
    administrator: Client, own: Connection, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"is_ok": True, "model": "small", "text": "ready", "latency_ms": 812.4},
            "in 812 ms: “ready”",
        ),
        ({"is_ok": True, "model": "small", "text": "", "latency_ms": 5}, "with an empty text"),
        (
            {
                "is_ok": True,
                "model": "",
                "text": "it offers 1 model",
                "latency_ms": 5,
                "models": ["m1"],
            },
            "The endpoint answered in 5 ms: it offers 1 model.",
        ),
        ({"is_ok": False, "model": "small", "text": "the key was refused"}, "the key was refused"),
    ]
    for answer, said in cases:
        with subtests.test(answer=answer, said=said), undone():
            administrator.post(at("test_connection", own))
            ended(JobState.DONE, **answer)
            text = fragment(administrator, own)
            assert said in text
            assert "hx-trigger" not in text
            assert "Test again" in text


def test_a_model_cannot_write_into_the_page(administrator: Client, own: Connection) -> None:
    administrator.post(at("test_connection", own))
    wild = "<script>alert(1)</script>\u202e"
    ended(JobState.DONE, is_ok=True, model="small", text=wild, latency_ms=1)
    text = fragment(administrator, own)
    assert "<script>alert" not in text
    assert 'class="invisible"' in text


def test_a_test_that_broke_says_so(administrator: Client, own: Connection) -> None:
    administrator.post(at("test_connection", own))
    ended(JobState.FAILED, problem="the worker ended meanwhile; ask again")
    assert "the worker ended meanwhile; ask again." in fragment(administrator, own)


def test_another_connections_test_is_not_shown(
    administrator: Client, team: Team, own: Connection
) -> None:
    other = Connection.objects.define(team, "other", URL, by=None)
    administrator.post(at("test_connection", other))
    assert "hx-trigger" not in fragment(administrator, own)


def test_another_teams_connection_is_not_reached_through_ones_own_team(
    browser_of: BrowserOf, charlie: User, own: Connection
) -> None:
    url = reverse("connection", args=["elsewhere", own.uuid])
    assert browser_of(charlie).get(url).status_code == 404


def test_only_admins_see_the_way_there(
    browser_of: BrowserOf, alice: User, bob: User, team: Team
) -> None:
    there = reverse("connections", args=[team.slug])
    for page in ("team_home", "scorers"):
        url = reverse(page, args=[team.slug])
        assert there in browser_of(alice).get(url).text
        assert there not in browser_of(bob).get(url).text
