"""Connections: their keys are sealed, their changes audited, and who may use which."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db import connection as database
from pytest_django.fixtures import Settings

from scoring.core.llm.endpoint import Price
from scoring.models import AuditEntry, Connection, Team, User
from scoring.models.scorers.connection import KeyUnreadableError, environment_endpoint
from tests.support.undone import undone

KEY = "sk-very-secret-0123456789"
URL = "https://api.example.org/v1"
MODELS = [{"name": "small", "usd_per_million_in": 0.15, "usd_per_million_out": 0.6}]


@pytest.fixture(autouse=True)
def _no_environment(settings: Settings) -> None:
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    settings.EVALSITE_MODEL_HOSTS = frozenset()


def define(team: Team, by: User | None = None, name: str = "own", **more: Any) -> Connection:
    given = {"base_url": URL, "key": KEY, "offered": MODELS} | more
    return Connection.objects.define(team, name, by=by, **given)


def change(row: Connection, by: User | None = None, **more: Any) -> None:
    kept = {"base_url": row.base_url, "offered": row.offered, "timeout_seconds": 60}
    row.change(by=by, **(kept | {"concurrency": 8} | more))


def test_a_connection_becomes_an_endpoint(team: Team, alice: User, settings: Settings) -> None:
    settings.EVALSITE_MODEL_HOSTS = frozenset({"localhost:11434"})
    made = define(team, alice, base_url=f" {URL}/ ", timeout_seconds=5, concurrency=2)
    endpoint = Connection.objects.get(pk=made.pk).endpoint()
    assert (endpoint.name, endpoint.base_url, endpoint.api_key) == ("own", URL, KEY)
    assert (endpoint.timeout_seconds, endpoint.concurrency) == (5, 2)
    assert endpoint.prices == {"small": Price(0.15, 0.6)}
    assert endpoint.allowed_hosts == {"localhost:11434"}


def test_neither_row_nor_audit_holds_the_key(team: Team, alice: User) -> None:
    made = define(team, alice)
    change(made, alice, key=KEY + "-new", concurrency=3)
    change(made, alice, key="")
    made.make_default(by=alice)
    made.remove(by=alice)
    kept = json.dumps([list(AuditEntry.objects.values("action", "old", "new", "target_name"))])
    with database.cursor() as cursor:
        for table in database.introspection.table_names():
            cursor.execute(f"SELECT * FROM {database.ops.quote_name(table)}")
            kept += str(cursor.fetchall())
    assert KEY not in kept
    assert KEY[:-4] not in kept


def test_each_change_is_audited_with_old_and_new(team: Team, alice: User) -> None:
    made = define(team, alice)
    change(made, alice, concurrency=3)
    change(made, alice, key="sk-another-key-with-wxyz", base_url="https://other.example/v1")
    other = define(team, alice, name="second")
    other.make_default(by=alice)
    other.make_default(by=alice)
    made.remove(by=alice)
    entries = AuditEntry.objects.order_by("pk")
    assert [entry.action for entry in entries] == [
        "connection.created",
        "connection.changed",
        "connection.changed",
        "connection.created",
        "connection.default",
        "connection.removed",
    ]
    assert {entry.actor for entry in entries} == {alice}
    assert [(e.old.get("concurrency"), e.new.get("concurrency")) for e in entries][1] == (8, 3)
    assert (entries[1].old["key"], entries[1].new["key"]) == ("…6789", "…6789")
    assert (entries[2].new["key"], entries[2].new["key_replaced"]) == ("…wxyz", True)
    assert (entries[4].old, entries[4].new) == ({"default": "own"}, {"default": "second"})
    assert entries[5].old["base_url"] == "https://other.example/v1"


@pytest.mark.parametrize(
    ("key", "shown"),
    [(KEY, "…6789"), ("short-key", "set"), ("", "none"), (" padded-key-1234\n", "…1234")],
)
def test_only_the_end_of_a_long_key_is_shown(team: Team, key: str, shown: str) -> None:
    made = define(team, key=key)
    assert made.key_shown == shown
    assert made.endpoint().api_key == key.strip()


def test_a_new_url_needs_the_key_again(team: Team, alice: User) -> None:
    made = define(team, alice)
    with pytest.raises(ValidationError) as refused:
        change(made, alice, base_url="https://evil.example/v1")
    assert refused.value.messages == [
        f"The stored key was given for {URL}. Type the key for the new URL."
    ]
    assert Connection.objects.get().base_url == URL
    change(made, alice, base_url="https://other.example/v1", key="sk-other-key-0000")
    assert Connection.objects.get().endpoint().api_key == "sk-other-key-0000"


def test_a_url_changed_behind_our_back_does_not_get_the_key(team: Team) -> None:
    define(team)
    Connection.objects.update(base_url="https://evil.example/v1")
    with pytest.raises(KeyUnreadableError):
        Connection.objects.get().endpoint()


def test_without_a_key_the_url_may_change(team: Team) -> None:
    made = define(team, key="")
    change(made, base_url="https://other.example/v1")
    assert made.endpoint().base_url == "https://other.example/v1"


def test_a_lost_encryption_key_is_said_clearly(team: Team, settings: Settings) -> None:
    made = define(team)
    assert made.can_decrypt_key
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    assert not made.can_decrypt_key
    with pytest.raises(KeyUnreadableError, match="type the connection's key again") as lost:
        made.endpoint()
    assert not lost.value.retry
    change(made, key=KEY)
    assert made.can_decrypt_key


BAD: list[tuple[dict[str, Any], str]] = [
    ({"base_url": "http://localhost:11434/v1"}, "base_url"),
    ({"base_url": "https://%6c%6fcalhost/v1"}, "base_url"),
    ({"base_url": "https://u:p@api.example.org"}, "base_url"),
    ({"key": "two words"}, "key"),
    ({"key": "zeile\r\nX-Injected: 1"}, "key"),
    ({"key": "sk-ключ"}, "key"),
    ({"name": "environment"}, "name"),
    ({"name": " "}, "name"),
    ({"timeout_seconds": 0}, "timeout_seconds"),
    ({"timeout_seconds": 601}, "timeout_seconds"),
    ({"concurrency": 257}, "concurrency"),
    ({"offered": [{"name": ""}]}, "offered"),
    ({"offered": [{"name": "m"}, {"name": "m "}]}, "offered"),
    ({"offered": [{"name": "m", "usd_per_million_in": -1}]}, "offered"),
    ({"offered": [{"name": "m", "usd_per_million_in": float("nan")}]}, "offered"),
    ({"offered": [{"name": "m", "usd_per_million_out": float("inf")}]}, "offered"),
    ({"offered": [{"name": "m", "usd_per_million_out": "1"}]}, "offered"),
    ({"offered": [{"name": "m", "usd_per_million_out": True}]}, "offered"),
    ({"offered": [{"name": f"m{n}"} for n in range(101)]}, "offered"),
]


def test_what_cannot_be_used_is_named_by_its_field(team: Team, subtests: pytest.Subtests) -> None:
    for given, field in BAD:
        with subtests.test(given=given, field=field), undone():
            with pytest.raises(ValidationError) as refused:
                define(team, **given)
            assert set(refused.value.message_dict) == {field}
            assert not Connection.objects.exists()
            assert not AuditEntry.objects.exists()


def test_a_listed_host_may_be_used_over_http(team: Team, settings: Settings) -> None:
    settings.EVALSITE_MODEL_HOSTS = frozenset({"localhost:11434"})
    assert define(team, base_url="http://localhost:11434/v1", key="").endpoint().api_key == ""


def test_a_teams_first_connection_is_its_default(team: Team, charlie: User) -> None:
    first, second = define(team), define(team, name="another")
    elsewhere = define(Team.objects.get(slug="elsewhere"))
    assert (first.is_default, second.is_default, elsewhere.is_default) == (True, False, True)
    second.make_default(by=None)
    rows = Connection.objects.filter(team=team).for_list()
    assert [(row.name, row.is_default) for row in rows] == [("another", True), ("own", False)]


def test_a_name_is_taken_once_a_team(team: Team, charlie: User) -> None:
    define(team)
    define(Team.objects.get(slug="elsewhere"))
    with pytest.raises(IntegrityError), transaction.atomic():
        define(team)


def test_a_person_sees_their_teams_connections(team: Team, alice: User, charlie: User) -> None:
    define(team)
    assert Connection.objects.visible_to(alice).count() == 1
    assert not Connection.objects.visible_to(charlie).exists()


def test_a_scorer_is_settled_with_what_the_team_has(team: Team, settings: Settings) -> None:
    none = Connection.objects.available_to(team)
    assert (list(none.connections), none.default_connection) == ([], None)
    assert not none.has_environment_key
    assert none.has_local_embeddings
    settings.EVALSITE_OPENAI_API_KEY = KEY
    define(team, name="own"), define(team, name="another")
    some = Connection.objects.available_to(team)
    assert (list(some.connections), some.default_connection) == (["another", "own"], "own")
    assert some.has_environment_key


def test_who_answers_a_question(team: Team, charlie: User, settings: Settings) -> None:
    """The named one; else the default one; else the environment's; else nobody."""

    def answering(name: str | None) -> str | None:
        endpoint = Connection.objects.endpoint_for(team, name)
        return endpoint and endpoint.name

    define(Team.objects.get(slug="elsewhere"), name="theirs")
    assert [answering(name) for name in (None, "theirs", "environment")] == [None, None, None]
    settings.EVALSITE_OPENAI_API_KEY = KEY
    assert [answering(name) for name in (None, "environment")] == ["environment", "environment"]
    assert answering("theirs") is None
    define(team, name="own"), define(team, name="another")
    assert [answering(name) for name in (None, "another")] == ["own", "another"]
    assert answering("environment") == "environment"


@pytest.mark.parametrize(
    ("key", "url", "expected"),
    [
        (KEY, "", ("https://api.openai.com/v1", {"api.openai.com:443"})),
        ("", "http://localhost:11434/v1/", ("http://localhost:11434/v1", {"localhost:11434"})),
        (KEY, "https://10.0.0.7:8443/v1", ("https://10.0.0.7:8443/v1", {"10.0.0.7:8443"})),
        (KEY, "http://0x7f.1/v1", ("http://0x7f.1/v1", set())),
    ],
)
def test_the_environments_endpoint_may_be_anywhere_the_operator_says(
    key: str, url: str, expected: tuple[str, set[str]], settings: Settings
) -> None:
    settings.EVALSITE_OPENAI_API_KEY, settings.EVALSITE_OPENAI_BASE_URL = key, url
    endpoint = environment_endpoint()
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.allowed_hosts) == expected
    assert endpoint.api_key == key
