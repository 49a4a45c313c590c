"""A real Chromium on a live server; a page that breaks the CSP or logs an error fails its test."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.conf import settings
from django.test import Client
from django.urls import resolve
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    expect,
    sync_playwright,
)
from pytest_django.live_server_helper import LiveServer

from scoring.models import User
from tests.browser.browser_log import Witness
from tests.browser.compare_steps import has_settled
from tests.support.thoroughness import IS_THOROUGH
from tests.support.waiting import DEADLINE_SECONDS

if TYPE_CHECKING:
    from playwright.sync_api._generated import Clock

#: Of a page: its URL name, and "dark" or "light".
Kind = tuple[str, str]
WITNESS = pytest.StashKey[Witness]()
#: The one without a user interface first: it takes two thirds of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: The second half has it paint and run pages in few processes, which takes a sixth less time.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-software-rasterizer",
    "--disable-site-isolation-trials",
    "--in-process-gpu",
    "--renderer-process-limit=1",
]
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""
PARTS = """
() => [...document.body.querySelectorAll("*")].map(
  (part) => `${part.tagName} ${part.getAttribute("class")} ${part.getAttribute("role")}`)
"""
#: The rules whose answer depends on the colour scheme.
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]}
PATIENCE_MS = DEADLINE_SECONDS * 1_000


def _absent(why: str) -> None:
    if os.environ.get("EVALSITE_BROWSER_REQUIRED") == "1":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The system's browser. Without one the test is skipped, or fails if one is required.

    It ends with the tests of this folder: Playwright leaves an event loop running in its thread.
    """
    path = next(filter(None, map(which, NAMES)), None)
    if path is None:
        _absent(f"no Chromium here: none of {', '.join(NAMES)} is on the PATH")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, which Django would take for async code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        expect.set_options(timeout=PATIENCE_MS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def window(chromium: Browser, live_server: LiveServer) -> Iterator[BrowserContext]:
    """One for all tests: opening a window takes longer than most tests do in it.

    Its relative addresses are the live server's; its first tab keeps it open.
    """
    made = open_window(chromium, live_server)
    made.new_page()
    yield made
    made.close()


def open_window(chromium: Browser, live_server: LiveServer) -> BrowserContext:
    made = chromium.new_context(base_url=live_server.url)
    made.set_default_timeout(PATIENCE_MS)
    made.add_init_script(REPORT_VIOLATIONS)
    return made


def clear(window: BrowserContext, origin: str) -> None:
    """Leaves nothing of what was done in the window but the static files it has fetched."""
    first, *opened = window.pages
    for tab in opened:
        tab.close()
    window.clear_cookies()
    window.clear_permissions()
    devtools = window.new_cdp_session(first)
    devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    devtools.detach()


@pytest.fixture
def context(
    window: BrowserContext,
    chromium: Browser,
    live_server: LiveServer,
    request: pytest.FixtureRequest,
) -> Iterator[BrowserContext]:
    """A fresh profile, but for static files in its cache.

    A test that turns the clock has a window of its own, since a clock is all the window's.
    """
    if "clock" in request.fixturenames:
        own = open_window(chromium, live_server)
        yield own
        own.close()
    else:
        yield window
        clear(window, live_server.url)


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained of; a test that provokes a complaint takes it off the list."""
    return []


def _complaint(said: ConsoleMessage) -> list[str]:
    """What is an error; htmx also logs a request it gives up for a newer one, which is none."""
    is_given_up = said.text.startswith(("htmx:afterRequest", "htmx:sendAbort"))
    return [f"error: {said.text}"] if said.type == "error" and not is_given_up else []


@pytest.fixture
def page(
    context: BrowserContext, complaints: list[str], request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A tab. The test fails if it ends with a CSP violation, a console error or a script error."""
    made = context.new_page()
    request.node.stash[WITNESS] = Witness(made)
    made.on("pageerror", lambda error: complaints.append(f"script error: {error}"))
    made.on("console", lambda said: complaints.extend(_complaint(said)))
    yield made
    assert complaints == []


@pytest.fixture
def clock(page: Page) -> Clock:
    """That of the tab, which the test turns."""
    page.clock.install()
    return page.clock


@pytest.fixture
def let_time_pass(clock: Clock) -> Callable[[], None]:
    """Lets ten seconds pass at once in the tab, so that what asks again in a while asks now."""
    return lambda: clock.fast_forward(10_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed tells what its tab did."""
    report = yield
    witness = item.stash.get(WITNESS, None)
    if report.when == "call" and report.failed and witness is not None:
        report.sections.append(("what the tab did", witness.report()))
    return report


@pytest.fixture
def sign_in(context: BrowserContext, live_server: LiveServer) -> Callable[[User], None]:
    """Signs the person in without the form."""

    def signed_in(user: User) -> None:
        client = Client()
        client.force_login(user)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        name = settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": session, "url": live_server.url}])

    return signed_in


@pytest.fixture(scope="session")
def checked_parts() -> dict[Kind, set[str]]:
    """The parts that axe has looked at in this process, by the kind of the page."""
    return defaultdict(set)


@pytest.fixture(scope="session")
def checked_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each kind of page that axe has looked at in this run of the suite.

    All processes of the run share it.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "checked-kinds"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def is_accessible(
    checked_parts: dict[Kind, set[str]], checked_kinds: Path
) -> Callable[[Page], None]:
    """Asserts that axe finds nothing against the page as it stands.

    Axe takes most of a browser test's time. It looks at a kind of page once in each colour scheme,
    then in the dark only at colours. With all tests it also looks when the page has a part, an
    element with its classes, that it has not seen there.
    A fragment that swaps itself while axe walks the page ends its walk with an error of
    its own; the page is then looked at again, until it stood still for one whole walk.
    A part whose answer is under way is dim, so what is found is looked for again thereafter.
    A page that a link has just led to has no body yet, so its load is waited for.
    """

    def walked(page: Page, tries: int = 5) -> list[str]:
        options = {"options": COLOURS} if is_known_in_light(page, checked_kinds) else {}
        try:
            found = Axe().run(page, **options).response
            violations: list[dict[str, Any]] = found["violations"]
        except Error as broken:
            if tries == 1 or "reading 'documentElement'" not in broken.message:
                raise
            return walked(page, tries - 1)
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in violations]

    def is_known(page: Page) -> bool:
        kind = kind_of(page)
        if not IS_THOROUGH:
            return not is_first(checked_kinds / "-".join(kind))
        parts = set(page.evaluate(PARTS))
        is_known = parts <= checked_parts[kind]
        checked_parts[kind] |= parts
        return is_known

    def checked(page: Page) -> None:
        page.wait_for_load_state()
        if page.url.startswith("http") and is_known(page):
            return
        if walked(page):
            has_settled(page)
            assert walked(page) == []

    return checked


def is_known_in_light(page: Page, checked_kinds: Path) -> bool:
    """Whether the page is dark, and axe has looked at its kind in light."""
    if IS_THOROUGH or not page.url.startswith("http"):
        return False
    name, scheme = kind_of(page)
    return scheme == "dark" and (checked_kinds / f"{name}-light").exists()


def is_first(path: Path) -> bool:
    """Whether nobody has made the file before, in whatever process."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def kind_of(page: Page) -> Kind:
    """Its URL name and its colour scheme."""
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    address = urlsplit(page.url)
    return resolve(address.path).view_name, "dark" if is_dark else "light"
