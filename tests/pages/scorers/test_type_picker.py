"""The choice of a new scorer's type: by headings, by words, and straight on."""

from __future__ import annotations

from typing import get_args

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.scorers.type_picker import HEADINGS, TypePicker
from scoring.core.registry import Family, all_types
from scoring.models import Team


@pytest.fixture
def url(team: Team) -> str:
    return reverse("new_scorer_type", args=[team.slug])


def test_every_family_has_a_heading_and_every_type_a_place() -> None:
    assert set(HEADINGS) == set(get_args(Family))
    placed = [kind.name for group in TypePicker().groups for kind in group.types]
    assert sorted(placed) == sorted(all_types())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lev", ["levenshtein"]),
        ("LEVENSHTEIN similarity", ["levenshtein"]),
        ("json", ["json_match", "json_similarity", "json_schema"]),
        ("json_s", ["json_similarity", "json_schema"]),
        ("match", ["exact_match", "json_match", "reference_match"]),
        ("all", ["all"]),
        ("edit distance", ["levenshtein"]),
        ("tolerance", ["numeric"]),
        ("rubric", ["llm_judge"]),
        ("xyzzy", []),
    ],
)
def test_types_are_found_by_the_beginnings_of_words(text: str, names: list[str]) -> None:
    choice = TypePicker(text)
    assert [kind.name for kind in choice.types] == names
    assert (choice.first.name if choice.first else None) == next(iter(names), None)


@pytest.mark.parametrize("text", ["", "  ", "?!"])
def test_no_words_ask_for_every_type_and_open_none(text: str) -> None:
    assert len(TypePicker(text).types) == len(all_types())
    assert TypePicker(text).first is None


def test_the_first_one_is_opened(alices: Client, team: Team, url: str) -> None:
    wanted = reverse("new_scorer", args=[team.slug, "json_match"])
    assert alices.get(url, {"q": "json", "open": "first"})["Location"] == wanted


def test_in_place_the_first_one_is_opened_as_a_page_of_its_own(
    alices: Client, team: Team, url: str
) -> None:
    part = {"HX-Request": "true", "HX-Target": "types"}
    answer = alices.get(url, {"q": "json", "open": "first"}, headers=part)
    assert answer["HX-Redirect"] == reverse("new_scorer", args=[team.slug, "json_match"])
    nothing = alices.get(url, {"q": "", "open": "first"}, headers=part)
    assert "HX-Redirect" not in nothing
    assert nothing.text.lstrip().startswith('<div id="types">')


@pytest.mark.parametrize(("asked", "says"), [("", "types"), ("xyzzy", "No type fits")])
def test_where_there_is_no_first_one_the_page_stays(
    alices: Client, url: str, asked: str, says: str
) -> None:
    shown = alices.get(url, {"q": asked, "open": "first"})
    assert shown.status_code == 200
    assert says in shown.text


def test_typing_swaps_the_list_alone(alices: Client, url: str) -> None:
    part = {"HX-Request": "true", "HX-Target": "types"}
    shown = alices.get(url, {"q": "lev"}, headers=part).text
    assert shown.lstrip().startswith('<div id="types">')
    assert "1 type. Enter opens Levenshtein similarity" in " ".join(shown.split())
    assert "Exact match" not in shown
