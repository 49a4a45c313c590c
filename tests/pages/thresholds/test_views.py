"""The page of a threshold: preview, flips, and the change by an admin."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from scoring.models import (
    AuditEntry,
    DatasetVersion,
    Run,
    Suite,
    ThresholdChange,
    User,
)
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]
SCORES = {"close": [0.2, 0.6, 0.7, "error"], "same": [1, 0, 1, 1]}


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{}] * 4)


@pytest.fixture
def runs(version: DatasetVersion) -> list[Run]:
    """Of the suite `release`, the oldest first."""
    return [suite_run(version, SCORES, name=name) for name in ("w45", "w46")]


def page_url(name: str = "close") -> str:
    entry = entry_of(name)
    return reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])


def words(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def flips_of(answer: Any) -> list[str]:
    return [row.case.key for row in answer.context["page"].rows()]


def change(threshold: str, reason: str = "Too lenient.", old: str = "0.5") -> dict[str, str]:
    return {"threshold": threshold, "old": old, "reason": reason}


def test_the_page_begins_with_the_present_threshold(alices: Client, runs: list[Run]) -> None:
    answer = alices.get(page_url())
    assert "At 0.5, 2 of 3 cases of w46 pass: 66.7 %." in words(answer)
    assert answer.context["page"].chart.current_x == answer.context["page"].chart.new_x
    assert flips_of(answer) == []
    assert "Change from" not in answer.text


def test_a_preview_lists_and_links_the_cases_that_flip(alices: Client, runs: list[Run]) -> None:
    answer = alices.get(page_url(), {"threshold": "0.65"})
    assert "1 of 3 cases of w46 would fail instead of pass" in words(answer)
    assert "No case verdict changes: other scorers fail these cases." in words(answer)
    assert flips_of(answer) == ["case-2"]
    case = reverse("run_case", args=[runs[1].uuid, 2])
    assert f'href="{case}"' in answer.text
    assert alices.get(case).status_code == 200


def test_the_flips_of_an_earlier_run_are_listed_on_request(alices: Client, runs: list[Run]) -> None:
    answer = alices.get(page_url(), {"threshold": "0.65", "run": str(runs[0].uuid)})
    assert "cases of w45 would fail" in words(answer)
    assert reverse("run_case", args=[runs[0].uuid, 2]) in answer.text


def test_pages_of_flips_follow_each_other(alices: Client, make_dataset: MakeDataset) -> None:
    suite_run(make_dataset([{}] * 120), {"close": [0.6] * 120})
    answer = alices.get(page_url(), {"threshold": "0.7"})
    seen = flips_of(answer)
    while url := answer.context["page"].next_url:
        answer = alices.get(page_url() + url)
        seen += flips_of(answer)
    assert len(seen) == len(set(seen)) == 120
    back = alices.get(page_url() + answer.context["page"].previous_url)
    assert flips_of(back) == seen[50:100]


def test_what_the_preview_lists_flips_when_the_run_is_judged_by_the_new_threshold(
    alices: Client, make_dataset: MakeDataset
) -> None:
    random = Random(3)
    scores = [random.choice([n / 8 for n in range(9)]) for _ in range(40)]
    run = suite_run(make_dataset([{}] * 40), {"close": scores})
    for new in [0.0, 1.0, 3 / 8, *(random.random() for _ in range(7))]:
        answer = alices.get(page_url(), {"threshold": repr(new)})
        keys = run.output_set.version.cases.order_by("position").values_list("key", flat=True)
        pairs = zip(keys, scores, strict=True)
        wanted = {key for key, score in pairs if (score >= 0.5) != (score >= new)}
        assert set(flips_of(answer)) == wanted


def test_an_admin_changes_the_threshold_with_a_reason(
    alices: Client, alice: User, runs: list[Run]
) -> None:
    answer = alices.post(page_url(), change("0.65"), follow=True)
    assert entry_of().threshold == 0.65
    assert "Threshold of close changed: 0.5 → 0.65." in words(answer)
    assert "0.5 → 0.65 preview 0.5 Too lenient. alice@example.org" in words(answer)
    entry = AuditEntry.objects.get(action="threshold.changed")
    assert (entry.actor_id, entry.new["reason"]) == (str(alice.pk), "Too lenient.")
    for page in ("suite", "scorer"):
        row = getattr(entry_of(), page)
        assert "Too lenient." in alices.get(reverse(page, args=[row.uuid])).text


def test_a_change_that_cannot_be_made_says_why(
    alices: Client, runs: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        (change("0.65", reason=" "), "Enter a reason for the threshold change."),
        (change("0.5"), "The threshold is 0.5 already."),
        (change("1.5"), "less than or equal to 1"),
        (change("nan"), "Enter a number."),
    ]
    for sent, problem in cases:
        with subtests.test(sent=sent, problem=problem), undone():
            answer = alices.post(page_url(), sent)
            assert answer.status_code == 422
            assert problem in unescape(answer.text)
            assert entry_of().threshold == 0.5


def test_a_change_of_a_threshold_that_is_no_longer_shown_is_a_conflict(
    alices: Client, runs: list[Run]
) -> None:
    answer = alices.post(page_url(), change("0.65", old="0.4"))
    assert answer.status_code == 409
    said = "Another user set the threshold of close to 0.5 in the meantime. The preview is updated"
    assert said in words(answer)
    assert entry_of().threshold == 0.5


def test_a_viewer_previews_and_changes_nothing(
    browser_of: BrowserOf, alice: User, bob: User, runs: list[Run]
) -> None:
    browser = browser_of(bob)
    answer = browser.get(page_url(), {"threshold": "0.65"})
    assert flips_of(answer) == ["case-2"]
    assert '<button class="button button-primary"' not in answer.text
    who = "Only an administrator of the team can change the threshold: alice@example.org."
    assert who in words(answer)
    refused = browser.post(page_url(), change("0.65"))
    assert refused.status_code == 403
    assert "yours is viewer. Admins of the team: alice@example.org." in words(refused)
    assert entry_of().threshold == 0.5


def test_a_scorer_outside_the_suite_is_not_found(alices: Client, runs: list[Run]) -> None:
    url = page_url("same")
    Suite.objects.get().replace_entries([(entry_of().scorer, None)], by=None)
    assert alices.get(url).status_code == 404


def test_htmx_gets_the_preview_alone(alices: Client, runs: list[Run]) -> None:
    headers = {"HX-Request": "true", "HX-Target": "preview"}
    answer = alices.get(page_url(), {"threshold": "0.65"}, headers=headers)
    assert answer.text.lstrip().startswith('<div id="preview">')


def test_a_query_that_makes_no_sense_is_refused(
    alices: Client, runs: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[dict[str, str]] = [{"threshold": "7"}, {"threshold": "x"}, {"run": "x"}]
    for query in cases:
        with subtests.test(query=query), undone():
            answer = alices.get(page_url(), query)
            assert answer.status_code == 422
            assert "Nothing can be previewed" in answer.text


def test_what_is_wrong_with_a_threshold_is_said_once(alices: Client, runs: list[Run]) -> None:
    errors = alices.get(page_url(), {"threshold": "7"}).context["form"].errors
    assert errors == {"threshold": ["Ensure this value is less than or equal to 1."]}


def test_without_a_finished_run_there_is_no_curve(alices: Client, runs: list[Run]) -> None:
    Run.objects.all().delete()
    answer = alices.get(page_url(), {"threshold": "0.65"})
    assert "No finished run" in answer.text
    assert "<figure" not in answer.text
    assert "Change threshold" in answer.text


def test_more_runs_and_cases_take_no_more_queries(
    alices: Client, make_dataset: MakeDataset, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    suite_run(make_dataset([{}] * 2), {"close": [0.6] * 2})
    url, counts = page_url(), []
    for count in (2, 60):
        version = make_dataset([{}] * count, name=f"{count} cases")
        for number in range(count // 10):
            suite_run(version, {"close": [0.6] * count}, name=f"{count} {number}")
        alices.get(url, {"threshold": "0.7"})
        with django_assert_num_queries(99, exact=False) as captured:
            alices.get(url, {"threshold": "0.7"})
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_the_default_of_a_scorer_changes_on_a_page_like_that(
    alices: Client, runs: list[Run]
) -> None:
    scorer = entry_of().scorer
    url = reverse("scorer_threshold", args=[scorer.uuid])
    answer = alices.get(url, {"threshold": "0.55"})
    assert "At 0.55 instead of 0.7, 1 of 3 cases of w46 would pass instead of fail" in words(answer)
    assert flips_of(answer) == ["case-2"]
    answer = alices.post(url, change("0.55", old="0.7"), follow=True)
    assert "0.7 → 0.55 preview 0.7 Too lenient. alice@example.org" in words(answer)
    scorer.refresh_from_db()
    assert (scorer.threshold, entry_of().threshold) == (0.55, 0.5)
    for page in ("scorer", "edit_scorer"):
        assert f'href="{url}"' in alices.get(reverse(page, args=[scorer.uuid])).text
    history = words(alices.get(reverse("scorer", args=[scorer.uuid])))
    assert "default 0.7 → 0.55 Too lenient." in history
    assert "Too lenient." not in alices.get(reverse("suite", args=[entry_of().suite.uuid])).text


def test_a_viewer_leaves_the_default_alone(
    browser_of: BrowserOf, bob: User, runs: list[Run]
) -> None:
    url = reverse("scorer_threshold", args=[entry_of().scorer.uuid])
    browser = browser_of(bob)
    assert browser.get(url).status_code == 200
    assert browser.post(url, change("0.55", old="0.7")).status_code == 403
    assert entry_of().scorer.threshold == 0.7


def let_others_act_first(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Somebody else acts after the page has read the threshold and before it changes it."""
    change = Suite.change_thresholds

    def wait(suite: Suite, *args: Any, **kwargs: Any) -> list[ThresholdChange]:
        monkeypatch.setattr(Suite, "change_thresholds", change)
        act()
        return change(suite, *args, **kwargs)

    monkeypatch.setattr(Suite, "change_thresholds", wait)


def test_a_threshold_that_changes_meanwhile_is_shown(
    alices: Client, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    let_others_act_first(monkeypatch, lambda: entry_of().change_threshold(0.4, by=None, reason="x"))
    answer = alices.post(page_url(), change("0.65"))
    assert answer.status_code == 409
    assert "The operator set the threshold of close to 0.4 in the meantime (“x”)." in words(answer)
    assert "Change from 0.4 to 0.65" in words(answer)
    assert "Too lenient.</textarea>" in answer.text
    assert entry_of().threshold == 0.4


def test_a_scorer_that_leaves_the_suite_meanwhile_is_named(
    alices: Client, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = [(entry_of("same").scorer, None)]
    let_others_act_first(monkeypatch, lambda: Suite.objects.get().replace_entries(rest, by=None))
    answer = alices.post(page_url(), change("0.65"), follow=True)
    assert answer.redirect_chain[0][0] == reverse("suite", args=[Suite.objects.get().uuid])
    assert "The operator removed close in the meantime. Nothing was changed." in words(answer)
