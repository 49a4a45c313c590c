"""Cases typed in, edited and parted, each walked once by keys alone and once by mouse."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine import imports
from scoring.models import Case, Dataset, DraftEdit, Team, Upload, User
from tests.browser.actions import BOTH_HANDS, Bench
from tests.browser.compare_steps import in_both_schemes, stays
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset

pytestmark = pytest.mark.browser

Check = Callable[[Page], None]
PASTED = 'key\tinput\texpected\ntea\tBlack or green?\t"both\nof them"\nsun\t  When?\tnoon\n'


@pytest.fixture(params=BOTH_HANDS)
def bench(
    request: pytest.FixtureRequest,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
) -> Bench:
    """At the list of datasets, one of which has twelve cases, every third about billing."""
    tags = [["billing", "old"], ["account"], ["account"]] * 4
    cases = [
        {"key": f"q{n:02}", "input": f"Question {n}?", "expected": str(n), "tags": tags[n]}
        for n in range(12)
    ]
    make_dataset(cases, "Questions")
    sign_in(alice)
    page.goto(reverse("datasets", args=[team.slug]))
    return Bench(page, request.param(page))


def work() -> None:
    """The worker's next step, done here and now."""
    upload = Upload.objects.get()
    step = imports.check_upload if upload.state == "checking" else imports.import_upload
    step(upload)


def test_rows_are_pasted_instead_of_a_file(
    bench: Bench,
    is_accessible: Check,
    let_time_pass: Callable[[], None],
) -> None:
    bench.follow("Upload", "Upload")
    bench.hand.write(bench.field("Name of the new dataset"), "Typed in")
    bench.hand.write(bench.field("Or paste rows"), PASTED)
    bench.hand.press(bench.button("Upload and look"))
    expect(bench.page.get_by_role("heading", name="What the columns hold")).to_be_visible()
    in_both_schemes(bench.page, is_accessible)
    bench.hand.press(bench.button("Check the rows"))
    expect(bench.button("Cancel")).to_be_visible()
    work()
    let_time_pass()
    bench.hand.press(bench.button("Import"))
    expect(bench.button("Cancel")).to_be_visible()
    work()
    let_time_pass()
    bench.is_at("Typed in")
    is_accessible(bench.page)
    found = Case.objects.filter(version__dataset__name="Typed in")
    assert [(case.key, case.input, case.expected) for case in found] == [
        ("tea", "Black or green?", "both\nof them"),
        ("sun", "  When?", "noon"),
    ]


def tags() -> dict[str, list[str]]:
    return {edit.key: edit.tags for edit in DraftEdit.objects.exclude(kind="delete")}


def tag_some(bench: Bench, button: str, tag: str, *cases: str) -> None:
    for key in cases:
        bench.hand.tick(bench.field(f"Tick {key}"), key="x")
    expect(bench.page.locator("#selected-count")).to_have_text(f"{len(cases)} ticked")
    bench.hand.write(bench.field("Tag for the ticked cases"), tag, key="t")
    bench.hand.press(bench.button(button))


@pytest.mark.long("one long walk by the tab key alone")
def test_cases_are_edited_tagged_deleted_and_published(bench: Bench, is_accessible: Check) -> None:
    bench.follow("Questions", "Questions")
    is_same = stays(bench.page)
    tag_some(bench, "Remove tag", "billing", "q00", "q03")
    bench.is_told("2 cases freed of the tag billing in the draft of the next version.")
    assert tags() == {"q00": ["old"], "q03": ["old"]}
    in_both_schemes(bench.page, is_accessible)
    bench.undo()
    bench.is_told("2 cases tagged billing in the draft of the next version.")
    assert tags() == {}
    tag_some(bench, "Add tag", "odd", "q01", "q02", "q04")
    bench.is_told("3 cases tagged odd in the draft of the next version.")
    assert is_same()

    bench.follow("Review and publish it", "Draft")
    rows = bench.main.get_by_role("row")
    bench.hand.press(rows.filter(has_text="q02").get_by_role("link"))
    bench.is_at("q02")
    bench.hand.press(bench.button("Delete the case"))
    bench.is_told("Case q02 is deleted in the draft.")
    bench.undo()
    bench.is_at("Draft")
    expect(rows.filter(has_text="q02")).to_contain_text("edited: tags")
    bench.hand.press(bench.button("Revert q04"))
    bench.is_told("The draft leaves case q04 as it was.")
    bench.hand.press(rows.filter(has_text="q01").get_by_role("link"))
    bench.is_at("q01")
    bench.hand.write(bench.field("Input"), "Question one?")
    bench.hand.press(bench.button("Save into the draft"))
    expect(rows.filter(has_text="q01")).to_contain_text("edited: input, tags")
    in_both_schemes(bench.page, is_accessible)

    bench.hand.write(bench.field("What changed and why"), "Two odd ones")
    bench.hand.press(bench.button("Publish the next version"))
    bench.is_at("Changes")
    bench.is_told("Version 2 is published.")
    expect(bench.main).to_contain_text("10 of 12 cases of version 2 are the same in both.")
    in_both_schemes(bench.page, is_accessible)
    version = Dataset.objects.get().latest
    assert version is not None
    found = {case.key: (case.input, case.tags) for case in version.cases.all()}
    assert found["q01"] == ("Question one?", ["account", "odd"])
    assert found["q02"] == ("Question 2?", ["account", "odd"])
    assert found["q00"][1] == ["billing", "old"]
    assert sum("odd" in names for _, names in found.values()) == 2
    assert version.message == "Two odd ones"


def drawn(cases: list[str], n: int, seed: int) -> list[str]:
    """Which of the cases a sample holds, in their order."""
    return sorted(random.Random(seed).sample(cases, n))


def test_a_tag_is_parted_off_and_sampled(
    bench: Bench, is_accessible: Check, complaints: list[str]
) -> None:
    bench.follow("Questions", "Questions")
    bench.hand.write(bench.field("Tag"), "account")
    bench.hand.press(bench.button("Filter"))
    expect(bench.page.locator("#cases tbody tr")).to_have_count(8)
    bench.follow("Create dataset from these", "Split or sample")
    expect(bench.field("Tag")).to_have_value("account")
    in_both_schemes(bench.page, is_accessible)
    bench.hand.write(bench.field("Sample size"), "3")
    bench.hand.write(bench.field("Seed"), "7")
    bench.hand.write(bench.field("Name of the new dataset"), "Questions")
    bench.hand.press(bench.button("Create dataset"))
    expect(bench.page.get_by_role("alert")).to_contain_text("“Questions” already")
    expect(bench.button("Create dataset")).to_be_focused()
    in_both_schemes(bench.page, is_accessible)
    bench.hand.write(bench.field("Name of the new dataset"), "Account, sampled")
    bench.hand.press(bench.button("Create dataset"))
    bench.is_at("Account, sampled")
    bench.is_told("Made of 3 cases of Questions v1 tagged account, seed 7.")
    in_both_schemes(bench.page, is_accessible)
    forgive_422(complaints)  # the name that is taken
    made = Dataset.objects.get(name="Account, sampled").latest
    assert made is not None
    tagged = [f"q{n:02}" for n in range(12) if n % 3]
    assert [case.key for case in made.cases.all()] == drawn(tagged, 3, 7)
    assert made.source_name == "3 cases of Questions v1 tagged account, seed 7"
