"""Why a scorer of one's own scored so, on the page of a case, alone and in a combination."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.core.contract import Result, scored
from scoring.core.custom import custom_type
from scoring.core.registry import CUSTOM_TYPES
from scoring.engine.runs import execution
from tests.pages.conftest import MakeSet
from tests.support.run_states import finished_run

ALONE = ("near", "length_close", {"characters": 4})
INSIDE = ("both", "all", {"scorers": [{"type": "length_close", "name": "part"}]})


def length_close(output: str, expected: str, *, characters: int = 10) -> Result:
    """How close the output's length is to the expected one."""
    apart = abs(len(output) - len(expected))
    facts: dict[str, Any] = {"limits": {"characters": characters}, "share": apart / 3}
    return scored(1 - apart / characters, f"{apart} apart <b>", facts)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CUSTOM_TYPES, "length_close", custom_type("length_close", length_close))
    monkeypatch.setattr(execution, "_configured", {})


def page(browser: Client, make_set: MakeSet, *scorers: Any) -> str:
    run = finished_run(make_set(["ye"]), *scorers)
    return browser.get(reverse("run_case", args=[run.uuid, 1])).text


def test_reason_and_facts_stand_under_the_threshold(browser: Client, make_set: MakeSet) -> None:
    text = page(browser, make_set, ALONE)
    assert "1 apart <b>" not in text
    assert all(
        each in unescape(text)
        for each in ("0.75 ≥", "1 apart <b>", 'limits: {"characters": 4}', "share: 0.3333")
    )


def test_as_a_part_of_a_combination_it_tells_the_same(browser: Client, make_set: MakeSet) -> None:
    text = unescape(page(browser, make_set, INSIDE))
    assert "<h4>part</h4>" in text
    assert "1 apart <b>" in text
    assert "share: 0.3333" in text


def test_once_it_is_not_installed_any_more_the_page_still_tells_what_it_found(
    browser: Client, make_set: MakeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(make_set(["ye"]), ALONE)
    monkeypatch.delitem(CUSTOM_TYPES, "length_close")
    text = unescape(browser.get(reverse("run_case", args=[run.uuid, 1])).text)
    assert "1 apart <b>" in text
    assert 'limits: {"characters": 4}' in text
