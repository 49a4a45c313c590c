"""Suites: thresholds of their own, and whole ones from and to a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evalsite.pages.suites.forms import SuiteForm
from scoring.core.suites.suite_format import MAX_CHARS
from scoring.models import AuditEntry, Scorer, Suite, Team, ThresholdChange, User
from tests.conftest import MakeDataset
from tests.support.browser_forms import as_sent
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
FILE = """
name: release
scorers:
  - name: close
    type: levenshtein
    threshold: 0.8
    config: {decimals: 3}
  - {name: same, type: exact_match}
"""


@pytest.fixture
def close(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close", "levenshtein", {"decimals": 3})


@pytest.fixture
def same(team: Team) -> Scorer:
    return Scorer.objects.define(team, "same", "exact_match", {})


@pytest.fixture
def suite(team: Team, close: Scorer) -> Suite:
    """Nothing uses it."""
    return Suite.objects.define(team, "release", [(close, 0.75)])


@pytest.fixture
def used(suite: Suite, make_dataset: MakeDataset) -> Suite:
    """The suite of a dataset."""
    suite.assign_to(make_dataset([{"input": "q"}]).dataset, by=None)
    return suite


def thresholds(name: str = "release") -> dict[str, float]:
    entries = Suite.objects.get(name=name).entries.select_related("scorer")
    return {entry.scorer.name: entry.threshold for entry in entries}


def said(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


# Thresholds


def test_each_scorer_of_a_new_suite_may_have_its_own_threshold(
    browser: Client, team: Team, close: Scorer, same: Scorer
) -> None:
    form = {"name": "release", "scorers": [close.uuid, same.uuid], f"threshold-{close.uuid}": "0.9"}
    assert browser.post(reverse("new_suite", args=[team.slug]), form).status_code == 302
    assert thresholds() == {"close": 0.9, "same": 1.0}


def test_a_threshold_that_is_none_is_refused_at_its_field(
    browser: Client, team: Team, close: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["1.1", "-0.1", "x", "nan"]
    for given in cases:
        with subtests.test(given=given), undone():
            form = {"name": "release", "scorers": [close.uuid], f"threshold-{close.uuid}": given}
            answer = browser.post(reverse("new_suite", args=[team.slug]), form)
            assert answer.status_code == 422
            assert f'href="#id_threshold-{close.uuid}"' in answer.text
            assert f'id="id_threshold-{close.uuid}"' in answer.text
            assert not Suite.objects.exists()


def test_an_editor_leaves_thresholds_that_count_alone(
    browser: Client, used: Suite, close: Scorer, same: Scorer
) -> None:
    url = reverse("edit_suite", args=[used.uuid])
    page = browser.get(url)
    assert f"threshold-{close.uuid}" not in page.text
    assert "0.75 kept" in said(page)
    assert "Only an administrator can rename a suite that runs or datasets use." in said(page)
    form = {"name": "mine", "scorers": [close.uuid, same.uuid]}
    form |= {f"threshold-{close.uuid}": "0.1", f"threshold-{same.uuid}": "0.5", "reason": "x"}
    browser.post(url, form)
    assert thresholds() == {"close": 0.75, "same": 0.5}
    assert ThresholdChange.objects.get().text == "added at 0.5"


def test_a_removed_scorer_shows_the_threshold_that_it_comes_back_with(
    browser: Client, browser_of: BrowserOf, alice: User, used: Suite, close: Scorer, same: Scorer
) -> None:
    used.replace_entries([(same, None)], by=None)
    url = reverse("edit_suite", args=[used.uuid])
    page = browser.get(url)
    assert "0.75 if added again" in said(page)
    assert f'value="{close.uuid}" id="scorer-{close.uuid}">' in page.text
    field = browser_of(alice).get(url).context["form"][f"threshold-{close.uuid}"]
    assert field.value() == "0.75"
    browser.post(url, {"name": "release", "scorers": [close.uuid, same.uuid]})
    assert thresholds() == {"same": 1.0, "close": 0.75}
    history = said(browser.get(reverse("suite", args=[used.uuid])))
    assert "close added at 0.75 \N{EN DASH} erin@example.org" in history
    assert "same added at 1 \N{EN DASH} the operator" in history
    assert "close removed (was 0.75) changed together with the one above" in history


def test_an_editor_changes_what_nothing_uses(browser: Client, suite: Suite, close: Scorer) -> None:
    url = reverse("edit_suite", args=[suite.uuid])
    assert "reason" not in browser.get(url).context["form"].fields
    form = {"name": "nightly", "scorers": [close.uuid], f"threshold-{close.uuid}": "0.9"}
    browser.post(url, form)
    assert thresholds("nightly") == {"close": 0.9}
    assert ThresholdChange.objects.get().reason == "Changed before anything used the suite."


def test_a_suite_that_becomes_used_meanwhile_keeps_its_thresholds(
    browser: Client, suite: Suite, close: Scorer, make_dataset: MakeDataset
) -> None:
    sent = {"name": "release", "scorers": [close.uuid], f"threshold-{close.uuid}": "0.9"}
    seen = SuiteForm(team=suite.team, suite=suite).seen
    form = SuiteForm(sent | {"seen": seen}, team=suite.team, suite=suite)
    assert form.is_valid()
    suite.assign_to(make_dataset([{"input": "q"}]).dataset, by=None)
    assert form.save(User.objects.get(email="erin@example.org")) is None
    assert form.non_field_errors() == ["Enter a reason for the threshold change."]
    assert thresholds() == {"close": 0.75}


def test_a_suite_is_copied_with_its_thresholds(
    browser: Client, used: Suite, close: Scorer, same: Scorer
) -> None:
    page = browser.get(reverse("suite", args=[used.uuid]))
    url = reverse("new_suite", args=["support"]) + f"?copy={used.uuid}"
    assert f'href="{url}"' in page.text
    form = browser.get(url)
    fields = as_sent(
        form.text.replace('<form class="form column suite-form"', '<form id="scorer-form"')
    )
    assert browser.post(url, fields).status_code == 302
    assert thresholds("Copy of release") == {"close": 0.75}


@pytest.mark.parametrize("copied", ["nonsense", "0190a000-0000-7000-8000-000000000000"])
def test_copying_nothing_is_a_new_suite(browser: Client, team: Team, copied: str) -> None:
    page = browser.get(reverse("new_suite", args=[team.slug]), {"copy": copied})
    assert "New suite" in said(page)


def test_an_administrator_changes_one_with_a_reason(
    browser_of: BrowserOf, alice: User, used: Suite, close: Scorer
) -> None:
    browser, url = browser_of(alice), reverse("edit_suite", args=[used.uuid])
    form = {"name": "release", "scorers": [close.uuid], f"threshold-{close.uuid}": "0.9"}
    refused = browser.post(url, form | {"reason": " "})
    assert refused.status_code == 422
    assert "Enter a reason for the threshold change." in said(refused)
    assert thresholds() == {"close": 0.75}
    browser.post(url, form | {"reason": "Too many near misses."})
    assert thresholds() == {"close": 0.9}
    change = ThresholdChange.objects.get()
    assert (change.old, change.new, change.changed_by) == (0.75, 0.9, alice)
    assert change.reason == "Too many near misses."
    assert AuditEntry.objects.filter(action="threshold.changed").count() == 1


def test_saving_an_untouched_suite_changes_nothing(
    browser_of: BrowserOf, alice: User, suite: Suite, same: Scorer
) -> None:
    browser, url = browser_of(alice), reverse("edit_suite", args=[suite.uuid])
    shown = browser.get(url)
    fields = as_sent(
        shown.text.replace('<form class="form column suite-form"', '<form id="scorer-form"')
    )
    before = AuditEntry.objects.count()
    assert browser.post(url, fields).status_code == 302
    suite.refresh_from_db()
    assert (suite.revision, AuditEntry.objects.count()) == (1, before)


def test_the_order_of_a_suite_stays_and_new_scorers_come_behind(
    browser: Client, team: Team, close: Scorer, same: Scorer
) -> None:
    suite = Suite.objects.define(team, "release", [(same, None), (close, None)])
    first = Scorer.objects.define(team, "a first name", "exact_match", {})
    form = {"name": "release", "scorers": [first.uuid, close.uuid, same.uuid]}
    browser.post(reverse("edit_suite", args=[suite.uuid]), form)
    assert list(thresholds()) == ["same", "close", "a first name"]


# To a file


def test_a_suite_is_one_file(
    browser_of: BrowserOf, bob: User, suite: Suite, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [("yaml", "yaml"), ("json", "json"), ("x", "yaml")]
    for spelling, kind in cases:
        with subtests.test(spelling=spelling, kind=kind), undone():
            answer = browser_of(bob).get(
                reverse("export_suite", args=[suite.uuid]), {"as": spelling}
            )
            assert answer["Content-Type"] == f"application/{kind}"
            assert answer["Content-Disposition"] == f'attachment; filename="release.{kind}"'
            whole = {
                "name": "close",
                "type": "levenshtein",
                "threshold": 0.75,
                "config": {"decimals": 3},
            }
            expected = {"name": "release", "scorers": [whole]}
            if kind == "json":
                assert json.loads(answer.text) == expected
            else:
                assert "    threshold: 0.75\n" in answer.text


def test_an_exported_suite_imports_into_another_team_and_back_unchanged(
    browser: Client, browser_of: BrowserOf, charlie: User, suite: Suite, same: Scorer
) -> None:
    suite.replace_entries(
        [(same, 0.4), *[(e.scorer, e.threshold) for e in suite.entries.all()]], by=None
    )
    text = browser.get(reverse("export_suite", args=[suite.uuid])).text
    Importing(browser_of(charlie), "elsewhere").take(text).confirm()
    theirs = Suite.objects.get(team__slug="elsewhere")
    assert {e.scorer.name: e.threshold for e in theirs.entries.all()} == {
        "same": 0.4,
        "close": 0.75,
    }
    again = browser_of(charlie).get(reverse("export_suite", args=[theirs.uuid])).text
    assert again == text
    looked = Importing(browser, "support").take(text)
    assert "Everything is as the file says already." in said(looked.answer)


# From a file


class Importing:
    """Somebody at the import page, without scripts."""

    def __init__(self, browser: Client, slug: str) -> None:
        self._browser, self._url = browser, reverse("import_suite", args=[slug])

    def take(self, text: str, **more: Any) -> Importing:
        return self._send({"text": text, **more})

    def _send(self, fields: Any) -> Importing:
        self.answer = self._browser.post(self._url, fields)
        html = self.answer.text.replace('<form class="form suite-import"', '<form id="scorer-form"')
        self.fields = as_sent(html)
        return self

    def again(self, **typed: str) -> Importing:
        return self._send(self.fields | {k.replace("_", "-"): [v] for k, v in typed.items()})

    def confirm(self, **typed: str) -> Importing:
        return self.again(**typed, **{"import": "yes"})


@pytest.fixture
def importing(browser: Client, team: Team) -> Importing:
    return Importing(browser, team.slug)


def states(importing: Importing) -> list[str]:
    plan = importing.answer.context["plan"]
    return [line.state for line in plan.lines]


def test_what_it_would_do_is_shown_before_it_does_it(importing: Importing) -> None:
    importing.take(FILE)
    assert importing.answer.status_code == 200
    assert states(importing) == ["new", "new"]
    assert not Scorer.objects.exists()
    importing.confirm()
    assert importing.answer.status_code == 302
    assert thresholds() == {"close": 0.8, "same": 1.0}
    assert Scorer.objects.get(name="close").current.config["decimals"] == 3  # type: ignore[union-attr]
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["scorer.created", "scorer.created", "suite.created"]


def test_what_is_the_same_is_reused(importing: Importing, close: Scorer) -> None:
    assert states(importing.take(FILE)) == ["same", "new"]
    importing.confirm()
    assert close.versions.count() == 1
    assert thresholds() == {"close": 0.8, "same": 1.0}
    close.refresh_from_db()
    assert close.threshold == 0.7  # its own default


def test_another_config_is_a_new_version_and_says_what_changes(
    importing: Importing, team: Team
) -> None:
    close = Scorer.objects.define(team, "close", "levenshtein", {"decimals": 1})
    assert states(importing.take(FILE)) == ["revised", "new"]
    assert "decimals 1 3" in said(importing.answer)
    importing.confirm()
    assert close.versions.count() == 2


def test_a_name_that_means_another_type_has_to_be_changed(importing: Importing, team: Team) -> None:
    Scorer.objects.define(team, "close", "regex", {"pattern": "x"})
    assert states(importing.take(FILE)) == ["clash", "new"]
    assert 'name="import"' not in importing.answer.text
    importing.confirm()
    assert "Give the scorers marked as taken other names." in said(importing.answer)
    assert not Suite.objects.exists()
    assert states(importing.again(name_0="closer")) == ["new", "new"]
    assert 'name="import"' in importing.answer.text
    importing.confirm()
    assert thresholds() == {"closer": 0.8, "same": 1.0}


def test_an_editor_cannot_change_thresholds_that_count(importing: Importing, used: Suite) -> None:
    importing.take(FILE)
    shown = said(importing.answer)
    assert "only an administrator can change its thresholds" in shown
    assert "Propose change" in shown
    assert 'name="reason"' not in importing.answer.text
    importing.again(name="nightly").confirm()
    assert thresholds("nightly") == {"close": 0.8, "same": 1.0}
    assert thresholds() == {"close": 0.75}


def test_an_administrator_brings_a_suite_up_to_date(
    browser_of: BrowserOf, alice: User, used: Suite, team: Team
) -> None:
    gone = Scorer.objects.define(team, "gone", "exact_match", {})
    used.replace_entries(
        [(e.scorer, e.threshold) for e in used.entries.all()] + [(gone, 1.0)], by=None
    )
    importing = Importing(browser_of(alice), team.slug).take(FILE)
    shown = said(importing.answer)
    assert "The threshold of close changes from 0.75 to 0.8 ." in shown
    assert "gone leaves the suite." in shown
    importing.confirm(reason=" ")
    assert importing.answer.status_code == 422
    assert "Enter a reason for the threshold change." in said(importing.answer)
    assert thresholds() == {"close": 0.75, "gone": 1.0}
    importing.confirm(reason="Too many near misses.")
    assert thresholds() == {"close": 0.8, "same": 1.0}
    change = ThresholdChange.objects.get(old=0.75, new=0.8)
    assert (change.reason, change.changed_by) == ("Too many near misses.", alice)


def test_an_editor_imports_over_what_nothing_uses(importing: Importing, suite: Suite) -> None:
    importing.take(FILE).confirm()
    assert thresholds() == {"close": 0.8, "same": 1.0}


def test_what_changed_meanwhile_is_shown_again_first(importing: Importing, team: Team) -> None:
    importing.take(FILE)
    Scorer.objects.define(team, "close", "levenshtein", {"decimals": 9})
    importing.confirm()
    assert "Something has changed since you looked." in said(importing.answer)
    assert not Suite.objects.exists()
    importing.confirm()
    assert Suite.objects.exists()


@pytest.mark.parametrize("file_name", ["suite.yaml", "suite.txt"])
def test_a_file_is_taken_like_its_text(importing: Importing, file_name: str) -> None:
    importing._send({"file": SimpleUploadedFile(file_name, b"\xef\xbb\xbf" + FILE.encode())})
    assert states(importing) == ["new", "new"]
    importing.confirm()
    assert Suite.objects.get().name == "release"


def test_a_file_without_a_name_is_called_by_its_own(importing: Importing) -> None:
    content = b'{"scorers": [{"type": "exact_match"}]}'
    importing._send({"file": SimpleUploadedFile("nightly.json", content)}).confirm()
    assert Suite.objects.get().name == "nightly"


def test_what_is_no_suite_is_said(importing: Importing, subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "Choose a file, or paste its text."),
        ({"text": "{"}, "The suite cannot be read as JSON"),
        ({"text": "a: *b"}, "anchors and aliases are not read"),
        ({"text": "scorers: [{type: regex}]"}, "scorers[0].pattern: is required"),
        ({"text": "x" * (MAX_CHARS + 1)}, "at most 500000"),
        ({"file": SimpleUploadedFile("s.yaml", b"\xff\xfe\x00")}, "not UTF-8"),
        ({"file": SimpleUploadedFile("s.yaml", b" " * 5 * MAX_CHARS)}, "at most 500,000"),
    ]
    for fields, says in cases:
        with subtests.test(fields=fields, says=says), undone():
            importing._send(fields)
            assert importing.answer.status_code == 422
            assert says in said(importing.answer)
            assert not Scorer.objects.exists()


def test_what_a_file_holds_is_text(importing: Importing) -> None:
    hostile = {"name": "<script>alert(1)</script>", "type": "exact_match"}
    page = importing.take(json.dumps({"name": "<b>", "scorers": [hostile]})).answer.text
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_a_team_without_scorers_is_led_to_one(browser_of: BrowserOf, alice: User) -> None:
    form = browser_of(alice).get(reverse("new_suite", args=["support"])).text
    assert f'<a href="{reverse("new_scorer_type", args=["support"])}">create one</a>' in form
    assert "suite-threshold-head" not in form
