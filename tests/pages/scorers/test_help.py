"""The help page of each scorer type: words, examples that hold, settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.scorers import help as help_pages
from scoring.core.config import config_fields
from scoring.core.contract import ServiceError
from scoring.core.json_text import to_text
from scoring.core.registry import SERVICE_FAMILIES, all_types
from scoring.engine.tryout import tryout
from scoring.models import Team
from tests.support.undone import undone


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A busy machine may take its time; the page does without the arithmetic then."""
    monkeypatch.setattr(tryout, "TIMEOUT_SECONDS", 30.0)
    yield
    help_pages._results.clear()


def said(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_every_type_has_a_page_with_its_settings_and_examples(
    browser: Client, subtests: pytest.Subtests
) -> None:
    for name in sorted(all_types()):
        with subtests.test(name=name), undone():
            kind = all_types()[name]
            page = browser.get(reverse("scorer_help", args=[name]))
            assert page.status_code == 200
            for spec in config_fields(kind.config):
                assert f'<span class="id">{spec.name}</span>' in page.text
            for example in kind.examples:
                assert example.note in unescape(page.text)
            assert page.text.count('class="example"') == len(kind.examples)


def test_the_arithmetic_comes_to_the_score_that_is_stated(
    browser: Client, subtests: pytest.Subtests
) -> None:
    for name in sorted(
        name for name, kind in all_types().items() if kind.family not in SERVICE_FAMILIES
    ):
        with subtests.test(name=name), undone():
            page = browser.get(reverse("scorer_help", args=[name]))
            for worked in page.context["examples"]:
                assert worked.explanation is not None
                score = worked.example.score
                if score is None:
                    assert "no score" in worked.explanation.verdict
                else:
                    assert to_text(round(score, 4)) in worked.explanation.verdict


def test_without_the_helper_the_stated_score_stands_alone(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ServiceError("the process that scores ended", retry=True)

    monkeypatch.setattr(tryout, "score", fails)
    page = browser.get(reverse("scorer_help", args=["levenshtein"]))
    assert page.status_code == 200
    assert '<p class="why">0.82</p>' in page.text


def test_a_page_takes_no_query_of_scorers(
    browser: Client, team: Team, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    browser.get(reverse("scorer_help", args=["regex"]))
    with django_assert_max_num_queries(3):
        browser.get(reverse("scorer_help", args=["regex"]))


def test_an_unknown_type_is_not_found(browser: Client) -> None:
    assert browser.get(reverse("scorer_help", args=["clairvoyance"])).status_code == 404


def test_all_types_are_listed_and_linked_from_where_one_is_made(
    browser: Client, team: Team
) -> None:
    listed = browser.get(reverse("scorer_types")).text
    choose = browser.get(reverse("new_scorer_type", args=[team.slug])).text
    for name, kind in all_types().items():
        url = reverse("scorer_help", args=[name])
        assert f'href="{url}"' in listed
        assert f'href="{url}"' in choose
        assert kind.summary in said(listed)
    form = browser.get(reverse("new_scorer", args=[team.slug, "regex"])).text
    assert f'href="{reverse("scorer_help", args=["regex"])}"' in form


def test_codes_and_replies_are_shown(browser: Client) -> None:
    page = said(browser.get(reverse("scorer_help", args=["factuality"])).text)
    assert "code reply_unparsable" in page
    assert "I would say C." in page
