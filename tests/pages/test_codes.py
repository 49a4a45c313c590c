"""The codes of results, explained where people meet them."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from evalsite.templatetags.codes import codes
from scoring.core.codes import CODES
from scoring.engine.summaries import summarise
from scoring.models import Run, Score, User
from tests.scored import CLOSE, EXACT

BrowserOf = Callable[[User], Client]


def test_a_run_says_what_its_codes_mean_each_once(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = browser_of(bob).get(reverse("run", args=[run.uuid]))
    assert page.text.count(CODES["no_output"]) == 1
    assert page.text.count(">no_output <") == 2
    assert codes(page.context["figures"]) == [("no_output", CODES["no_output"])]


def test_a_run_without_errors_explains_nothing(browser_of: BrowserOf, bob: User, run: Run) -> None:
    Score.objects.filter(scorer__run=run).exclude(code="").delete()
    summarise(run)
    assert 'class="codes"' not in browser_of(bob).get(reverse("run", args=[run.uuid])).text


def test_a_hostile_code_of_a_custom_scorer_is_text_and_not_explained(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    Score.objects.filter(scorer__run=run, code="no_output").update(code="<b>odd</b>")
    summarise(run)
    page = browser_of(bob).get(reverse("run", args=[run.uuid])).text
    assert "<b>odd" not in page
    assert "&lt;b&gt;odd" in page
    assert 'class="codes"' not in page


def test_a_case_names_its_code_with_the_meaning(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(reverse("run_case", args=[run.uuid, 4])).text
    assert page.count(f'title="{CODES["no_output"]}">no_output</span>') == len((CLOSE, EXACT))
