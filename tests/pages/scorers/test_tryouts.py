"""A scorer tried on one case before it is saved: at once, or by the worker."""

# ruff: noqa: RUF001  pages show a true minus sign

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.scorers.tryout_form import MAX_CHARS, TryoutForm
from evalsite.pages.scorers.tryouts import MAX_OPEN_TRYOUTS
from scoring.core.registry import all_types
from scoring.models import Job, JobKind, JobState, Scorer, Team, User, Worker
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
CASE = {"try-output": "helo", "try-expected": "hello"}
JUDGE = {"config-model": "m", "threshold": "0.5", **CASE}
TREES = {
    "threshold": "0.9",
    "config-array_mode": "index",
    "try-output": '{"a": 1}',
    "try-expected": '{"a": 1, "b": 2}',
}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def sent(browser: Client, url: str, how: str = "typed", **fields: Any) -> Any:
    """What htmx gets; `how` is what asks: typed, now or case."""
    target = "try" if how == "case" else "tried"
    headers = {"HX-Request": "true", "HX-Target": target}
    return browser.post(url, fields | {"try": how}, headers=headers)


def said(answer: Any) -> str:
    text = answer.text.replace("<code>", "").replace("</code>", "")
    return " ".join(unescape(text).split())


def new(team: Team, type_name: str) -> str:
    return reverse("new_scorer", args=[team.slug, type_name])


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"try-expected": "York", "try-references": "Rome\nNYC"},
         'best of 3 right answers: reference 2, "NYC"'),
        ({"try-expected": '["York", "NYC"]'}, 'best of 2 right answers: expected 2, "NYC"'),
        ({"try-references": "NYC"}, 'the only right answer: reference 1, "NYC"'),
    ],
)  # fmt: skip
def test_the_winner_of_several_answers_is_shown(
    browser_of: BrowserOf, alice: User, team: Team, fields: dict[str, str], found: str
) -> None:
    sent_fields = {"threshold": "1", "config-use_references": "on", "try-output": "NYC", **fields}
    answer = sent(browser_of(alice), new(team, "exact_match"), **sent_fields)
    assert found in said(answer)
    assert "1 ≥ 1 → pass" in said(answer)


def test_a_list_is_one_text_where_references_are_off(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    fields = {"threshold": "1", "try-output": "NYC", "try-expected": '["York", "NYC"]'}
    assert "the texts differ" in said(sent(browser_of(alice), new(team, "exact_match"), **fields))


def test_a_score_comes_with_its_arithmetic(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, Any, str]] = [
        ("levenshtein", {"threshold": "0.7", **CASE}, "1 − 1 / 5 = 0.8 ≥ 0.7 → pass"),
        ("levenshtein", {"threshold": "0.9", **CASE}, "1 − 1 / 5 = 0.8 < 0.9 → fail"),
        ("exact_match", {"threshold": "1", **CASE}, "the texts differ"),
        ("exact_match", {"threshold": "1", "try-output": "x"}, "no expected output"),
        ("regex", {"threshold": "1", "config-pattern": "l+", **CASE}, "pattern l+: found"),
        (
            "expression",
            {
                "threshold": "0.5",
                "config-expression": "metadata.n / 4.0",
                "try-metadata": '{"n": 3}',
                **CASE,
            },
            "0.75 ≥ 0.5 → pass",
        ),
        ("json_similarity", TREES, "1 / 2 = 0.5 < 0.9 → fail"),
    ]
    for type_name, fields, verdict in cases:
        with subtests.test(type_name=type_name, fields=fields, verdict=verdict), undone():
            answer = sent(browser_of(alice), new(team, type_name), **fields)
            assert answer.status_code == 200
            assert verdict in said(answer)
            assert answer.text.lstrip().startswith('<div class="tried" id="tried"')
            assert not Scorer.objects.exists()
            assert not Job.objects.exists()


def test_the_leaf_table_is_the_one_of_the_case_page(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    page = said(sent(browser_of(alice), new(team, "json_similarity"), **TREES))
    assert "Leaves of the expected value" in page
    assert "missing" in page


def test_what_is_wrong_is_said_by_field_and_nothing_is_scored(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, str], str, str]] = [
        ("regex", {"config-pattern": "("}, "Pattern:", "group is not closed"),
        ("regex", {}, "Pattern:", "required"),
        ("levenshtein", {"threshold": "2"}, "Default threshold:", "less than or equal to 1"),
        ("levenshtein", {"config-decimals": "x"}, "Decimals:", "whole number"),
        ("exact_match", {"try-metadata": "[1]"}, "Metadata:", "JSON object"),
        ("exact_match", {"try-metadata": "{"}, "Metadata:", "not usable JSON"),
        ("exact_match", {"try-output": "x" * (MAX_CHARS + 1)}, "Output:", f"{MAX_CHARS}"),
        ("all", {"node": "1:0:regex"}, "Regular expression, Pattern:", "required"),
        ("all", {"config": '{"scorers": [{"type": "regex"}]}'}, "Config:", "scorers[0]"),
    ]
    for type_name, fields, label, text in cases:
        with subtests.test(type_name=type_name, fields=fields, label=label, text=text), undone():
            answer = sent(browser_of(alice), new(team, type_name), **{"threshold": "0.5", **fields})
            assert answer.status_code == 422
            assert label in said(answer)
            assert text in said(answer)
            assert "→" not in answer.text


def test_a_saved_scorer_is_tried_as_changed_and_stays_as_it_is(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    scorer = Scorer.objects.define(team, "close", "levenshtein", {"decimals": 1}, 0.75)
    fields = {"name": "close", "config-decimals": "3", **CASE}
    url = reverse("edit_scorer", args=[scorer.uuid])
    assert "0.8 ≥ 0.75 → pass" in said(sent(browser_of(alice), url, **fields))
    assert scorer.versions.count() == 1


def test_without_a_script_the_whole_page_comes_back_with_what_was_typed(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    fields = {"threshold": "0.7", "config-decimals": "1", "try": "now", **CASE}
    page = browser_of(alice).post(new(team, "levenshtein"), fields)
    assert page.status_code == 200
    assert "1 − 1 / 5 = 0.8 ≥ 0.7 → pass" in said(page)
    assert ">helo</textarea>" in "".join(page.text.split("\n"))
    assert "Nothing was" not in page.text
    assert not Scorer.objects.exists()


def test_the_page_of_a_team_without_cases_begins_with_an_example(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, str]] = [
        ("exact_match", "Paris", "Paris"),
        ("levenshtein", "customer service", "customer support"),  # the first of the usual config
        ("regex", "2026-01-31", ""),
        ("json_match", '{"b": 2, "a": 1.0}', '{\n  "a": 1,\n  "b": 2\n}'),
    ]
    for type_name, output, expected in cases:
        with subtests.test(type_name=type_name, output=output, expected=expected), undone():
            fields = browser_of(alice).get(new(team, type_name)).context["panel"].fields
            assert (fields["output"].value(), fields["expected"].value()) == (output, expected)


def test_every_type_can_be_tried(
    browser_of: BrowserOf, alice: User, team: Team, subtests: pytest.Subtests
) -> None:
    for type_name in sorted(all_types()):
        with subtests.test(type_name=type_name), undone():
            page = browser_of(alice).get(new(team, type_name))
            assert 'id="tried"' in page.text
            assert page.context["panel"].fields["output"].value()


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ({"output": "a\r\nb"}, ("a\nb", None, "")),
        ({"expected": "4"}, ("", "4", "")),
        ({"expected": "[1, 2]"}, ("", [1, 2], "")),
        ({"expected": "[1, 2"}, ("", "[1, 2", "")),
        ({"expected": " "}, ("", " ", "")),
        ({"output": '{"a": 1}', "input": '{"q": 1.0}'}, ('{"a": 1}', None, {"q": 1.0})),
    ],
)
def test_a_text_stays_a_text_and_a_structure_is_json(typed: Any, value: Any) -> None:
    form = TryoutForm({f"try-{name}": text for name, text in typed.items()})
    assert form.is_valid()
    case = form.case()
    assert (case.output, case.expected, case.input) == value


# What asks a model


@pytest.mark.parametrize("type_name", ["factuality", "reference_match"])
def test_typing_calls_nobody(
    browser_of: BrowserOf, alice: User, team: Team, worker: None, type_name: str
) -> None:
    fields = JUDGE | {"config-aggregation": "max"}
    answer = sent(browser_of(alice), new(team, type_name), **fields)
    assert "when you press Try it" in said(answer)
    assert not Job.objects.exists()


def test_a_combination_with_a_judge_inside_is_left_to_the_worker(
    browser_of: BrowserOf, alice: User, team: Team, worker: None
) -> None:
    part = {"node": "1:0:factuality", "n1-name": "facts", "n1-config-model": "m"}
    fields = {"threshold": "0.5", **part, **CASE}
    assert "when you press Try it" in said(sent(browser_of(alice), new(team, "all"), **fields))
    sent(browser_of(alice), new(team, "all"), "now", **fields)
    assert Job.objects.get().request["type"] == "all"


def test_without_a_worker_nothing_is_asked(browser_of: BrowserOf, alice: User, team: Team) -> None:
    answer = sent(browser_of(alice), new(team, "factuality"), "now", **JUDGE)
    assert "there is no worker: start manage.py worker" in said(answer)
    assert not Job.objects.exists()


def test_the_worker_is_asked_and_the_page_looks_for_the_answer(
    browser_of: BrowserOf, alice: User, team: Team, worker: None
) -> None:
    browser = browser_of(alice)
    answer = sent(browser, new(team, "factuality"), "now", **JUDGE)
    job = Job.objects.get()
    assert (job.team, job.kind, job.requested_by) == (team, "try_scorer", alice)
    assert job.request["config"]["model"] == "m"
    assert job.request["case"]["expected"] == "hello"
    url = reverse("tried", args=[job.uuid])
    assert f'hx-get="{url}" hx-trigger="every 1s"' in answer.text
    headers = {"HX-Request": "true", "HX-Target": "tried"}
    assert "The worker is scoring it" in browser.get(url, headers=headers).text
    Worker.objects.all().delete()
    assert "No worker: start manage.py worker" in said(browser.get(url)).replace(
        "<code>", ""
    ).replace("</code>", "")


def test_a_person_has_few_tries_under_way(
    browser_of: BrowserOf, alice: User, team: Team, worker: None
) -> None:
    browser = browser_of(alice)
    for number in range(MAX_OPEN_TRYOUTS + 2):
        fields = JUDGE | {"try-output": f"answer {number}"}
        answer = sent(browser, new(team, "factuality"), "now", **fields)
    assert "still under way" in said(answer)
    assert Job.objects.count() == MAX_OPEN_TRYOUTS


def done(team: Team, answer: Any, problem: str = "", **request: Any) -> Job:
    asked = {"type": "factuality", "config": {"model": "m"}, "threshold": 0.5}
    asked |= {"case": {"output": "helo", "expected": "hello"}, **request}
    state = JobState.FAILED if problem else JobState.DONE
    return Job.objects.create(
        team=team,
        kind=JobKind.TRY_SCORER,
        request=asked,
        answer=answer,
        state=state,
        problem=problem,
    )


def judged(text: str) -> dict[str, Any]:
    """An answer of the worker in which everything a model wrote is `text`."""
    metadata = {"choice": "A", "reasons": text, "model": text, "samples": ["A"], "attempts": 1}
    result = ["scored", 0.4, "fail", f"A: {text}", metadata]
    call = {"model": text, "is_ok": True, "reply": text, "refusal": text, "code": ""}
    call |= {"messages": [{"role": "system", "content": text}], "is_cached": False}
    call |= {"tokens_in": 100, "tokens_out": 20, "cost_usd": 0.0002, "latency_ms": 81.5}
    names = ("status", "score", "verdict", "reason", "metadata")
    return {"result": dict(zip(names, result, strict=True)) | {"code": ""}, "calls": [call]}


def test_an_answer_shows_score_prompt_reply_tokens_cost_and_time(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    job = done(team, judged("what the model wrote"))
    page = said(browser_of(alice).get(reverse("tried", args=[job.uuid])))
    for part in ("0.4 < 0.5 → fail", "what the model wrote", "system message", "raw reply",
                 "100 tokens in, 20 out", "$0.0002", "82 ms"):  # fmt: skip
        assert part in page
    assert "every 1s" not in page


def test_what_a_model_writes_is_text(browser_of: BrowserOf, alice: User, team: Team) -> None:
    job = done(team, judged(HOSTILE))
    page = browser_of(alice).get(reverse("tried", args=[job.uuid])).text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    ("answer", "problem", "words"),
    [
        ({"errors": {"connection": ["the team has no connection 'x'"]}}, "bad",
         "connection: the team has no connection 'x'"),
        ({}, "the worker ended meanwhile; ask again", "No score: the worker ended meanwhile"),
    ],
)  # fmt: skip
def test_a_try_without_an_answer_says_why(
    browser_of: BrowserOf, alice: User, team: Team, answer: Any, problem: str, words: str
) -> None:
    job = done(team, answer, problem)
    assert words in said(browser_of(alice).get(reverse("tried", args=[job.uuid])))


def test_other_jobs_have_no_such_page(browser_of: BrowserOf, alice: User, team: Team) -> None:
    job = Job.objects.create(team=team, kind=JobKind.TEST_CONNECTION)
    assert browser_of(alice).get(reverse("tried", args=[job.uuid])).status_code == 404


def test_a_class_that_javascript_does_not_have_is_warned_of(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    warning = "[:digit:] is no class in JavaScript, but these characters themselves; write [\\d]"
    fields = {"config-pattern": "[[:digit:]]", "threshold": "1", "try-output": "1"}
    answer = sent(browser_of(alice), new(team, "regex"), **fields)
    assert warning in said(answer)
    scorer = Scorer.objects.define(team, "digits", "regex", {"pattern": "[[:digit:]]"})
    assert warning in said(browser_of(alice).get(reverse("scorer", args=[scorer.uuid])))
