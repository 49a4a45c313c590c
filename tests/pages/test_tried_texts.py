"""What is expected in a try: the text as it is typed, or the list or object that it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.forms.tryout import TEXTUAL
from scoring.core.bound import bind
from scoring.core.contract import Case, Result
from scoring.core.json_text import text_of
from scoring.models import Errand, ErrandState, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.test_tryouts import new, sent

BrowserOf = Callable[[User], Client]


def test_what_is_sent_as_typed_after_the_button_was_pressed_hides_no_answer(
    browser_of: BrowserOf, alice: User, team: Team, worker: None
) -> None:
    browser, url = browser_of(alice), new(team, "factuality")
    typed = {"config-model": "m", "threshold": "0.5", "try-output": "a", "try-expected": "b"}
    asks = "when you press Try it"
    assert asks in sent(browser, url, **typed).text
    sent(browser, url, "now", **typed)
    errand = Errand.objects.get()
    assert reverse("tried", args=[errand.uuid]) in sent(browser, url, **typed).text
    result = ["scored", 0.4, "fail", "a subset", {}]
    answer = {"result": dict(zip(Result._fields, result, strict=True)) | {"code": ""}, "calls": []}
    Errand.objects.update(state=ErrandState.DONE, answer=answer)
    assert "a subset" in sent(browser, url, **typed).text
    assert asks in sent(browser, url, **typed | {"try-output": "c"}).text
    assert Errand.objects.count() == 1


SPACED = '{"b": 2,  "a": [1, 2]}'


@pytest.mark.parametrize("type_name", ["exact_match", "includes", "levenshtein", "json_match"])
def test_equal_texts_are_equal_though_they_hold_json(
    browser_of: BrowserOf, alice: User, team: Team, type_name: str
) -> None:
    case = {"try-output": SPACED, "try-expected": SPACED, "config-mode": "all"}
    answer = sent(browser_of(alice), new(team, type_name), threshold="1", **case)
    assert answer.context["tried"].scored.result.score == 1.0
    part = {"node": f"1:0:{type_name}", "n1-name": "same", "n1-config-mode": "all"}
    within = sent(browser_of(alice), new(team, "all"), threshold="1", **case, **part)
    assert within.context["tried"].scored.result.score == 1.0


@pytest.mark.parametrize("stored", [{"b": 2, "a": [1.0, None]}, '{"b": 2}', 4.0, True, "x"])
@pytest.mark.parametrize("type_name", sorted(TEXTUAL - {"regex"}))
def test_a_case_of_the_team_scores_as_its_run_did(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    type_name: str,
    stored: Any,
) -> None:
    version = make_dataset([{"expected": stored}])
    output = text_of(stored)
    make_outputs(version, [output])
    fields = {"threshold": "1", "config-mode": "all", "config-array_mode": "index"}
    chosen = {"try-from": f"{version.dataset.uuid}/1"}
    browser = browser_of(alice)
    page = sent(browser, new(team, type_name), "case", **fields, **chosen)
    form = page.context["panel"].fields
    typed = {field.html_name: field.value() or "" for field in form}
    answer = sent(browser, new(team, type_name), **fields, **typed)
    (scored,) = bind(type_name, {}, 1.0).score([Case(output=output, expected=stored)])
    shown = answer.context["tried"].scored.result
    assert (shown.score, shown.verdict, shown.code) == (scored.score, scored.verdict, scored.code)


def test_types_that_tell_a_list_from_its_text_get_the_list(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    fields = {"threshold": "0.5", "config-expression": "size(expected) == 2"}
    case = {"try-output": "x", "try-expected": "[1, 2]"}
    answer = sent(browser_of(alice), new(team, "expression"), **fields, **case)
    assert answer.context["tried"].scored.result.score == 1.0
    part = {"node": "1:0:expression", "n1-config-expression": "size(expected) == 2"}
    within = sent(browser_of(alice), new(team, "all"), threshold="1", **case, **part)
    assert within.context["tried"].scored.result.score == 1.0
