"""Three runs to compare, and what people do who use no mouse."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.models import Output, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with

Check = Callable[[Page], None]

COUNT: Final = 60
BROKE: Final = 55
MOST_STOPS: Final = 250  # of the tab key on one page

UNSETTLED = "[aria-busy=true], .htmx-request, .htmx-swapping, .htmx-added, .htmx-settling"
FOCUSED = """() => {
  const at = document.activeElement;
  const label = at.labels?.length ? at.labels[0].innerText : "";
  const heard = at.cloneNode(true);
  heard.querySelectorAll("[aria-hidden=true]").forEach((part) => part.remove());
  return at.getAttribute("aria-label") || label || heard.textContent || at.value || "";
}"""


class Three(NamedTuple):
    """w45, then w46 where 55 cases broke and 1 was fixed, then w47 that is as good as w45."""

    old: Run
    new: Run
    newest: Run

    @property
    def url(self) -> str:
        """The comparison of w46 with w45."""
        return compare_url(self.old, self.new)


def compare_url(baseline: Run, *candidates: Run) -> str:
    named = "".join(f"&candidate={run.uuid}" for run in candidates)
    return f"{reverse('compare', args=[baseline.team.slug])}?baseline={baseline.uuid}{named}"


def three_runs(make_dataset: MakeDataset) -> Three:
    """The second version of the dataset lacks q00, has q60, and asks q01 otherwise."""
    first = make_dataset([case(n) for n in range(COUNT)])
    second = make_dataset([case(n, is_edited=n == 1) for n in range(1, COUNT + 1)])
    bad: Sequence[Given] = [0.9, "error", *[0.2] * BROKE, 0.9, 0.9, 0.9]
    old = run_with(first, {"close": [*[0.9] * 59, 0.1], "far": [0.9] * COUNT}, name="w45")
    new = run_with(second, {"close": bad, "far": [0.9] * COUNT}, name="w46")
    newest = run_with(second, {"close": [0.9] * COUNT, "far": [0.8] * COUNT}, name="w47")
    for run, total, text in ((old, 0, "on Monday"), (new, 1, "on Tuesday"), (newest, 0, "on")):
        _answer(run, total, text)
    return Three(old, new, newest)


def case(number: int, *, is_edited: bool = False) -> dict[str, object]:
    asked = f"Question {number}{', exactly' if is_edited else ''}"
    tags = ["even" if number % 2 == 0 else "odd"]
    expected = {"total": number, "paid": "on Monday"}
    return {"key": f"q{number:02}", "input": asked, "expected": expected, "tags": tags}


def _answer(run: Run, more: int, text: str) -> None:
    outputs = list(Output.objects.filter(output_set=run.output_set).select_related("case"))
    for output in outputs:
        answer = {"total": int(output.case.key[1:]) + more, "paid": text}
        output.text, output.is_json = json.dumps(answer), True
    Output.objects.bulk_update(outputs, ["text", "is_json"])


class Keys:
    """Somebody without a mouse. Stepping to a control takes as many tabs as it takes."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def at(self) -> str:
        """What has the focus, in its own words."""
        found: str = self.page.evaluate(FOCUSED)
        return " ".join(found.split())

    def to(self, name: str) -> None:
        """On to the next control whose words begin so."""
        for _ in range(MOST_STOPS):
            self.press("Tab")
            if self.at().startswith(name):
                return
        raise AssertionError(f"the tab key never comes to {name}")

    def open(self, name: str) -> None:
        self.to(name)
        self.press("Enter")


def in_both_schemes(page: Page, check: Check) -> None:
    """The check in light and in dark; the page stays light."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        check(page)
    page.emulate_media(color_scheme="light")


def stays(page: Page) -> Callable[[], bool]:
    """Marks the page; the answer tells whether it is still the same one, without a jump."""
    page.evaluate("window.stayed = true")
    return lambda: bool(page.evaluate("window.stayed === true"))


def has_settled(page: Page) -> None:
    """After a swap, when the new part is no longer busy and its links are those of htmx."""
    expect(page.locator(UNSETTLED)).to_have_count(0)


def listed(page: Page) -> list[str]:
    """The keys of the cases in the list."""
    return [each.strip() for each in page.locator("#cases tbody .id").all_inner_texts()]
