"""A page comes whole or as the part that htmx asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django.fixtures import Settings

from evalsite.pages.web.responses import redirect_browser, render_page

WHOLE, PART = "whole page", "<div id='rows'>part</div>"


@pytest.fixture(autouse=True)
def templates(tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "noun"
    folder.mkdir()
    (folder / "page.html").write_text(WHOLE)
    (folder / "_rows.html").write_text(PART)
    backend = "django.template.backends.django.DjangoTemplates"
    settings.TEMPLATES = [{"BACKEND": backend, "DIRS": [tmp_path]}]


def answer(headers: dict[str, str], **options: Any) -> HttpResponse:
    request = RequestFactory().get("/", headers=headers)
    return render_page(request, "noun/page.html", {}, parts=["rows"], **options)


HTMX = {"HX-Request": "true"}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, WHOLE),
        ({"HX-Target": "rows"}, WHOLE),
        (HTMX, WHOLE),
        (HTMX | {"HX-Target": "rows"}, PART),
        (HTMX | {"HX-Target": "page"}, WHOLE),
        (HTMX | {"HX-Target": "../secret"}, WHOLE),
        (HTMX | {"HX-Target": "rows", "HX-Boosted": "true"}, WHOLE),
        (HTMX | {"HX-Target": "rows", "HX-History-Restore-Request": "true"}, WHOLE),
    ],
)
def test_only_an_htmx_request_that_targets_a_part_gets_the_part(
    headers: dict[str, str], expected: str
) -> None:
    assert answer(headers).content.decode() == expected


def test_a_cache_keeps_page_and_part_apart() -> None:
    vary = answer({})["Vary"]
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in vary.split(",")}


@pytest.mark.parametrize("headers", [{}, HTMX | {"HX-Target": "rows"}])
def test_the_status_is_the_same_for_page_and_part(headers: dict[str, str]) -> None:
    assert answer(headers, status=422).status_code == 422


def test_a_page_of_other_scripts_is_loaded_anew_by_whoever_would_swap_it() -> None:
    requests = [RequestFactory().post("/", headers=headers) for headers in ({}, HTMX)]
    plain, swapping = (redirect_browser(request, "/there/") for request in requests)
    assert (plain.status_code, plain["Location"]) == (302, "/there/")
    assert (swapping.status_code, swapping["HX-Redirect"]) == (200, "/there/")
