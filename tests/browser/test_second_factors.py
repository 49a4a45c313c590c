"""An app and a passkey in a real browser, whose authenticator is a virtual one."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from scoring.models import User
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import PASSWORD
from tests.pages.account.factors import code_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def sign_in_by_password(page: Page, user: User) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def confirm(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def test_an_app_is_set_up_and_signs_in(page: Page, is_accessible: Check, bob: User) -> None:
    sign_in_by_password(page, bob)
    page.goto("/accounts/profile/")
    in_both_schemes(page, is_accessible)
    page.get_by_role("link", name="Two-factor sign-in").click()
    is_accessible(page)
    page.get_by_role("link", name="Set up an app").click()
    is_accessible(page)
    confirm(page)
    secret = page.locator("#totp-secret").inner_text()
    in_both_schemes(page, is_accessible)
    page.get_by_label("Code that the app shows").fill(code_of(secret))
    page.get_by_role("button", name="Set up app").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Recovery codes"))
    is_accessible(page)
    sign_out(page)
    sign_in_by_password(page, bob)
    expect(page.get_by_role("heading", level=1)).to_have_text("Second step")
    in_both_schemes(page, is_accessible)
    page.get_by_label("Code").fill(code_of(secret, 1))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("navigation", name="Team")).to_be_visible()
    for path in ("/accounts/sessions/", "/accounts/email/"):
        page.goto(path)
        in_both_schemes(page, is_accessible)


def test_a_passkey_signs_in_alone(
    context: BrowserContext, page: Page, is_accessible: Check, bob: User
) -> None:
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    sign_in_by_password(page, bob)
    page.goto("/accounts/2fa/webauthn/add/")
    confirm(page)
    is_accessible(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Sign in without a password").check()
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Recovery codes"))
    page.goto("/accounts/2fa/")
    expect(page.get_by_role("row", name="Laptop")).to_contain_text("alone")
    is_accessible(page)
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("navigation", name="Team")).to_be_visible()
    sign_out(page)
    sign_in_by_password(page, bob)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("navigation", name="Team")).to_be_visible()


def test_without_a_passkey_it_says_so(page: Page, context: BrowserContext, db: None) -> None:
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    page.goto("/accounts/login/")
    page.evaluate("() => { navigator.credentials.get = () => Promise.reject(new Error('no')) }")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("No passkey was used.")).to_be_visible()
