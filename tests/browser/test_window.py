"""The tests share one window; each finds it as a new profile's, but for static files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from scoring.models import User
from tests.browser.conftest import clear

pytestmark = pytest.mark.browser

STORE = """async () => {
  localStorage.left = sessionStorage.left = "there";
  document.cookie = "left=there";
  await caches.open("left");
  await new Promise((done) => (indexedDB.open("left").onsuccess = done));
}"""
FOUND = """async () => [
  "left" in localStorage, "left" in sessionStorage, document.cookie.includes("left="),
  await caches.has("left"), (await indexedDB.databases()).some(({ name }) => name === "left"),
]"""
CLIPBOARD = """async () =>
  (await navigator.permissions.query({ name: "clipboard-read" })).state"""


@pytest.fixture
def opened(window: BrowserContext) -> Callable[[], Page]:
    """A new tab at the form to sign in."""

    def new() -> Page:
        tab = window.new_page()
        tab.goto("/accounts/login/")
        return tab

    return new


def test_nothing_is_left_of_a_test_that_went_before(
    window: BrowserContext,
    live_server: LiveServer,
    opened: Callable[[], Page],
    sign_in: Callable[[User], None],
    alice: User,
) -> None:
    sign_in(alice)
    before = opened()
    before.evaluate(STORE)
    window.grant_permissions(["clipboard-read"])
    assert before.evaluate(CLIPBOARD) == "granted"
    assert before.evaluate(FOUND) == [True] * 5

    clear(window, live_server.url)
    assert before.is_closed()
    assert len(window.pages) == 1
    assert window.cookies() == []
    after = opened()
    assert after.evaluate(FOUND) == [False] * 5
    assert after.evaluate(CLIPBOARD) == "prompt"
