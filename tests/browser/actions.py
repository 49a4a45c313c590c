"""Two ways of working a page, by keys alone and by pointing, so that one walk is gone both ways."""

from __future__ import annotations

import re
from typing import Final, Protocol

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.compare_steps import UNSETTLED, Keys, has_settled

MOST_TABS: Final = 60  # from one control to the next that a walk needs
#: Where the focus is seen from the control: "unsettled", "before", "elsewhere", "unseen" or "here".
PLACE = """(element, unsettled) => {
  if (!element.checkVisibility() || document.querySelector(unsettled)) return "unsettled";
  const here = document.activeElement;
  if (element !== here) {
    const follows = element.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_FOLLOWING;
    return here !== document.body && follows ? "before" : "elsewhere";
  }
  const isShown = [getComputedStyle(element), getComputedStyle(element, "::after")].some(
    ({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 2
  );
  return isShown ? "here" : "unseen";
}"""


class Hand(Protocol):
    """A way of working the page. `key` is the single key of the control, if it has one."""

    def press(self, target: Locator, key: str = "") -> None: ...

    def write(self, target: Locator, text: str, key: str = "") -> None: ...

    def choose(self, target: Locator, label: str) -> None: ...

    def tick(self, target: Locator, key: str = "") -> None: ...


class ByKeys:
    """Tab from where the focus is, back if the control stands before, or the key that it has."""

    def __init__(self, page: Page) -> None:
        self.keys = Keys(page)

    def reach(self, target: Locator, key: str = "") -> None:
        """The focus is seen where it ends."""
        for _ in range(MOST_TABS):
            place = self._place(target)
            assert place != "unseen", f"nothing shows that {target} has the focus"
            if place == "here":
                return
            self.keys.press(key or ("Shift+Tab" if place == "before" else "Tab"))
        pytest.fail(f"{MOST_TABS} presses of {key or 'Tab'} do not lead to {target}", pytrace=False)

    def _place(self, target: Locator) -> str:
        """Of the focus as the control sees it, once the page has settled."""
        place = str(target.evaluate(PLACE, UNSETTLED))
        if place != "unsettled":
            return place
        expect(target).to_be_visible()
        has_settled(self.keys.page)
        return self._place(target)

    def press(self, target: Locator, key: str = "") -> None:
        if not key:
            self.reach(target)
        else:
            expect(target).to_have_attribute("aria-keyshortcuts", key)
            has_settled(self.keys.page)
        self.keys.press(key or "Enter")

    def write(self, target: Locator, text: str, key: str = "") -> None:
        self.reach(target, key)
        self.keys.press("Control+A")
        self.keys.page.keyboard.insert_text(text)

    def choose(self, target: Locator, label: str) -> None:
        self.reach(target)
        self.keys.type(label)

    def tick(self, target: Locator, key: str = "") -> None:
        """Of a row in a list by moving there with j and pressing the key."""
        if key:
            self.reach(target.locator("xpath=ancestor::tr").locator(".row-link"), "j")
        else:
            self.reach(target)
        self.keys.press(key or "Space")
        expect(target).to_be_checked()


class ByMouse:
    """The same by pointing."""

    def __init__(self, page: Page) -> None:
        pass

    def press(self, target: Locator, key: str = "") -> None:
        target.click()

    def write(self, target: Locator, text: str, key: str = "") -> None:
        target.fill(text)

    def choose(self, target: Locator, label: str) -> None:
        target.select_option(label=label)

    def tick(self, target: Locator, key: str = "") -> None:
        target.check()


#: A walk by keys needs all that it needs by mouse, which is the way of the tests that do not say.
HANDS: Final = (ByKeys, pytest.param(ByMouse, marks=pytest.mark.slow))
BOTH_HANDS: Final = (ByKeys, ByMouse)


class Bench:
    """The page and the hand that works it; each step ends where it shows that it is done."""

    def __init__(self, page: Page, hand: Hand) -> None:
        self.page = page
        self.hand = hand

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def link(self, name: str) -> Locator:
        return self.main.get_by_role("link", name=name, exact=True)

    def button(self, name: str) -> Locator:
        return self.main.get_by_role("button", name=name, exact=True)

    def field(self, label: str) -> Locator:
        return self.main.get_by_label(re.compile(rf"^\s*{re.escape(label)}(\s+optional)?\s*$"))

    def region(self, name: str) -> Locator:
        return self.page.get_by_role("region", name=name, exact=True)

    def is_at(self, heading: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(heading)

    def follow(self, name: str, heading: str) -> None:
        self.hand.press(self.link(name).first)
        self.is_at(heading)

    def go_to(self, name: str) -> None:
        """By the bar at the top."""
        bar = self.page.get_by_role("navigation", name="Team")
        self.hand.press(bar.get_by_role("link", name=name, exact=True))
        self.is_at(name)

    def open_menu(self, name: str) -> None:
        self.hand.press(self.main.locator("summary").get_by_text(name, exact=True))

    def is_told(self, text: str) -> None:
        expect(self.page.locator("#messages")).to_contain_text(text)

    def undo(self) -> None:
        self.hand.press(self.page.locator("#messages").get_by_role("button", name="Undo"), key="u")
