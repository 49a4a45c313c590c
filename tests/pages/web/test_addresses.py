"""Addresses that a browser sends along lead to pages of this site, or nowhere."""

from __future__ import annotations

from typing import cast

import pytest
from django.test import RequestFactory

from evalsite.pages.web.addresses import next_address, shown_path, shown_query
from evalsite.pages.web.responses import SignedInRequest


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("/runs/?page=2#cases", True),
        ("", False),
        ("foo", False),
        ("runs", False),  # the name of a view
        ("//elsewhere.example/", False),
        ("/\\elsewhere.example/", False),
        ("https://elsewhere.example/", False),
        ("javascript:x", False),
    ],
)
def test_a_form_leads_back_to_a_path_of_this_site_alone(address: str, is_taken: bool) -> None:
    request = cast("SignedInRequest", RequestFactory().post("/", {"next": address}))
    assert next_address(request, "/home/") == (address if is_taken else "/home/")


@pytest.mark.parametrize(
    ("sent", "path", "query"),
    [
        ("http://testserver/runs/?page=2", "/runs/", "page=2"),
        ("http://elsewhere.example/runs/", "", ""),
        ("http://[", "", ""),
        ("", "", ""),
    ],
)
def test_the_page_shown_is_read_from_htmxs_header(sent: str, path: str, query: str) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": sent}
    request = cast("SignedInRequest", RequestFactory().get("/", headers=headers))
    assert (shown_path(request), shown_query(request)) == (path, query)
