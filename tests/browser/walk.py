"""The way through the pages as a person takes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.support.waiting import DEADLINE_SECONDS

WORKED_MS: Final = 2 * DEADLINE_SECONDS * 1_000  # until the worker has done its part


def forgive_422(complaints: list[str]) -> None:
    """The browser logs every invalid form that is answered as one."""
    assert all("422" in complaint for complaint in complaints)
    complaints.clear()


class Walk:
    """What a person does on the pages, each step ending where it shows that it is done."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str, within: Locator | None = None) -> None:
        (within or self.page.get_by_role("main")).get_by_role("link", name=name).first.click()

    def go_to(self, name: str) -> None:
        """By the bar at the top."""
        self.follow(name, self.page.get_by_role("navigation", name="Team"))
        self.is_at(name)

    def is_at(self, heading: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(heading)

    def upload_cases(self, path: Path, name: str) -> None:
        """As far as the columns."""
        self.go_to("Datasets")
        self.follow("Upload")
        self.page.get_by_label("Name of the new dataset").fill(name)
        self._send(path)

    def upload_outputs(self, path: Path, dataset: str, series: str, dated: str) -> None:
        """From the dataset's page back to it."""
        self.open_dataset(dataset)
        self.follow("Outputs", self.page.locator(".page-actions"))
        self.page.get_by_label("Series").fill(series)
        self.page.get_by_label("Answered on").fill(f"{dated}T00:00")
        self._send(path)
        self.check_rows()
        self.import_rows()

    def _send(self, path: Path) -> None:
        self.page.get_by_label("File", exact=True).set_input_files(path)
        self.press("Upload and look")
        expect(self.page.get_by_role("heading", name="What the columns hold")).to_be_visible()

    def check_rows(self) -> None:
        self.press("Check the rows")
        found = self.page.get_by_role("heading", name="What was found")
        expect(found).to_be_visible(timeout=WORKED_MS)

    def found(self) -> dict[str, str]:
        """What the dry run counted, by name."""
        rows = self.page.locator("#upload .facts div").all()
        return {row.locator("dt").inner_text(): row.locator("dd").inner_text() for row in rows}

    def import_rows(self) -> None:
        """To the dataset; of a file with outputs by way of the page that offers to score them."""
        self.press("Import")
        parts = self.page.get_by_role("navigation", name="Parts of the dataset")
        done = self.page.locator("#upload .notice-success")
        expect(done.or_(parts)).to_be_visible(timeout=WORKED_MS)
        if done.is_visible():
            self.follow("Open ", done)
        expect(parts).to_be_visible(timeout=WORKED_MS)

    def open_dataset(self, name: str) -> None:
        self.go_to("Datasets")
        self.follow(name)
        self.is_at(name)

    def make_scorer(self, label: str, name: str, *buttons: str, **fields: str) -> None:
        """The buttons are pressed before the fields are filled."""
        self.go_to("Scorers")
        self.follow("New scorer")
        self.page.get_by_role("link", name=label, exact=True).click()
        for button in buttons:
            self.press(button)
        for field, value in {"Name": name, **fields}.items():
            self.page.get_by_label(field.replace("_", " ")).fill(value)
        self.press("Create scorer")
        self.is_at(name)

    def make_suite(self, name: str, scorers: Sequence[str]) -> None:
        self.go_to("Scorers")
        self.follow("New suite")
        self.page.get_by_label("Name").fill(name)
        for scorer in scorers:
            self.page.get_by_label(scorer, exact=True).check()
        self.press("Create suite")
        self.is_at(name)

    def start_run(self, dataset: str, outputs: str, suite: str, name: str = "") -> str:
        """The run's address."""
        self.open_dataset(dataset)
        self.follow("Output sets")
        row = self.page.get_by_role("row").filter(has=self.page.get_by_text(outputs, exact=True))
        self.follow("New run", row)
        self.page.get_by_label("Suite").select_option(label=suite)
        self.page.get_by_label("Name").fill(name)
        self.press("Start the run")
        self.page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/$"))
        return self.page.url

    def wait_for_the_end(self) -> None:
        """Until the page shows the whole run: first its figures, then its cases."""
        ended = self.page.get_by_role("heading", name="Cases by verdict")
        expect(ended).to_be_visible(timeout=WORKED_MS)
        expect(self.page.locator("#cases:not([hx-get])")).to_be_visible()
