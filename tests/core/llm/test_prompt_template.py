"""Prompt templates: what they fill in, what they refuse, and that data stays data."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import Case, CaseProblem
from scoring.core.llm.prompt_template import MAX_CHARACTERS, PromptTemplate

CASE = Case(
    output="never shown",
    input={"question": "Why?", "turns": ["a", {"text": "b"}], "odd key": 1},
    expected="Because.",
    id="q1",
    references=("one", "two"),
    metadata={"level": 3, "ratio": 1.0},
    tags=("billing",),
)

FILLED = [
    ("Answer: {{ input.question }}", "Answer: Why?"),
    ("{{input.question}}", "Why?"),
    ("{{ input.turns[0] }}{{ input.turns[1].text }}", "ab"),
    ('{{ input["odd key"] }}', "1"),
    ("{{ input }}", '{"odd key":1,"question":"Why?","turns":["a",{"text":"b"}]}'),
    ("{{ expected }}", "Because."),
    ("{{ references }}", '["one","two"]'),
    ("{{ references[1] }}", "two"),
    ("{{ metadata.level }} {{ metadata.ratio }}", "3 1"),
    ("{{ tags[0] }}", "billing"),
    ("{{ key }}", "q1"),
    ("no place at all { } { x }", "no place at all { } { x }"),
]


@pytest.mark.parametrize(("template", "prompt"), FILLED)
def test_places_are_filled(template: str, prompt: str) -> None:
    assert PromptTemplate(template).problem() == ""
    assert PromptTemplate(template).filled(CASE) == prompt


REFUSED = [
    ("", "the prompt is empty"),
    (" \n", "the prompt is empty"),
    ("x" * (MAX_CHARACTERS + 1), "the prompt is longer than 50,000 characters"),
    ("{{ output }}", "{{ output }} names no field of a case"),
    ("{{ }}", "{{  }} names no field of a case"),
    ("{{ input.question", "{{ opens or closes no place"),
    ("input }}", "}} opens or closes no place"),
    ("{% if input %}", "{% opens or closes no place"),
    ("{{ input..x }}", "cannot read the path"),
    ("{{ input.__class__[ }}", "cannot read the path"),
    ("{{ input|upper }}", "{{ input|upper }} names no field"),
    ("{{ [0] }}", "{{ [0] }} names no field"),
]


@pytest.mark.parametrize(("template", "problem"), REFUSED)
def test_what_is_no_template_is_refused_with_a_reason(template: str, problem: str) -> None:
    assert PromptTemplate(template).problem().startswith(problem)


ABSENT = [
    ("{{ input.answer }}", CASE),
    ("{{ input.turns[2] }}", CASE),
    ("{{ input.turns.x }}", CASE),
    ("{{ input.question.x }}", CASE),
    ("{{ expected.x }}", CASE._replace(expected=None)),
    ("{{ input.__class__ }}", CASE),
]


@pytest.mark.parametrize(("template", "case"), ABSENT)
def test_a_place_that_the_case_lacks_is_named(template: str, case: Case) -> None:
    with pytest.raises(CaseProblem, match="the case has nothing at") as raised:
        PromptTemplate(template).filled(case)
    assert raised.value.code == "place_empty"


def test_a_json_text_can_be_looked_into() -> None:
    case = CASE._replace(input='{"question": "Why not?"}')
    assert PromptTemplate("{{ input.question }}").filled(case) == "Why not?"


def test_an_absent_expected_value_is_an_empty_text() -> None:
    assert PromptTemplate("[{{ expected }}]").filled(CASE._replace(expected=None)) == "[]"


def test_fields_tell_what_a_model_gets_to_see() -> None:
    template = PromptTemplate("{{ input.question }} {{ expected }} {{ input }}")
    assert template.fields == {"input", "expected"}


@given(st.text())
def test_what_is_filled_in_is_never_read_as_a_template(text: str) -> None:
    case = CASE._replace(input=text, expected="secret")
    assert PromptTemplate("<{{ input }}>").filled(case) == f"<{text}>"


@given(st.one_of(st.text(), st.from_regex(r"\{\{ ?[a-z.\[\]0-9]* ?\}\}.*", fullmatch=True)))
def test_any_text_is_either_refused_or_filled(text: str) -> None:
    template = PromptTemplate(text)
    if not template.problem():
        with suppress(CaseProblem):
            template.filled(CASE)
