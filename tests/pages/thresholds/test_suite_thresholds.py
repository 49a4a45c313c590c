"""Several thresholds of a suite are previewed and changed together."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, Run, Suite, ThresholdChange, ThresholdProposal, User
from tests.conftest import MakeDataset
from tests.pages.thresholds.test_effects import words
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db
BrowserOf = Callable[[User], Client]
SCORES = {"close": [0.2, 0.6, 0.7, 0.9], "same": [1, 0, 1, 1]}


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return suite_run(make_dataset([{}] * 4), SCORES)


def url() -> str:
    return reverse("suite_thresholds", args=[entry_of().suite.uuid])


def fields(**thresholds: str) -> dict[str, str]:
    return {f"threshold-{entry_of(name).scorer.uuid}": v for name, v in thresholds.items()}


def sent(reason: str = "Reviewers said so.", **thresholds: str) -> dict[str, str]:
    seen = {f"old-{entry_of(name).scorer.uuid}": "0.5" for name in thresholds}
    return fields(**thresholds) | seen | {"reason": reason}


def stored() -> dict[str, float]:
    return {name: entry_of(name).threshold for name in SCORES}


def test_one_preview_has_all_of_them(alices: Client, run: Run) -> None:
    answer = alices.get(url(), fields(close="0.8", same="0.5"))
    said = words(answer)
    assert "close 0.5 → 0.8 75.0 % 25.0 % 0 2 same 0.5 75.0 % \N{EN DASH} 0 0" in said
    assert [each.scorer.name for each in answer.context["page"].changed] == ["close"]
    alone = reverse("suite_threshold", args=[entry_of().suite.uuid, entry_of().scorer.uuid])
    assert f"{alone}?threshold=0.8&run={run.uuid}" in unescape(answer.text)
    assert "thresholds/effects/" in answer.text
    assert stored() == {"close": 0.5, "same": 0.5}


def test_without_another_threshold_nothing_is_offered(alices: Client, run: Run) -> None:
    answer = alices.get(url())
    assert "Change together" not in words(answer)
    assert "thresholds/effects/" not in answer.text


def test_an_admin_changes_them_as_one_change(alices: Client, alice: User, run: Run) -> None:
    answer = alices.post(url(), sent(close="0.8", same="0.25"), follow=True)
    assert "Thresholds changed: close 0.5 → 0.8, same 0.5 → 0.25." in words(answer)
    assert stored() == {"close": 0.8, "same": 0.25}
    changes = ThresholdChange.objects.all()
    assert {(c.reason, c.changed_by, c.revision) for c in changes} == {
        ("Reviewers said so.", alice, 2)
    }
    assert Suite.objects.get().revision == 2
    assert AuditEntry.objects.filter(action="threshold.changed").count() == 2
    assert "changed together with the one above" in words(answer)


def test_an_editor_proposes_them_together(browser: Client, run: Run) -> None:
    answer = browser.post(url(), sent(close="0.8", same="0.25"), follow=True)
    assert "Proposed. An administrator accepts or rejects it." in words(answer)
    assert len(ThresholdProposal.objects.get().thresholds) == 2
    assert stored() == {"close": 0.5, "same": 0.5}


def test_a_viewer_sees_who_may(browser_of: BrowserOf, alice: User, bob: User, run: Run) -> None:
    answer = browser_of(bob).get(url(), fields(close="0.8"))
    who = "Only an administrator of the team can change the thresholds: alice@example.org."
    assert who in words(answer)
    assert browser_of(bob).post(url(), sent(close="0.8")).status_code == 403


def test_all_of_it_is_refused_where_one_has_changed(alices: Client, run: Run) -> None:
    entry_of("same").change_threshold(0.4, by=None, reason="Too strict.")
    answer = alices.post(url(), sent(close="0.8", same="0.25"))
    assert answer.status_code == 409
    said = words(answer)
    assert "The operator set the threshold of same to 0.4 in the meantime (“Too strict.”)." in said
    assert "Reviewers said so.</textarea>" in answer.text
    assert "close 0.5 → 0.8" in said
    assert "same 0.4 → 0.25" in said
    assert stored() == {"close": 0.5, "same": 0.4}


def test_a_scorer_that_has_left_is_named(alices: Client, run: Run) -> None:
    given = sent(close="0.8", same="0.25")
    Suite.objects.get().replace_entries([(entry_of().scorer, None)], by=None)
    alices.post(url(), given, follow=True)
    assert entry_of().threshold == 0.8  # the form asks for those of the suite alone


@pytest.mark.parametrize(
    ("thresholds", "reason", "problem"),
    [
        ({"close": "0.8"}, " ", "Enter a reason for the threshold change."),
        ({"close": "0.5"}, "x", "Enter another threshold for at least one scorer."),
        ({"close": "7"}, "x", "Ensure this value is less than or equal to 1"),
        ({"close": "x"}, "x", "Enter a number."),
    ],
)
def test_what_cannot_be_says_why(
    alices: Client, run: Run, thresholds: dict[str, str], reason: str, problem: str
) -> None:
    answer = alices.post(url(), sent(reason, **thresholds))
    assert answer.status_code == 422
    assert problem in words(answer)
    assert stored() == {"close": 0.5, "same": 0.5}


def test_htmx_gets_the_preview_with_or_without_the_form(alices: Client, run: Run) -> None:
    for target, has_form in (("several", True), ("outlook", False)):
        headers = {"HX-Request": "true", "HX-Target": target}
        part = alices.get(url(), fields(close="0.8"), headers=headers).text
        assert part.lstrip().startswith(f'<div id="{target}"')
        assert ("csrfmiddlewaretoken" in part) == has_form


def test_the_last_run_of_each_series_is_offered(alices: Client, run: Run) -> None:
    other = suite_run(run.output_set.version, SCORES, name="w47")
    other.output_set.series = "other"
    other.output_set.save()
    suite_run(run.output_set.version, SCORES, name="w48")
    page = alices.get(url(), {"run": str(other.uuid), **fields(close="0.8")}).context["page"]
    assert {each.name for each in page.runs} == {"w47", "w48"}
    assert page.chosen == other


def test_without_a_run_it_is_said(alices: Client, run: Run) -> None:
    Run.objects.update(state="cancelled")
    assert "A preview requires a finished run of the suite." in words(alices.get(url()))


def test_more_scorers_take_no_more_queries(
    alices: Client, make_dataset: MakeDataset, django_assert_max_num_queries: Any
) -> None:
    scores = {f"scorer {n}": [0.5, 0.7] for n in range(12)}
    suite_run(make_dataset([{}] * 2), scores)
    for page in (reverse("suite", args=[Suite.objects.get().uuid]),
                 reverse("suite_thresholds", args=[Suite.objects.get().uuid])):  # fmt: skip
        with django_assert_max_num_queries(24):
            assert alices.get(page).status_code == 200
