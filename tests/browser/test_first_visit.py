"""What a browser that was never here fetches for a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from scoring.models import User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.browser

REQUESTS = 6
BYTES = 80_000


@pytest.fixture(autouse=True)
def _nothing_is_cached(context: BrowserContext, page: Page) -> None:
    context.new_cdp_session(page).send("Network.clearBrowserCache")


def fetched(context: BrowserContext, page: Page, url: str) -> dict[str, int]:
    """The bytes that came over the wire, by address."""
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    addresses: dict[str, str] = {}
    found: dict[str, int] = {}

    def begun(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def ended(event: dict[str, Any]) -> None:
        found[addresses[event["requestId"]]] = event["encodedDataLength"]

    devtools.on("Network.requestWillBeSent", begun)
    devtools.on("Network.loadingFinished", ended)
    page.goto(url, wait_until="networkidle")
    devtools.detach()
    return {address: size for address, size in found.items() if not address.startswith("data:")}


def test_the_form_to_sign_in(context: BrowserContext, page: Page) -> None:
    found = fetched(context, page, "/accounts/login/")
    assert 3 <= len(found) <= REQUESTS, found
    assert sum(found.values()) <= BYTES, found


def test_the_page_of_a_run(
    context: BrowserContext,
    page: Page,
    sign_in: Callable[[User], None],
    bob: User,
    make_dataset: MakeDataset,
) -> None:
    cases = [{"key": f"q{n}", "input": f"a question of some words, {n}"} for n in range(60)]
    run = run_with(make_dataset(cases), {"close": [0.9] * 60, "far": [0.2] * 60})
    sign_in(bob)
    found = fetched(context, page, reverse("run", args=[run.uuid]))
    assert 3 <= len(found) <= REQUESTS, found
    assert sum(found.values()) <= BYTES, found


def test_the_next_page_fetches_itself_alone(context: BrowserContext, page: Page) -> None:
    fetched(context, page, "/accounts/login/")
    found = fetched(context, page, "/accounts/password/reset/")
    assert [address for address, size in found.items() if size > 0] == [page.url]
