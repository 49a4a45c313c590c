"""What is judged cannot speak to its judge: it stays data, and the verdict is the judge's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import Case, CaseProblem, OutsideProblem
from scoring.core.json_text import JsonText
from scoring.core.llm.judge_prompt import build_messages, case_document
from scoring.core.llm.judge_scale import Choices, Range
from tests.stub import Asked
from tests.stub.wire import Answer, completion, verdict
from tests.support.judges import PARIS, Bench
from tests.support.payloads import NAMES, PAYLOADS

PLACES: Mapping[str, Callable[[str], tuple[Case, dict[str, Any]]]] = {
    "output": lambda text: (PARIS._replace(output=text), {"output": text}),
    "expected": lambda text: (PARIS._replace(expected=text), {"expected": text}),
    "input": lambda text: (PARIS._replace(input=text), {"input": text}),
    "references": lambda text: (
        PARIS._replace(references=(text,)),
        {"expected": [PARIS.expected, text]},
    ),
    "metadata": lambda text: (
        PARIS._replace(metadata={text: {"note": text}}),
        {"metadata": {text: {"note": text}}},
    ),
    "all of them": lambda text: (
        Case(text, text, text, references=(text,), metadata={"note": text}),
        {"output": text, "expected": [text, text], "input": text, "metadata": {"note": text}},
    ),
}  # fmt: skip
PLAIN = {"output": "Paris", "expected": "Paris", "input": "What is the capital of France?"}


def test_there_are_more_than_a_hundred_different_payloads() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 100


def test_payloads_change_neither_rules_nor_verdict(bench: Bench) -> None:
    """The judge says D to every case, whatever the case says: all payloads stand in the output,
    and a share of them in each other place.
    """
    bench.stub.play("strict", verdict("D", "It contradicts."))
    for number, place in enumerate(PLACES.values()):
        bench.stub.requests.clear()
        bench.results("strict", [place("harmless")[0]])
        rules = bench.stub.requests.pop().system
        payloads = PAYLOADS[number :: len(PLACES)] if number else PAYLOADS
        made = [place(payload) for payload in payloads]
        results = bench.results("strict", [case for case, _ in made])
        assert {(each.score, each.metadata["choice"]) for each in results} == {(0.0, "D")}
        sent = bench.stub.requests
        assert {asked.system for asked in sent} == {rules}
        assert {tuple(m["role"] for m in asked.messages) for asked in sent} == {("system", "user")}
        documents = [json.loads(asked.user) for asked in sent]
        for wanted in ({**PLAIN, **changed} for _, changed in made):
            assert wanted in documents


def test_a_judge_that_answers_with_the_payload_gives_no_score_it_did_not_mean(
    bench: Bench,
) -> None:
    """A judge may quote what it was sent; only a whole, exact verdict counts as one."""

    def quote(asked: Asked) -> Answer:
        return completion(f"The output says: {json.loads(asked.user)['output']}")

    bench.stub.play("parrot", quote)
    results = bench.results("parrot", [PARIS._replace(output=payload) for payload in PAYLOADS])
    statuses = {name: each.status for name, each in zip(NAMES, results, strict=True)}
    assert {name: status for name, status in statuses.items() if status != "error"} == {}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3
    ),
    max_leaves=8,
)  # fmt: skip


@given(output=VALUES, expected=VALUES, given_input=VALUES)
def test_the_document_holds_exactly_what_the_case_holds(
    output: Any, expected: Any, given_input: Any
) -> None:
    held = json.loads(case_document(Case(output, expected, given_input)))
    wanted = {"input": given_input, "expected": expected}
    present = {name: value for name, value in wanted.items() if value is not None}
    assert held == {**present, "output": output}


def test_letters_are_sent_as_they_are_not_as_escapes() -> None:
    assert case_document(Case("Zürich 日本")) == '{"output": "Zürich 日本"}'


def test_json_that_was_selected_is_sent_as_a_plain_text() -> None:
    assert case_document(Case(JsonText("12"), JsonText("a"))) == '{"expected": "a", "output": "12"}'


@pytest.mark.parametrize(
    ("case", "kind", "code"),
    [
        (Case("\ud800"), CaseProblem, "invalid_unicode"),
        (Case(float("nan")), CaseProblem, "not_finite"),
        (Case("a", "\udfff"), OutsideProblem, "invalid_unicode"),
        (Case("a", input=[float("inf")]), OutsideProblem, "not_finite"),
        (Case("a", metadata={"\ud800": 1}), OutsideProblem, "invalid_unicode"),
    ],
)
def test_a_case_that_is_no_json_is_a_problem_and_not_a_call(
    case: Case, kind: type[CaseProblem], code: str
) -> None:
    with pytest.raises(CaseProblem) as caught:
        build_messages("Judge it.", Range(0, 1), case)
    assert (type(caught.value), caught.value.code) == (kind, code)


def test_the_rules_hold_task_and_form_even_with_braces_in_them() -> None:
    system, user = build_messages(
        "Look for {braces} and {0}.", Choices({"{yes}": 1, "no": 0}), PARIS
    )
    assert "Look for {braces} and {0}." in system.content
    assert 'one of "{yes}", "no"' in system.content
    assert (system.role, user.role) == ("system", "user")


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [
        ([], {"metadata": {"label": "good", "by": {"label": 1}}}),
        (["label", "absent"], {"metadata": {"by": {"label": 1}}}),
        (["label", "by"], {}),
    ],
)
def test_hidden_metadata_is_not_shown(
    bench: Bench, hidden: list[str], seen: dict[str, Any]
) -> None:
    case = PARIS._replace(metadata={"label": "good", "by": {"label": 1}})
    config = {"model": "stub-1", "hidden_metadata": hidden}
    bench.results("same", [case], config=config)
    assert json.loads(bench.stub.requests[0].user) == {**PLAIN, **seen}
