"""Signing in, and what the browser fixtures notice on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from scoring.models import User

pytestmark = pytest.mark.browser


def test_the_sign_in_page_is_clean_and_accessible(
    page: Page, is_accessible: Callable[[Page], None]
) -> None:
    page.goto("/accounts/login/")
    assert page.get_by_role("heading", level=1).inner_text() == "Sign in"
    is_accessible(page)


def test_a_script_in_the_page_is_refused_and_noticed(page: Page, complaints: list[str]) -> None:
    page.goto("/accounts/login/")
    page.evaluate(
        """document.body.append(
            Object.assign(document.createElement("script"), {text: "window.ran = 1"})
        )"""
    )
    assert page.evaluate("window.ran") is None
    assert any("CSP: script-src" in complaint for complaint in complaints)
    complaints.clear()


def test_a_signed_in_person_is_known(
    page: Page, sign_in: Callable[[User], None], bob: User
) -> None:
    sign_in(bob)
    page.goto("/accounts/logout/")
    assert page.get_by_text("bob@example.org").count() > 0
