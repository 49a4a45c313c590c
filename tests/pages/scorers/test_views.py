"""Scorers and suites: list, make, change, and who may."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.suites.forms import SuiteForm
from scoring.core.config import config_fields
from scoring.core.registry import all_types
from scoring.models import AuditEntry, ReviewVerdict, Scorer, Suite, Team, User
from tests.conftest import MakeDataset
from tests.support.html import on_one_line
from tests.support.reviewed_runs import give_in_turn, scored_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]


@pytest.fixture
def scorer(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close enough", "levenshtein", {"decimals": 3})


@pytest.fixture
def suite(team: Team, scorer: Scorer) -> Suite:
    return Suite.objects.define(team, "release", [(scorer, 0.8)])


def as_shown(browser: Client, url: str) -> dict[str, Any]:
    """What a browser would send if nobody touched the form."""
    shown = browser.get(url).context["form"]
    return {f.html_name: f.value() for f in shown if f.value() not in (None, False)}


def test_every_type_has_a_form_with_its_fields(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    for type_name in sorted(all_types()):
        with subtests.test(type_name=type_name), undone():
            page = browser_of(alice).get(reverse("new_scorer", args=[team.slug, type_name]))
            assert page.status_code == 200
            for spec in config_fields(all_types()[type_name].config):
                place = 'id="tree"' if spec.kind == "scorers" else f'name="config-{spec.name}"'
                assert place in page.text
                assert spec.label in page.text


def test_a_scorer_is_made_from_the_form(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, str], dict[str, object]]] = [
        ("levenshtein", {"case_sensitive": "on"}, {"case_sensitive": True}),
        ("levenshtein", {"decimals": "3"}, {"decimals": 3}),
        ("levenshtein", {"decimals": ""}, {"decimals": None}),
        ("levenshtein", {"max_chars": "500"}, {"decimals": 2, "max_chars": 500}),
        ("regex", {"pattern": r"^\d+ $", "flags": "i"}, {"pattern": r"^\d+ $", "flags": "i"}),
        ("includes", {"values": "one\ntwo words\n\n"}, {"values": ["one", "two words"]}),
        ("includes", {"values": "one", "mode": "any"}, {"mode": "any"}),
        ("exact_match", {"target_output_key": "answer.text"}, {"target_output_key": "answer.text"}),
        ("exact_match", {"target_output_key": '["a", "b"]'}, {"target_output_key": ["a", "b"]}),
        ("exact_match", {"default_expected": "4"}, {"default_expected": 4}),
        ("exact_match", {"default_expected": "four"}, {"default_expected": "four"}),
    ]
    for type_name, filled, config in cases:
        with subtests.test(type_name=type_name, filled=filled, config=config), undone():
            browser, url = browser_of(alice), reverse("new_scorer", args=[team.slug, type_name])
            form = as_shown(browser, url) | {"name": "mine", "threshold": "0.5"}
            form |= {f"config-{name}": value for name, value in filled.items()}
            answer = browser.post(url, form)

            made = Scorer.objects.get(name="mine")
            assert answer.status_code == 302
            assert answer["Location"] == reverse("scorer", args=[made.uuid])
            assert made.current is not None
            assert made.threshold == 0.5
            assert {name: made.current.config[name] for name in config} == config
            assert AuditEntry.objects.get(action="scorer.created").actor == alice


def test_a_bad_scorer_is_refused_at_its_field(
    browser_of: BrowserOf, alice: User, team: Team, scorer: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, str], str, str]] = [
        ("regex", {"config-pattern": "("}, "config-pattern", ""),
        ("regex", {}, "config-pattern", "required"),
        ("levenshtein", {"threshold": "1.2"}, "threshold", "less than or equal to 1"),
        ("levenshtein", {"config-max_chars": "0"}, "config-max_chars", "greater than"),
        ("levenshtein", {"name": "close enough"}, "name", "already"),
    ]
    for type_name, filled, field, says in cases:
        with subtests.test(type_name=type_name, filled=filled, field=field, says=says), undone():
            browser, url = browser_of(alice), reverse("new_scorer", args=[team.slug, type_name])
            form = as_shown(browser, url) | {"name": "mine", "threshold": "0.5", **filled}
            answer = browser.post(url, form)
            assert answer.status_code == 422
            assert says in str(answer.context["form"].errors[field])
            assert not Scorer.objects.filter(name="mine").exists()


def test_an_unknown_type_is_not_found(browser_of: BrowserOf, alice: User, team: Team) -> None:
    url = reverse("new_scorer", args=[team.slug, "clairvoyance"])
    assert browser_of(alice).get(url).status_code == 404


def test_a_changed_config_is_a_new_version(
    browser_of: BrowserOf, alice: User, scorer: Scorer
) -> None:
    before = scorer.current
    form = {"name": "close enough", "config-decimals": "2", "config-max_chars": "10000"}
    browser_of(alice).post(reverse("edit_scorer", args=[scorer.uuid]), form)
    scorer.refresh_from_db()
    assert before is not None
    assert scorer.current is not None
    assert (before.number, scorer.current.number) == (1, 2)
    assert scorer.current.config["decimals"] == 2
    before.refresh_from_db()
    assert before.config["decimals"] == 3


def test_saving_the_same_config_makes_no_version(
    browser_of: BrowserOf, alice: User, scorer: Scorer
) -> None:
    url = reverse("edit_scorer", args=[scorer.uuid])
    browser = browser_of(alice)
    answer = browser.post(url, {**as_shown(browser, url), "name": "closer"})
    scorer.refresh_from_db()
    assert answer.status_code == 302
    assert (scorer.name, scorer.versions.count()) == ("closer", 1)


def test_an_unrounded_scorer_stays_unrounded_when_it_is_saved(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "unrounded", "levenshtein", {"decimals": None})
    url, browser = reverse("edit_scorer", args=[scorer.uuid]), browser_of(alice)
    browser.post(url, as_shown(browser, url))
    assert [version.config["decimals"] for version in scorer.versions.all()] == [None]


def test_editing_leaves_the_threshold_alone(
    browser_of: BrowserOf, alice: User, scorer: Scorer
) -> None:
    form = {"name": "close enough", "threshold": "0.1", "config-decimals": "2"}
    browser_of(alice).post(reverse("edit_scorer", args=[scorer.uuid]), form)
    scorer.refresh_from_db()
    assert scorer.threshold == 0.7


def test_a_suite_is_made_with_default_thresholds(
    browser_of: BrowserOf, alice: User, team: Team, scorer: Scorer
) -> None:
    form = {"name": "nightly", "scorers": [scorer.uuid]}
    browser_of(alice).post(reverse("new_suite", args=[team.slug]), form)
    entry = Suite.objects.get(name="nightly").entries.get()
    assert (entry.scorer, entry.threshold) == (scorer, 0.7)


def test_a_changed_suite_keeps_its_thresholds_and_their_past(
    browser_of: BrowserOf, alice: User, team: Team, scorer: Scorer, suite: Suite
) -> None:
    suite.entries.get().change_threshold(0.9, by=alice, reason="Stricter.")
    other = Scorer.objects.define(team, "same", "exact_match", {})
    form = {"name": "release", "scorers": [scorer.uuid, other.uuid]}
    browser_of(alice).post(reverse("edit_suite", args=[suite.uuid]), form)
    thresholds = {entry.scorer.name: entry.threshold for entry in suite.entries.all()}
    assert thresholds == {"close enough": 0.9, "same": 1.0}

    form = {"name": "release", "scorers": [other.uuid]}
    browser_of(alice).post(reverse("edit_suite", args=[suite.uuid]), form)
    suite.refresh_from_db()
    page = browser_of(alice).get(reverse("suite", args=[suite.uuid]))
    assert suite.revision == 4
    assert "Stricter." in page.text


def test_another_teams_scorer_cannot_be_put_into_a_suite(
    browser_of: BrowserOf, charlie: User, scorer: Scorer
) -> None:
    form = {"name": "theirs", "scorers": [scorer.uuid]}
    answer = browser_of(charlie).post(reverse("new_suite", args=["elsewhere"]), form)
    assert answer.status_code == 422
    assert not Suite.objects.filter(name="theirs").exists()


def test_only_a_scorer_of_the_team_can_be_chosen(
    browser_of: BrowserOf, alice: User, team: Team, scorer: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["9" * 40, "-1", "no id", "\0", str(uuid.UUID(int=0))]
    for chosen in cases:
        with subtests.test(chosen=chosen), undone():
            form = {"name": "odd", "scorers": [str(scorer.uuid), chosen]}
            answer = browser_of(alice).post(reverse("new_suite", args=[team.slug]), form)
            assert answer.status_code == 422
            assert not Suite.objects.filter(name="odd").exists()


def test_a_suites_form_shows_what_is_in_it(
    browser_of: BrowserOf, alice: User, scorer: Scorer, suite: Suite
) -> None:
    page = browser_of(alice).get(reverse("edit_suite", args=[suite.uuid]))
    assert re.findall(r'value="([^"]+)"[^>]* checked', page.text) == [str(scorer.uuid)]


def test_of_two_suites_made_at_once_with_one_name_the_second_hears_of_it(
    alice: User, team: Team, scorer: Scorer
) -> None:
    form = SuiteForm({"name": "release", "scorers": [scorer.uuid]}, team=team)
    assert form.is_valid()  # the name is free when it is looked up
    Suite.objects.define(team, "release", [(scorer, None)])
    assert form.save(alice) is None
    assert form.errors["name"] == ["The team has just got a suite of that name."]


@pytest.mark.parametrize("renamed", ["taken", "release"])
def test_a_suite_changes_wholly_or_not_at_all(
    alice: User, team: Team, scorer: Scorer, suite: Suite, renamed: str
) -> None:
    other = Scorer.objects.define(team, "same", "exact_match", {})
    form = SuiteForm({"name": renamed, "scorers": [other.uuid]}, team=team, suite=suite)
    assert form.is_valid()
    Suite.objects.define(team, "taken", [(scorer, None)])
    is_free = renamed == "release"
    assert bool(form.save(alice)) is is_free
    kept = {entry.scorer.name for entry in Suite.objects.get(name="release").entries.all()}
    assert kept == ({"same"} if is_free else {"close enough"})


def test_a_scorer_whose_package_is_gone_says_so(
    browser_of: BrowserOf, alice: User, scorer: Scorer
) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(type="gone")
    page = browser_of(alice).get(reverse("scorer", args=[scorer.uuid]))
    assert "is not installed here" in page.text
    edit = reverse("edit_scorer", args=[scorer.uuid])
    assert browser_of(alice).get(edit).status_code == 404


def test_a_missing_scorer_is_not_found(browser_of: BrowserOf, alice: User) -> None:
    assert browser_of(alice).get(reverse("scorer", args=[uuid.uuid4()])).status_code == 404


@pytest.mark.parametrize("count", [1, 50])
def test_the_list_takes_the_same_queries_for_any_number(
    browser_of: BrowserOf,
    bob: User,
    team: Team,
    django_assert_num_queries: Callable[[int], object],
    count: int,
) -> None:
    for number in range(count):
        made = Scorer.objects.define(team, f"scorer {number}", "exact_match", {})
        Suite.objects.define(team, f"suite {number}", [(made, None)])
    browser = browser_of(bob)
    with django_assert_num_queries(7):
        browser.get(reverse("scorers", args=[team.slug]))


def test_a_config_reads_as_json(browser_of: BrowserOf, bob: User, scorer: Scorer) -> None:
    page = browser_of(bob).get(reverse("scorer", args=[scorer.uuid]))
    assert "case_sensitive" in page.text
    assert json.dumps(False) in page.text


def test_a_reviewed_scorer_shows_the_calibration_of_its_versions(
    browser_of: BrowserOf, bob: User, alice: User, make_dataset: MakeDataset, scorer: Scorer
) -> None:
    url = reverse("scorer", args=[scorer.uuid])
    assert "Calibration" not in browser_of(bob).get(url).text
    version = make_dataset([{"expected": "yes"}] * 6)
    run = scored_run(version, {"close enough": [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]})
    passed, failed = ReviewVerdict.PASS, ReviewVerdict.FAIL
    give_in_turn(run, alice, [passed, passed, passed, failed, failed, failed])
    answer = browser_of(bob).get(url)
    (found,) = answer.context["calibrations"]
    assert (found.version, found.table) == (scorer.current, (3, 1, 0, 2))
    page = on_one_line(answer.text)
    assert "Calibration</h2>" in page
    assert 'data-label="precision">0.75</td>' in page
    assert "equally good: &gt; 0.4 to 0.8" in page
