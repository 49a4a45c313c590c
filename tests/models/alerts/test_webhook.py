"""Webhooks of alert rules: where they may lead, and that URL and secret are kept encrypted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection as database
from pytest_django.fixtures import Settings

from scoring.engine.alerts import queue_test_message
from scoring.models import AlertRule, Dataset, User
from scoring.models.encryption import DecryptionError
from tests.conftest import MakeDataset

HOOK = "https://hooks.example.org/T0/secret-path?token=abc"
ANOTHER_KEY = "another one that is long enough to be taken for a key"


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    return make_dataset([{"expected": "yes"}]).dataset


def define(dataset: Dataset, by: User | None = None, **more: Any) -> AlertRule:
    wanted = {"kind": "pass_rate_below", "limit": 0.9} | more
    return AlertRule.objects.define(dataset.team, dataset, by=by, **wanted).rule


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("http://hooks.example.org/", ()),
        ("https://localhost/", ()),
        ("https://127.0.0.1/", ()),
        ("https://127.0.0.1:9/", ("127.0.0.1:8",)),
        ("https://[::1]/", ()),
        ("https://169.254.169.254/latest/", ()),
        ("https://10.0.0.1/", ()),
        ("https://2130706433/", ()),
        ("https://0x7f.0.0.1/", ()),
        ("https://user:word@hooks.example.org/", ()),
        ("https://hooks.example.org/#part", ()),
        ("ftp://hooks.example.org/", ()),
        ("https://hooks.example.org/" + "a" * 500, ()),
        ("hooks.example.org", ()),
    ],
)
def test_a_webhook_into_the_own_network_is_refused(
    dataset: Dataset, settings: Settings, url: str, listed: tuple[str, ...]
) -> None:
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset(listed)
    with pytest.raises(ValidationError) as refused:
        define(dataset, webhook_url=url)
    assert list(refused.value.message_dict) == ["webhook_url"]


def test_a_host_the_operator_lists_is_let_through(dataset: Dataset, settings: Settings) -> None:
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset({"127.0.0.1:9"})
    settings.EVALSITE_MODEL_HOSTS = frozenset({"127.0.0.1:8"})
    assert define(dataset, webhook_url="http://127.0.0.1:9/in").webhook_host == "127.0.0.1"
    with pytest.raises(ValidationError):
        define(dataset, webhook_url="http://127.0.0.1:8/in")


def test_the_secret_is_told_once_and_kept_sealed(dataset: Dataset, alice: User) -> None:
    rule, secret = AlertRule.objects.define(
        dataset.team, dataset, by=alice, kind="no_data", limit=1, webhook_url=HOOK
    )
    assert secret.startswith("whsec_")
    assert AlertRule.objects.get().secret() == secret
    assert rule.change(by=alice, limit=2) == ""
    assert rule.secret() == secret
    second = rule.replace_secret(by=alice)
    third = rule.change(by=alice, webhook_url="https://other.example.org/")
    assert len({secret, second, third}) == 3
    assert AlertRule.objects.get().secret() == third
    assert not {secret, second, third} & words_of_all_tables()


def test_another_url_in_the_database_gets_neither_calls_nor_the_secret(dataset: Dataset) -> None:
    mine = define(dataset, webhook_url=HOOK)
    theirs = define(dataset, limit=0.5, webhook_url="https://other.example.org/")
    AlertRule.objects.filter(pk=mine.pk).update(encrypted_webhook=theirs.encrypted_webhook)
    rule = AlertRule.objects.get(pk=mine.pk)
    assert not rule.can_decrypt_secret
    for read in (rule.secret, lambda: rule.webhook_url):
        with pytest.raises(DecryptionError):
            read()


def test_a_webhooks_url_is_nowhere_in_the_database(dataset: Dataset, alice: User) -> None:
    rule = define(dataset, alice, webhook_url=HOOK)
    queue_test_message(rule, by=alice)
    rule.change(by=alice, webhook_url=f"{HOOK}2")
    queue_test_message(rule, by=alice)
    rule.remove(by=alice)
    kept = text_of_all_tables()
    assert "hooks.example.org" in kept
    assert "secret-path" not in kept


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.example.org/T0/secret-path", "hooks.example.org …path"),
        ("https://hooks.example.org/in?token=abcdefgh", "hooks.example.org …efgh"),
        ("https://hooks.example.org:8443/T0/B1/XyZ", "hooks.example.org"),
        ("https://hooks.example.org", "hooks.example.org"),
    ],
)
def test_host_and_last_four_characters_of_a_webhook_are_shown(
    dataset: Dataset, url: str, shown: str
) -> None:
    rule = define(dataset, webhook_url=url)
    assert AlertRule.objects.get().webhook_shown == rule.webhook_shown == shown
    assert rule.described()["webhook"] == shown


def test_other_settings_change_without_the_url(dataset: Dataset, settings: Settings) -> None:
    rule, secret = AlertRule.objects.define(
        dataset.team, dataset, by=None, kind="no_data", limit=1, webhook_url=HOOK
    )
    kept = rule.encrypted_webhook
    assert rule.change(by=None, limit=2, by_site=False) == ""
    assert rule.change(by=None, webhook_url=f" {HOOK} ") == ""
    now = AlertRule.objects.get()
    assert (now.webhook_url, now.encrypted_webhook, now.secret()) == (HOOK, kept, secret)
    settings.EVALSITE_ENCRYPTION_KEY = ANOTHER_KEY
    assert now.change(by=None, limit=3) == ""
    assert AlertRule.objects.get().encrypted_webhook == kept


def test_an_unreadable_webhook_works_again_once_its_url_is_typed(
    dataset: Dataset, settings: Settings
) -> None:
    rule = define(dataset, webhook_url=HOOK)
    settings.EVALSITE_ENCRYPTION_KEY = ANOTHER_KEY
    assert not rule.can_decrypt_secret
    with pytest.raises(ValidationError, match="type it again"):
        rule.replace_secret(by=None)
    secret = rule.change(by=None, webhook_url=HOOK)
    assert secret
    assert AlertRule.objects.get().secret() == secret


def test_a_damaged_secret_is_replaced_when_the_same_url_is_typed(dataset: Dataset) -> None:
    rule = define(dataset, webhook_url=HOOK)
    AlertRule.objects.update(encrypted_secret="damaged")
    secret = rule.change(by=None, webhook_url=HOOK)
    assert secret
    assert AlertRule.objects.get().secret() == secret


def words_of_all_tables() -> set[str]:
    return set(text_of_all_tables().replace("'", " ").replace('"', " ").split())


def text_of_all_tables() -> str:
    kept = ""
    with database.cursor() as cursor:
        for table in database.introspection.table_names():
            cursor.execute(f"SELECT * FROM {database.ops.quote_name(table)}")
            kept += str(cursor.fetchall())
    return kept


def test_a_rule_without_webhook_has_no_secret(dataset: Dataset, alice: User) -> None:
    rule, secret = AlertRule.objects.define(
        dataset.team, dataset, by=alice, kind="no_data", limit=1, webhook_url=HOOK
    )
    assert secret
    assert rule.change(by=alice, webhook_url="") == ""
    assert (rule.encrypted_secret, rule.webhook_host, rule.can_decrypt_secret) == ("", "", True)
    with pytest.raises(ValidationError):
        rule.replace_secret(by=alice)
