"""A suite with thresholds of its own is made, changed, handed on and listed: by keys, by mouse."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.core.suites.suite_format import read_suite
from scoring.engine.suites.suite_file import ImportPlan
from scoring.models import Dataset, Scorer, Suite, Team, User
from tests.browser.actions import HANDS, Bench
from tests.browser.compare_steps import in_both_schemes, stays
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset

pytestmark = pytest.mark.browser

Check = Callable[[Page], None]


@pytest.fixture(params=HANDS)
def bench(
    request: pytest.FixtureRequest,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    team: Team,
) -> Bench:
    """At the list of scorers, of which there are two, and of suites, of which there is one."""
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    Scorer.objects.define(team, "same", "exact_match", {})
    Suite.objects.define(team, "old", [(close, None)])
    sign_in(alice)
    page.goto(reverse("scorers", args=[team.slug]))
    return Bench(page, request.param(page))


def make_it(bench: Bench, check: Check) -> None:
    """A name that is taken is refused in place, with all that was chosen."""
    bench.follow("New suite", "New suite")
    is_same = stays(bench.page)
    bench.hand.write(bench.field("Name"), "old")
    for name, threshold in (("close", "0.7"), ("same", "1")):
        bench.hand.tick(bench.main.get_by_role("checkbox", name=name, exact=True))
        bench.hand.write(bench.field(f"Threshold of {name}"), threshold)
    make = bench.button("Create suite")
    bench.hand.press(make)
    expect(bench.main.get_by_role("alert").first).to_contain_text("Nothing was saved")
    expect(make).to_be_focused()
    expect(bench.main.get_by_role("checkbox", name="close", exact=True)).to_be_checked()
    in_both_schemes(bench.page, check)
    expect(bench.field("Threshold of close")).to_have_value("0.7")
    bench.hand.write(bench.field("Name"), "release")
    bench.hand.press(make)
    bench.is_at("release")
    assert is_same()


def change_a_threshold(bench: Bench, dataset: Dataset) -> None:
    """With a reason, as a dataset uses the suite."""
    Suite.objects.get(name="release").assign_to(dataset, by=None)
    bench.follow("Edit", "Edit")
    bench.hand.write(bench.field("Threshold of close"), "0.9")
    bench.hand.write(bench.field("Reason for threshold changes"), "Typos cost us calls")
    bench.hand.press(bench.button("Save"))
    bench.is_at("release")
    row = bench.region("Threshold changes").get_by_role("row").filter(has_text="close")
    expect(row).to_contain_text("Typos cost us calls")
    expect(row.get_by_role("cell").nth(1)).to_have_text("0.7 → 0.9")


def accept_a_proposal(bench: Bench, text: str, check: Check) -> None:
    """A file with another threshold, which a command has left; a missing reason is named."""
    described = read_suite(text.replace("0.9", "0.8"), spelling="json")
    suite = Suite.objects.get(name="release")
    ImportPlan(suite.team, described, "release.json").propose(None)
    bench.page.goto(reverse("suite", args=[suite.uuid]))
    proposal = bench.region("release.json")
    in_both_schemes(bench.page, check)
    bench.hand.press(proposal.get_by_role("button", name="Accept"))
    expect(proposal.get_by_role("alert")).to_contain_text(
        "Enter a reason for the threshold change."
    )
    bench.hand.write(proposal.get_by_label("Reason"), "Too strict")
    bench.hand.press(proposal.get_by_role("button", name="Accept"))
    decided = bench.region("Proposals").get_by_role("row").filter(has_text="release.json")
    expect(decided).to_contain_text("accepted")
    in_both_schemes(bench.page, check)
    assert suite.entries.get(scorer__name="close").threshold == 0.8


def exported(bench: Bench) -> str:
    bench.open_menu("Export")
    with bench.page.expect_download() as started:
        bench.hand.press(bench.link("As JSON"))
    assert started.value.suggested_filename == "release.json"
    return started.value.path().read_text()


def import_as(bench: Bench, text: str, name: str, check: Check) -> None:
    bench.go_to("Scorers")
    bench.follow("Import a suite", "Import a suite")
    bench.hand.press(bench.button("Preview import"))
    expect(bench.main.get_by_role("alert")).to_contain_text("Choose a file, or paste its text.")
    bench.hand.write(bench.field("Or its text"), text)
    bench.hand.press(bench.button("Preview import"))
    expect(bench.main).to_contain_text("Everything is as the file says already.")
    bench.hand.write(bench.field("Name of the suite"), name)
    bench.hand.press(bench.button("Refresh").first)
    expect(bench.main).to_contain_text("A new suite.")
    in_both_schemes(bench.page, check)
    bench.hand.press(bench.button("Import"))
    bench.is_at(name)


@pytest.mark.long("one long walk by the tab key alone")
def test_a_suite_is_made_changed_handed_on_and_listed(
    bench: Bench, is_accessible: Check, complaints: list[str], make_dataset: MakeDataset
) -> None:
    make_it(bench, is_accessible)
    change_a_threshold(bench, make_dataset([{"input": "q"}]).dataset)
    text = exported(bench)
    assert [each["threshold"] for each in json.loads(text)["scorers"]] == [0.9, 1]
    import_as(bench, text, "nightly", is_accessible)
    bench.go_to("Scorers")
    rows = bench.region("Suites").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.filter(has_text="nightly").get_by_role("cell").nth(1)).to_have_text("2")
    in_both_schemes(bench.page, is_accessible)
    entries = Suite.objects.get(name="nightly").entries.order_by("scorer__name")
    assert [(each.scorer.name, each.threshold) for each in entries] == [("close", 0.9), ("same", 1)]
    accept_a_proposal(bench, text, is_accessible)
    forgive_422(complaints)  # the name that is taken, and the import of nothing
