"""The forms of judges and of comparisons of meaning: rows, ranges, models, connections."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.pages.scorers.model_fields import RangeField, ScoresField
from scoring.core.embeddings import local as embedding_local
from scoring.core.embeddings.errors import INSTALL
from scoring.models import Connection, Scorer, Team, User
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
URL = "https://api.example.org/v1"
JUDGE = {"name": "tone", "threshold": "0.5", "config-model": "m", "config-rubric": "Kind?"}
MENU = {
    **JUDGE,
    "config-reduce": "median",
    "config-samples": "1",
    "config-choices": ["kind", "rude", ""],
    "config-choices-score": ["1", "0.25", ""],
}


def new(team: Team, kind: str) -> str:
    return reverse("new_scorer", args=[team.slug, kind])


def connect(team: Team, name: str, *models: str) -> Connection:
    offered = [{"name": model} for model in models]
    return Connection.objects.define(team, name, URL, offered=offered, by=None)


def options(page: Any, field: str) -> list[tuple[str, str]]:
    (inside,) = re.findall(rf'<select name="{field}".*?</select>', page.text, re.DOTALL)
    found = re.findall(r'<option value="([^"]*)"[^>]*>([^<]*)', inside)
    return [(value, unescape(label)) for value, label in found]


def posted(browser: Client, url: str, form: dict[str, Any]) -> Any:
    answer = browser.post(url, form)
    assert answer.status_code == 302, answer.context["form"].errors
    return Scorer.objects.get(name=form["name"]).current.config  # type: ignore[union-attr]


def test_choices_are_rows_of_label_and_score(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    browser = browser_of(alice)
    config = posted(browser, new(team, "llm_judge"), MENU)
    assert (config["choices"], config["range"]) == ({"kind": 1.0, "rude": 0.25}, None)
    page = browser.get(reverse("edit_scorer", args=[Scorer.objects.get().uuid]))
    labels = re.findall(r'name="config-choices" value="([^"]*)"', page.text)
    scores = re.findall(r'name="config-choices-score" value="([^"]*)"', page.text)
    assert labels == ["kind", "rude", "", "", ""]
    assert scores == ["1", "0.25", "", "", ""]


def test_a_range_is_two_numbers(browser_of: BrowserOf, alice: User, team: Team) -> None:
    browser = browser_of(alice)
    form = MENU | {"config-choices": "", "config-choices-score": "", "config-range": ["1", "5"]}
    config = posted(browser, new(team, "llm_judge"), form)
    assert (config["choices"], config["range"]) == (None, [1.0, 5.0])
    page = browser.get(reverse("edit_scorer", args=[Scorer.objects.get().uuid]))
    assert re.findall(r'name="config-range" value="([^"]*)"', page.text) == ["1", "5"]


def test_the_scale_of_factuality_is_changed_in_rows(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    form = JUDGE | {"config-choices": ["B", ""], "config-choices-score": ["1", ""]}
    assert posted(browser_of(alice), new(team, "factuality"), form)["choices"] == {"B": 1.0}
    empty = JUDGE | {"name": "usual", "config-choices": "", "config-choices-score": ""}
    assert posted(browser_of(alice), new(team, "factuality"), empty)["choices"] == {}


def rows(labels: list[str], scores: list[str]) -> QueryDict:
    sent = QueryDict(mutable=True)
    sent.setlist("f", labels)
    sent.setlist("f-score", scores)
    return sent


@pytest.mark.parametrize(
    ("labels", "scores", "found"),
    [
        (["a", "b"], ["1", "0"], {"a": 1.0, "b": 0.0}),
        (["b", "a"], ["1e-1", " .5 "], {"b": 0.1, "a": 0.5}),
        (["", " "], ["", ""], None),
        ([], [], None),
        ([" a "], ["2"], {"a": 2.0}),
        (["a", ""], ["1", "0"], "Name the label that scores 0."),
        (["a"], [""], "Give the score of a as a number."),
        (["a"], ["one"], "Give the score of a as a number."),
        (["a"], ["nan"], "Give the score of a as a number."),
        (["a", "a"], ["1", "0"], "a is there twice."),
    ],
)
def test_rows_become_scores_or_say_what_is_missing(
    labels: list[str], scores: list[str], found: Any
) -> None:
    field = ScoresField(required=False)
    pairs = field.widget.value_from_datadict(rows(labels, scores), None, "f")
    if isinstance(found, str):
        with pytest.raises(Exception, match=re.escape(found)):
            field.clean(pairs)
    else:
        assert field.clean(pairs) == found
        assert list(field.clean(pairs) or ()) == list(found or ())


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        (["1", "5"], [1.0, 5.0]),
        (["", ""], None),
        ([], None),
        (["1", ""], "Give both ends of the range."),
        (["1"], "Give both ends of the range."),
        (["1", "2", "3"], "Give both ends of the range."),
        (["1", "x"], "Give an end of the range as a number."),
    ],
)
def test_two_numbers_become_a_range(ends: list[str], found: Any) -> None:
    field = RangeField(required=False)
    value = field.widget.value_from_datadict({"f": ends}, None, "f")
    if isinstance(found, str):
        with pytest.raises(Exception, match=re.escape(found)):
            field.clean(value)
    else:
        assert field.clean(value) == found


def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("llm_judge", {"config-choices-score": ["1", "2", ""]}, "config-choices", "from 0 to 1"),
        ("llm_judge", {"config-range": ["1", "5"]}, "config-choices", "either choices or a range"),
        (
            "llm_judge",
            {"config-choices": ["a", "", ""], "config-choices-score": ["1", "", ""]},
            "config-choices",
            "name 2 to 50 labels",
        ),
        ("llm_judge", {"config-rubric": ""}, "config-rubric", "required"),
        (
            "factuality",
            {"config-choices": ["Z"], "config-choices-score": ["1"]},
            "config-choices",
            "'Z' is none of",
        ),
        ("factuality", {"config-model": " "}, "config-model", "required"),
        ("factuality", {"config-connection": "theirs"}, "config-connection", "theirs"),
    ]
    for kind, changed, field, text in cases:
        with subtests.test(kind=kind, changed=changed, field=field, text=text), undone():
            form = (MENU if kind == "llm_judge" else JUDGE) | changed
            answer = browser_of(alice).post(new(team, kind), form)
            assert answer.status_code == 422
            assert any(text in error for error in answer.context["form"].errors[field])
            assert not Scorer.objects.exists()
            for label in form.get("config-choices", ()):
                assert not label or f'name="config-choices" value="{label}"' in answer.text
            if field == "config-choices":
                assert 'aria-invalid="true"' in answer.text


def test_a_hostile_label_is_text(browser_of: BrowserOf, alice: User, team: Team) -> None:
    hostile = '"><script>alert(1)</script>'
    form = MENU | {"config-choices": [hostile, "b", ""], "config-model": hostile, "threshold": "9"}
    page = browser_of(alice).post(new(team, "llm_judge"), form).text
    assert "<script>alert" not in page
    assert "&quot;&gt;&lt;script&gt;" in page


def test_the_models_of_the_teams_connections_are_suggested(
    browser_of: BrowserOf, alice: User, charlie: User, team: Team
) -> None:
    connect(team, "own", "small", "large")
    connect(team, "second", "small", "tiny")
    connect(Team.objects.get(slug="elsewhere"), "theirs", "secret")
    page = browser_of(alice).get(new(team, "factuality")).text
    assert 'list="config-model-known"' in page
    (known,) = re.findall(r'<datalist id="config-model-known">(.*?)</datalist>', page)
    assert re.findall(r'value="([^"]*)"', known) == ["large", "small", "tiny"]


def test_the_connections_are_the_teams_own_and_unset_says_what_it_means(
    browser_of: BrowserOf, alice: User, charlie: User, team: Team, settings: Settings
) -> None:
    browser, url = browser_of(alice), new(team, "factuality")
    settings.EVALSITE_OPENAI_API_KEY = ""
    assert options(browser.get(url), "config-connection") == [
        ("", "Default (none set)"),
    ]
    settings.EVALSITE_OPENAI_API_KEY = "sk-0123456789"
    assert options(browser.get(url), "config-connection") == [
        ("", "Default (environment)"),
        ("environment", "environment: the site's own endpoint"),
    ]
    connect(team, "own")
    connect(team, "another")
    connect(Team.objects.get(slug="elsewhere"), "theirs")
    assert options(browser.get(url), "config-connection") == [
        ("", "Default (own)"),
        ("another", "another"),
        ("own", "own"),
        ("environment", "environment: the site's own endpoint"),
    ]


def test_what_is_not_set_is_settled_when_saved(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    connect(team, "own")
    assert posted(browser_of(alice), new(team, "factuality"), JUDGE)["connection"] == "own"


def test_a_connection_that_is_gone_stays_chosen_and_is_refused_by_name(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    connection = connect(team, "own")
    connect(team, "other")
    scorer = Scorer.objects.define(team, "tone", "factuality", {"model": "m"}, by=alice)
    connection.remove(by=alice)
    browser, url = browser_of(alice), reverse("edit_scorer", args=[scorer.uuid])
    assert ("own", "own, which is not there any more") in options(
        browser.get(url), "config-connection"
    )
    answer = browser.post(url, JUDGE | {"config-connection": "own"})
    errors = answer.context["form"].errors
    assert errors == {"config-connection": ["the team has no connection 'own'"]}


def test_an_unset_provider_says_what_it_means_here(
    browser_of: BrowserOf, alice: User, team: Team, settings: Settings
) -> None:
    browser, url = browser_of(alice), new(team, "reference_match")
    settings.EVALSITE_OPENAI_API_KEY = ""
    assert options(browser.get(url), "config-embedding_provider")[0] == ("", "Default (local)")
    connect(team, "own")
    assert options(browser.get(url), "config-embedding_provider") == [
        ("", "Default (openai, through own)"),
        ("openai", "openai"),
        ("local", "local"),
    ]


def test_a_missing_extra_is_named_with_its_command(
    browser_of: BrowserOf, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_local, "is_installed", lambda: False)
    browser, url = browser_of(alice), new(team, "reference_match")
    assert f"<code>{INSTALL}</code>" in browser.get(url).text
    form = {"name": "near", "threshold": "0.7", "config-aggregation": "max"}
    answer = browser.post(url, form | {"config-embedding_provider": "local"})
    assert INSTALL in answer.context["form"].errors["config-embedding_provider"][0]
