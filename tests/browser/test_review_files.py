"""Reviews are imported from a file and exported: by mouse and by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Member, Review, Role, Run, Team, User
from tests.browser.actions import HANDS, Hand
from tests.browser.compare_steps import has_settled, in_both_schemes
from tests.browser.walk import forgive_422
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
GOOD = (
    "key,reviewer,verdict,note\nq0,Dr. Jones,pass,clear\nq1,Dr. Jones,fail,\nq9,Dr. Jones,pass,\n"
)
BAD = "key,reviewer,verdict\nq0,Dr. Jones,maybe\nq1,,pass\n"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": f"q{n}", "input": "?", "expected": "yes"} for n in range(2)]
    return finished_run(make_outputs(make_dataset(cases), ["yes", "no"]), CLOSE, name="w46")


def fits(page: Page) -> None:
    """Nothing is wider than a narrow phone."""
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.parametrize("hand", HANDS)
def test_reviews_come_from_a_file_and_go_into_one(
    page: Page,
    sign_in: Callable[[User], None],
    team: Team,
    run: Run,
    tmp_path: Path,
    is_accessible: Check,
    complaints: list[str],
    hand: Callable[[Page], Hand],
) -> None:
    erin = User.objects.create_user("erin@example.org")
    Member.objects.create(team=team, user=erin, role=Role.EDITOR)
    sign_in(erin)
    person = hand(page)
    files = {"good.csv": GOOD, "bad.csv": BAD}
    for name, rows in files.items():
        (tmp_path / name).write_text(rows)

    def send(name: str, button: str) -> None:
        page.get_by_label("File").set_input_files(tmp_path / name)
        person.press(page.get_by_role("button", name=button))
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        has_settled(page)

    page.goto(reverse("run_reviews", args=[run.uuid]))
    expect(page.get_by_text("There are no reviews to export.")).to_be_visible()
    in_both_schemes(page, is_accessible)
    fits(page)

    send("bad.csv", "Import reviews")
    expect(page.get_by_text("Nothing was imported: 2 rows cannot be read.")).to_be_visible()
    expect(page.get_by_text("“maybe” is no verdict.")).to_be_visible()
    forgive_422(complaints)
    in_both_schemes(page, is_accessible)
    fits(page)

    send("good.csv", "Preview import")
    expect(page.get_by_text("Preview: nothing is stored yet.")).to_be_visible()
    assert not Review.objects.exists()

    send("good.csv", "Import reviews")
    expect(page.get_by_text("2 reviews imported.")).to_be_visible()
    unmatched = page.get_by_role("heading", name="Unmatched: the run has no such output")
    expect(unmatched).to_be_visible()
    expect(page.get_by_role("cell", name="q9")).to_be_visible()
    in_both_schemes(page, is_accessible)
    fits(page)
    assert set(Review.objects.values_list("reviewer_name", flat=True)) == {"Dr. Jones"}

    person.press(page.locator("summary", has_text="Export"))
    with page.expect_download() as download:
        person.press(page.get_by_role("link", name="CSV for spreadsheets"))
    text = Path(download.value.path()).read_text()
    assert text.count("Dr. Jones") == 2
