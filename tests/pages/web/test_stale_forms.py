"""Two people at one form: what the first saved is told to the second before it is overwritten."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Member, Role, Run, Scorer, Suite, Team, User
from scoring.models.team.audit_entry import AuditQuerySet
from tests.pages.runs.steps import BrowserOf
from tests.support.concurrency import call_all_at_once, wait_for_all
from tests.support.undone import undone

KEPT = "What you typed is kept here. Save again to put it in place of that."


class Form:
    """Somebody who has opened a form and fills it in, with or without scripts."""

    def __init__(self, browser: Client, url: str) -> None:
        self._browser, self.url = browser, url
        self._take(browser.get(url))

    def _take(self, answer: Any) -> None:
        self.answer = answer
        if answer.status_code == 302:
            return
        form = answer.context["form"]
        shown = {field.html_name: field.value() for field in form}
        self.fields = {name: value for name, value in shown.items() if value not in (None, False)}
        (seen,) = re.findall(r'name="seen" value="(\d+)"', answer.text)
        self.fields["seen"] = seen

    def save(self, **typed: Any) -> int:
        self._take(self._browser.post(self.url, self.fields | typed))
        return int(self.answer.status_code)

    @property
    def says(self) -> str:
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.answer.text)).split())


Opening = Callable[[str], tuple[Form, Form]]


@pytest.fixture
def opened(browser_of: BrowserOf, alice: User, bob: User, team: Team) -> Opening:
    """The same form as Alice and as Bob have opened it; Bob may all that she may."""
    Member.objects.filter(team=team, user__in=[alice, bob]).update(role=Role.ADMIN)
    browsers = browser_of(alice), browser_of(bob)

    def open_at(url: str) -> tuple[Form, Form]:
        first, second = (Form(browser, url) for browser in browsers)
        return first, second

    return open_at


@pytest.fixture
def close(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close", "levenshtein", {"decimals": 3})


@pytest.fixture
def suite(team: Team, close: Scorer) -> Suite:
    Scorer.objects.define(team, "same", "exact_match", {})
    return Suite.objects.define(team, "release", [(close, 0.75)])


def test_a_scorer_that_somebody_else_revised_is_not_overwritten_unseen(
    opened: Opening, close: Scorer, alice: User
) -> None:
    hers, his = opened(reverse("edit_scorer", args=[close.uuid]))
    assert hers.save(**{"config-decimals": "4"}) == 302
    assert his.save(**{"config-decimals": "5"}) == 422
    assert f"{alice} changed close after this form was opened. {KEPT}" in his.says
    assert his.fields["config-decimals"] == "5"
    close.refresh_from_db()
    assert [version.config["decimals"] for version in close.versions.order_by("number")] == [3, 4]
    assert his.save() == 302
    assert close.versions.order_by("number").last().config["decimals"] == 5  # type: ignore[union-attr]


def test_going_from_json_to_fields_and_trying_out_do_not_hide_what_happened(
    opened: Opening, close: Scorer
) -> None:
    hers, his = opened(reverse("edit_scorer", args=[close.uuid]))
    opening = his.fields["seen"]
    hers.save(**{"config-decimals": "4"})
    for order in ({"tree": "json"}, {"tree": "fields"}, {"try": "1"}):
        assert his.save(**order) == 200
        assert his.fields["seen"] == opening
    assert his.save() == 422


def test_a_suite_keeps_what_somebody_else_put_into_it(
    opened: Opening, suite: Suite, close: Scorer
) -> None:
    hers, his = opened(reverse("edit_suite", args=[suite.uuid]))
    both = [str(scorer.uuid) for scorer in Scorer.objects.all()]
    assert hers.save(scorers=both) == 302
    assert his.save(name="release 2", scorers=[str(close.uuid)]) == 422
    assert "changed release after this form was opened." in his.says
    suite.refresh_from_db()
    assert (suite.name, suite.entries.count()) == ("release", 2)


def test_a_threshold_that_somebody_else_set_is_told(
    opened: Opening, suite: Suite, close: Scorer
) -> None:
    hers, his = opened(reverse("edit_suite", args=[suite.uuid]))
    threshold = f"threshold-{close.uuid}"
    assert hers.save(**{threshold: "0.9", "reason": "too lenient"}) == 302
    assert his.save(name="nightly", reason="as it was") == 422
    assert "changed release · close after this form was opened." in his.says
    assert suite.entries.get().threshold == 0.9


def test_the_note_of_a_run_is_not_lost(opened: Opening, run: Run) -> None:
    hers, his = opened(reverse("edit_run", args=[run.uuid]))
    assert hers.save(note="Ship it.") == 302
    assert his.save(note="Do not.") == 422
    run.refresh_from_db()
    assert run.note == "Ship it."
    assert his.save() == 302
    run.refresh_from_db()
    assert run.note == "Do not."


def test_ones_own_other_window_is_told_as_that(
    browser_of: BrowserOf, alice: User, run: Run
) -> None:
    browser, url = browser_of(alice), reverse("edit_run", args=[run.uuid])
    one, other = Form(browser, url), Form(browser, url)
    assert one.save(name="release") == 302
    assert other.save(name="w47") == 422
    assert "You changed release in another window after this form was opened." in other.says


def test_what_changes_nothing_of_the_form_stops_nobody(
    opened: Opening, browser_of: BrowserOf, alice: User, run: Run
) -> None:
    _, his = opened(reverse("edit_run", args=[run.uuid]))
    browser_of(alice).post(reverse("archive_run", args=[run.uuid]))
    assert his.save(name="w47") == 302


def test_a_mark_that_cannot_be_read_stops_nobody(
    opened: Opening, close: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "x", "-1", "9" * 40, "\u0663"]
    for seen in cases:
        with subtests.test(seen=seen), undone():
            hers, his = opened(reverse("edit_scorer", args=[close.uuid]))
            hers.save(name="closer")
            his.fields["seen"] = seen
            assert his.save(name="closest") == 302


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["run", "dataset", "scorer", "suite"])
def test_of_two_who_save_in_the_same_moment_one_is_told(
    opened: Opening, run: Run, team: Team, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = Scorer.objects.get(name="close")
    suite = Suite.objects.define(team, "release", [(scorer, 0.75)])
    urls = {
        "run": reverse("edit_run", args=[run.uuid]),
        "dataset": reverse("rename_dataset", args=[run.output_set.version.dataset.uuid]),
        "scorer": reverse("edit_scorer", args=[scorer.uuid]),
        "suite": reverse("edit_suite", args=[suite.uuid]),
    }
    monkeypatch.setattr(AuditQuerySet, "record", wait_for_all(AuditQuerySet.record, 2))
    acts = [partial(form.save, name=f"New {n}") for n, form in enumerate(opened(urls[kind]))]
    assert sorted(call_all_at_once(acts)) == [302, 422]
