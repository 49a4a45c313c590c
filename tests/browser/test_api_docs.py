"""The API's documentation works in a browser under the site's policy."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from scoring.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_docs_show_every_operation_and_send_one(
    page: Page, sign_in: Callable[[User], None], alice: User
) -> None:
    sign_in(alice)
    page.goto("/api/docs/")
    expect(page.locator("#operations-score-score_create")).to_be_visible()
    listing = page.locator("#operations-scorers-scorers_list")
    listing.locator(".opblock-summary-control").click()
    listing.get_by_role("button", name="Try it out").click()
    listing.get_by_role("button", name="Execute").click()
    expect(listing.locator(".live-responses-table tbody .response-col_status")).to_contain_text(
        "200"
    )
    expect(listing.locator(".live-responses-table")).to_contain_text('"results": []')


def test_the_docs_send_a_body_with_the_sessions_csrf_token(
    page: Page, sign_in: Callable[[User], None], alice: User
) -> None:
    sign_in(alice)
    page.goto("/api/docs/")
    making = page.locator("#operations-scorers-scorers_create")
    making.locator(".opblock-summary-control").click()
    making.get_by_role("button", name="Try it out").click()
    making.get_by_role("button", name="Execute").click()
    expect(making.locator(".live-responses-table tbody .response-col_status")).to_contain_text(
        "201"
    )
