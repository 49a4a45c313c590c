"""The codes of results, explained where people meet them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.templatetags.result_codes import codes
from scoring.core.explain.result_codes import CODE_MEANINGS
from scoring.engine.runs.summaries import summarize_run
from scoring.models import Run, RunSummary, Score, Status, User
from tests.support.html import on_one_line
from tests.support.run_states import CLOSE, EXACT

BrowserOf = Callable[[User], Client]


def test_a_run_says_what_its_codes_mean_each_once(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    page = browser_of(bob).get(reverse("run", args=[run.uuid]))
    listed = page.text.partition('<dl class="codes"')[2]
    assert listed.count(CODE_MEANINGS["no_output"]) == 1
    assert page.text.count(">no_output <") == 2
    assert codes(page.context["figures"]) == [(("no_output", 2), CODE_MEANINGS["no_output"])]


def test_a_run_without_errors_explains_nothing(browser_of: BrowserOf, bob: User, run: Run) -> None:
    Score.objects.filter(scorer__run=run).exclude(code="").delete()
    summarize_run(run)
    assert 'class="codes"' not in browser_of(bob).get(reverse("run", args=[run.uuid])).text


def test_a_hostile_code_of_a_custom_scorer_is_text_and_not_explained(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    Score.objects.filter(scorer__run=run, code="no_output").update(code="<b>odd</b>")
    summarize_run(run)
    page = browser_of(bob).get(reverse("run", args=[run.uuid])).text
    assert "<b>odd" not in page
    assert "&lt;b&gt;odd" in page
    assert 'class="codes"' not in page


def test_a_case_names_its_code_with_the_meaning(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(reverse("run_case", args=[run.uuid, 4])).text
    assert page.count(f'title="{CODE_MEANINGS["no_output"]}">no_output</span>') == len(
        (CLOSE, EXACT)
    )


def causes(run: Run, *counts: dict[str, int]) -> None:
    """The run's two scorers have these codes of errors, and a skip each."""
    for summary, errors in zip(RunSummary.objects.filter(scorer__run=run), counts, strict=True):
        summary.causes, summary.error_causes = errors | {"refused": 1}, errors
        summary.errors, summary.skipped = sum(errors.values()), 1
        summary.save()


def retries(page: str) -> list[tuple[str, str]]:
    """The code and the words of each button that scores the errors of one cause again."""
    forms = re.findall(r'<form class="retry".*?</form>', page, flags=re.DOTALL)
    return [
        (
            re.findall(r'name="code" value="([^"]*)"', form)[0],
            re.findall(r'type="submit">\s*([^<]*)<', form)[0],
        )
        for form in forms
    ]


def test_each_cause_of_errors_has_its_own_retry_with_their_number(
    browser: Client, run: Run
) -> None:
    causes(run, {"timeout": 1_000, "odd": 1}, {"timeout": 234})
    page = on_one_line(browser.get(reverse("run", args=[run.uuid])).text)
    assert retries(page) == [
        ("odd", "Score this error again"),
        ("timeout", "Score these 1,234 errors again"),
    ]
    assert CODE_MEANINGS["refused"] in page


def test_a_viewer_is_offered_no_retry(browser_of: BrowserOf, bob: User, run: Run) -> None:
    causes(run, {"rate_limited": 1}, {"odd": 1})
    page = browser_of(bob).get(reverse("run", args=[run.uuid])).text
    assert CODE_MEANINGS["rate_limited"] in page
    assert retries(page) == []


def test_a_cause_is_retried_alone(browser: Client, run: Run) -> None:
    first, second = Score.objects.filter(scorer__run=run, score__isnull=False)[:2]
    for row, code in ((first, "timeout"), (second, "rate_limited")):
        row.status, row.score, row.verdict, row.code = Status.ERROR, None, None, code
        row.save()
    address = reverse("retry_run", args=[run.uuid])
    answer = browser.post(address, {"code": "key_refused"}, follow=True)
    assert "There are no errors to score again." in answer.text
    browser.post(address, {"code": "timeout"})
    attempt = run.attempts.get(kind="retry")
    assert (attempt.code, attempt.shards.get().first_output) == ("timeout", first.output_id)


@pytest.mark.parametrize(("code", "asks"), [("budget_reached", 2), ("timeout", 0)])
def test_a_spent_budget_asks_for_a_new_one_beside_its_own_retry(
    browser: Client, run: Run, code: str, asks: int
) -> None:
    Run.objects.filter(pk=run.pk).update(budget_usd=1.0)
    causes(run, {code: 1}, {})
    page = browser.get(reverse("run", args=[run.uuid])).text
    assert page.count('name="budget_usd"') == asks
