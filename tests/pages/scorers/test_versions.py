"""A scorer's page: what each version changed, any two side by side, and what rests on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.scorers.versions import MAX_LISTED
from scoring.models import Dataset, Run, Scorer, Suite, Team, User
from tests.pages.conftest import MakeSet
from tests.support.run_states import CLOSE, finished_run
from tests.support.undone import undone


@pytest.fixture
def scorer(team: Team, alice: User, bob: User) -> Scorer:
    """Three versions: two decimals, three by Alice, then unrounded and case-sensitive by Bob."""
    made = Scorer.objects.define(team, "close", "levenshtein", {})
    made.revise({"decimals": 3}, by=alice)
    made.revise({"decimals": None, "case_sensitive": True}, by=bob)
    return made


def page_of(browser: Client, scorer: Scorer, query: str = "", **headers: str) -> Any:
    return browser.get(reverse("scorer", args=[scorer.uuid]) + query, headers=headers)


def said(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def version_part(html: str, number: int) -> str:
    return said(html.partition(f'id="version-{number}"')[2].partition("<li id=")[0])


def test_each_version_says_what_it_changed_and_whose_it_is(browser: Client, scorer: Scorer) -> None:
    html = page_of(browser, scorer).text
    second, third = version_part(html, 2), version_part(html, 3)
    assert "decimals 2 3" in second
    assert "by alice@example.org" in second
    assert "case_sensitive false true" in third
    assert "decimals 3 null" in third
    assert "by bob@example.org" in third
    assert "by the site" in version_part(html, 1)
    assert "Setting Before After" not in version_part(html, 1)


def test_any_two_versions_are_laid_side_by_side(
    browser: Client, scorer: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("?from=1&to=3", "From version 1 to 3"),
        ("?from=3&to=1", "decimals null 2"),
        ("?from=2&to=2", "No setting differs."),
    ]
    for query, says in cases:
        with subtests.test(query=query, says=says), undone():
            whole = said(page_of(browser, scorer, query).text.partition('id="changes"')[2])
            assert says in whole
            part = page_of(browser, scorer, query, **{"HX-Request": "true", "HX-Target": "changes"})
            assert part.text.lstrip().startswith('<div class="changes" id="changes"')
            assert says in said(part.text)


def test_without_two_versions_none_are_compared(
    browser: Client, scorer: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "?from=1", "?from=9&to=1", "?from=x&to=\0", "?to=1&from="]
    for query in cases:
        with subtests.test(query=query), undone():
            page = page_of(browser, scorer, query)
            assert page.context["versions"].comparison is None
            assert page.context["versions"].chosen == (2, 3)


def test_a_scorer_of_one_version_offers_no_comparison(browser: Client, team: Team) -> None:
    html = page_of(browser, Scorer.objects.define(team, "same", "exact_match", {})).text
    assert 'id="changes"' not in html


def test_old_versions_tell_their_changes_by_a_link(browser: Client, team: Team) -> None:
    made = Scorer.objects.define(team, "close", "levenshtein", {"max_chars": 1})
    for size in range(2, MAX_LISTED + 4):
        made.revise({"max_chars": size}, by=None)
    html = page_of(browser, made).text
    assert html.count("Setting") == MAX_LISTED
    assert 'href="?from=1&amp;to=2#changes"' in html
    assert f'href="?from={MAX_LISTED}&amp;to={MAX_LISTED + 1}#changes"' not in html


def test_a_threshold_change_is_a_row_and_no_version(
    browser: Client, scorer: Scorer, team: Team, alice: User
) -> None:
    suite = Suite.objects.define(team, "release", [(scorer, 0.7)])
    suite.entries.get().change_threshold(0.85, by=alice, reason="Too many near misses.")
    html = page_of(browser, scorer).text
    row = said(html.partition('id="thresholds-title"')[2].partition("</table>")[0])
    assert "release 0.7 → 0.85 Too many near misses. alice@example.org" in row
    assert scorer.versions.count() == 3


def test_suites_datasets_and_runs_that_use_it_are_named(
    browser: Client, make_set: MakeSet, team: Team
) -> None:
    run = finished_run(make_set(["yes"]), CLOSE, name="w46")
    scorer = Scorer.objects.get(name="close")
    suite = Suite.objects.define(team, "release", [(scorer, 0.75)])
    Dataset.objects.filter(name="Answers").update(suite=suite)
    scorer.revise({"decimals": 4}, by=None)
    finished_run(make_set(["yes"], "Other"), ("same", "exact_match", {}), name="unrelated")
    html = page_of(browser, scorer).text
    used = html.partition('id="used-title"')[2].partition("</section>")[0]
    assert "1 suite · 1 run" in said(used)
    for url in (
        reverse("suite", args=[suite.uuid]),
        reverse("dataset", args=[Dataset.objects.get(name="Answers").uuid]),
        reverse("run", args=[run.uuid]),
    ):
        assert f'href="{url}"' in used
    assert "unrelated" not in used
    assert "1 run" in version_part(html, 1)
    assert "no run" in version_part(html, 2)


def test_nothing_uses_a_new_scorer(browser: Client, scorer: Scorer) -> None:
    html = said(page_of(browser, scorer).text)
    for words in ("In no suite yet.", "In no dataset's own suite.", "In no run yet."):
        assert words in html
    assert "Threshold changes" not in html


@pytest.mark.parametrize("count", [1, 30])
def test_the_page_takes_the_same_queries_for_any_number_of_versions_and_runs(
    browser: Client,
    make_set: MakeSet,
    django_assert_num_queries: Callable[[int], Any],
    count: int,
) -> None:
    outputs = make_set(["yes"])
    runs = [finished_run(outputs, CLOSE, name=f"w{number}") for number in range(count)]
    scorer = Scorer.objects.get(name="close")
    for number in range(2, count + 2):
        scorer.revise({"max_chars": number}, by=None)
    team = scorer.team
    for number in range(count):
        Suite.objects.define(team, f"suite {number}", [(scorer, None)])
    assert Run.objects.count() == len(runs)
    page_of(browser, scorer)
    with django_assert_num_queries(13):
        assert page_of(browser, scorer).status_code == 200


def test_what_a_config_holds_is_text(browser: Client, team: Team) -> None:
    made = Scorer.objects.define(team, "p", "regex", {"pattern": "x"})
    made.revise({"pattern": "<script>alert(1)</script>"}, by=None)
    html = page_of(browser, made).text
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_scorer_whose_type_is_gone_still_shows_what_changed(
    browser: Client, scorer: Scorer
) -> None:
    scorer.versions.update(type="gone")
    Scorer.objects.update(type="gone")
    assert "decimals 2 3" in version_part(page_of(browser, scorer).text, 2)
