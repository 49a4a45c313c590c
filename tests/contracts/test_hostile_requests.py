"""Requests that no browser sends: queries, bodies, headers and ids. None is answered with a 5xx."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.models import (
    AttemptCounter,
    Comment,
    Output,
    Run,
    SavedView,
    Scorer,
    Team,
    User,
)
from scoring.models.team.attempt_counter import MAX_PER_ACCOUNT
from tests.conftest import MakeOutputs
from tests.contracts.addresses import listed, url_of
from tests.contracts.doors import API, CHANGES, PAGES
from tests.pages.account.steps import sign_in
from tests.support.datasets import published_version
from tests.support.run_states import finished_run
from tests.support.thoroughness import IS_THOROUGH

#: What addresses read from their query.
KEYS = [
    *("page", "after", "before", "sort", "q", "verdict", "scorer", "min", "below", "tag", "series"),
    *("baseline", "candidate", "diff", "mode", "compare", "columns", "suite", "outputs", "team"),
    *("threshold", "case", "run", "position", "trial", "label", "code", "format", "next", "view"),
    *("cursor", "limit", "offset", "reviewed", "change", "state", "step", "again", "dataset"),
]
VALUES = [
    *(
        "\0",
        "-1",
        "1e999",
        "NaN",
        "9" * 40,
        "' OR 1=1 --",
        "../../etc/passwd",
        "\u202e\U0001f600",
    ),
    *("[]", "{}", "null", "%", "%00", "\r\nSet-Cookie: a=b", "x" * 5_000, "0.1.2", "٣", ""),
]
QUICK_VALUES = VALUES if IS_THOROUGH else ["\0", "9" * 40, "0.1.2"]
BODIES: list[tuple[str, bytes]] = [
    *(("application/json", body) for body in (b"", b"\0", b"{", b"[]", b"null", b'"x"', b"1e999")),
    ("application/json", b'{"a":' * 500),
    ("application/json", b'{"name": "\xff"}'),
    ("application/json", b'{"name": "\\ud83d", "name": NaN}'),
    ("application/json", b'{"cases": {"0": 1}, "scorer": [[[]]], "outputs": "x", "suite": 9}'),
    ("application/x-www-form-urlencoded", b"a=%00&b=%ff&" * 50),
    ("multipart/form-data; boundary=x", b"--x\r\ngarbage"),
    ("text/plain", b"x"),
    ("application/xml", b"<a/>"),
]
QUICK_BODIES = BODIES if IS_THOROUGH else [BODIES[1], BODIES[8], BODIES[10], BODIES[12]]


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(alice)
    return client


@pytest.mark.long("every address is asked several times")
def test_no_query_breaks_an_address(browser: Client, house: dict[str, Any], team: Team) -> None:
    broken = []
    for kind, name, wanted in listed():
        if (PAGES if kind == "page" else API)[name][0] is None or name == "healthz":
            continue
        url = url_of(kind, name, wanted, house, team)
        for value in QUICK_VALUES:
            status = browser.get(url, dict.fromkeys(KEYS, value)).status_code
            if status >= 500:
                broken.append(f"{name} {value[:20]!r}: {status}")
    assert broken == []


@pytest.mark.long("every address is asked several times")
def test_no_body_breaks_an_address(browser: Client, house: dict[str, Any], team: Team) -> None:
    broken = []
    for kind, name, wanted in listed():
        methods = ["post"] if (PAGES if kind == "page" else API)[name][1] is not None else []
        methods += CHANGES.get(name, {}) if kind == "api" else []
        url = url_of(kind, name, wanted, house, team)
        for method in methods:
            for content_type, body in QUICK_BODIES:
                status = browser.generic(method, url, body, content_type).status_code
                if status >= 500:
                    broken.append(f"{method} {name} {content_type} {body[:20]!r}: {status}")
    assert broken == []


SPOOFED = {
    "X-Forwarded-For": "203.0.113.9",
    "Forwarded": "for=203.0.113.9;host=evil.example;proto=https",
    "X-Real-IP": "203.0.113.9",
    "X-Client-IP": "203.0.113.9",
    "True-Client-IP": "203.0.113.9",
    "CF-Connecting-IP": "203.0.113.9",
    "X-Forwarded-Host": "evil.example",
    "X-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Original-URL": "/admin/",
    "X-Rewrite-URL": "/admin/",
    "X-HTTP-Method-Override": "DELETE",
    "X-Forwarded-Prefix": "//evil.example",
}


@pytest.mark.parametrize("name", SPOOFED)
def test_no_header_lets_a_guesser_be_somebody_else(
    settings: Settings, alice: User, name: str
) -> None:
    settings.EVALSITE_TRUSTED_PROXIES = 0
    for number in range(MAX_PER_ACCOUNT):
        sign_in(alice.email, headers={name: SPOOFED[name].replace("9", str(number))})
    assert sign_in(alice.email, headers=SPOOFED).status_code == 429


def test_no_header_changes_what_is_asked_or_where_it_leads(
    browser: Client, house: dict[str, Any], team: Team
) -> None:
    url = url_of("page", "dataset", ["uid"], house, team)
    plain = browser.get(url)
    for name, value in SPOOFED.items():
        spoofed = browser.get(url, headers={name: value})
        assert spoofed.status_code == plain.status_code == 200, name
        assert "evil.example" not in spoofed.text, name
    listed_runs = browser.get("/api/v1/runs/", headers=SPOOFED)
    assert "evil.example" not in listed_runs.text
    assert Run.objects.filter(team=team).exists()


class TestNestedIds:
    """An object of one's own in the address, and inside it one of somebody else's."""

    @pytest.fixture
    def theirs(self, make_outputs: MakeOutputs, charlie: User) -> dict[str, Any]:
        other = Team.objects.create(name="Other", slug="other")
        version = published_version(other, [{"input": "xyzzy-theirs"}])
        run = finished_run(make_outputs(version, ["xyzzy-theirs"]))
        output = Output.objects.get(output_set=run.output_set)
        return {
            "run": run,
            "comment": Comment.objects.add(run, output, "xyzzy-theirs", by=charlie),
            "view": SavedView.objects.keep(
                other, "xyzzy-theirs", "q=x", by=charlie, is_shared=True
            ),
            "scorer": Scorer.objects.define(other, "xyzzy-theirs", "exact_match", {}),
        }

    def test_it_is_not_found(
        self, browser: Client, house: dict[str, Any], team: Team, theirs: dict[str, Any]
    ) -> None:
        found = []
        for kind, name, wanted in listed():
            nested = {"comment", "view", "scorer"} & set(wanted)
            if not nested or "uid" not in wanted:
                continue
            own = url_of(kind, name, wanted, house, team)
            for noun in nested:
                mine = house["kept view" if noun == "view" else noun].uuid
                url = own.replace(str(mine), str(theirs[noun].uuid))
                assert url != own
                for method in ("get", "post", "patch", "delete"):
                    answer = getattr(browser, method)(url)
                    if answer.status_code not in {403, 404, 405} or "xyzzy-theirs" in answer.text:
                        found.append(f"{method} {name} {noun}: {answer.status_code}")
        assert found == []
        assert Comment.objects.get(pk=theirs["comment"].pk).text == "xyzzy-theirs"
        assert SavedView.objects.filter(pk=theirs["view"].pk).exists()

    def test_ids_in_queries_name_nothing_of_theirs(
        self, browser: Client, house: dict[str, Any], team: Team, theirs: dict[str, Any]
    ) -> None:
        run = str(theirs["run"].uuid)
        for kind, name, wanted in listed():
            if (PAGES if kind == "page" else API)[name][0] is None:
                continue
            url = url_of(kind, name, wanted, house, team)
            query = {"baseline": run, "candidate": run, "run": run, "beside": run, "outputs": run}
            query |= {"scorer": str(theirs["scorer"].uuid), "view": str(theirs["view"].uuid)}
            answer = browser.get(url, query)
            text = "" if answer.streaming else answer.text
            assert "xyzzy-theirs" not in text, name

    def test_what_is_missing_is_answered_alike(
        self, browser: Client, house: dict[str, Any], team: Team, theirs: dict[str, Any]
    ) -> None:
        for uid in (theirs["run"].uuid, uuid.uuid4()):
            url = reverse("run_case", args=[uid, 1])
            assert browser.get(url).status_code == 404


@pytest.mark.parametrize("ahead", [timedelta(minutes=20), timedelta(days=1), timedelta(days=365)])
def test_a_clock_that_is_set_back_locks_nobody_out_for_longer(
    alice: User, ahead: timedelta
) -> None:
    for _ in range(MAX_PER_ACCOUNT):
        sign_in(alice.email)
    assert sign_in(alice.email).status_code == 429
    AttemptCounter.objects.update(expires_at=timezone.now() + ahead)
    assert [sign_in(alice.email).status_code for _ in range(MAX_PER_ACCOUNT + 1)] == [
        *[200] * MAX_PER_ACCOUNT,
        429,
    ]
