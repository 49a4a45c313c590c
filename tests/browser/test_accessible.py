"""What axe finds counts where it stays: a part whose answer is under way is dim for a while."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Check = Callable[[Page], None]
DIM = """<!DOCTYPE html><html lang="en"><title>A page</title><main>
<h1>A page</h1><p style="opacity: 0.3" {}>The preview appears here.</p></main></html>"""
ANSWERED = """() => {
  const part = document.querySelector("[aria-busy]");
  part.removeAttribute("aria-busy");
  part.style.opacity = 1;
}"""


def test_what_is_dim_and_stays_so_is_found(page: Page, is_accessible: Check) -> None:
    page.set_content(DIM.format(""))
    with pytest.raises(AssertionError, match="color-contrast"):
        is_accessible(page)


def test_what_is_dim_until_its_answer_comes_is_looked_at_again(
    page: Page, is_accessible: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.set_content(DIM.format('aria-busy="true"'))
    walk, walks = Axe.run, []

    def run(axe: Axe, at: Page) -> AxeResults:
        walks.append(walk(axe, at))
        if len(walks) == 1:
            at.evaluate(ANSWERED)
        return walks[-1]

    monkeypatch.setattr(Axe, "run", run)
    is_accessible(page)
    assert [each.violations_count for each in walks] == [1, 0]
