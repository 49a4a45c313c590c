"""factuality and llm_judge: scales, samples and how they reduce, what is kept with a score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.scorers import llm_judge
from scoring.core.services import Answer, CallFailure, Question, Reply, use_services
from tests.support.judges import PARIS, Asking, Stated
from tests.support.scoring import refused

FACTS = {"model": "m"}
MENU = {"model": "m", "rubric": "Is it polite?", "choices": {"yes": 1, "partly": 0.5, "no": 0}}
SPAN = {"model": "m", "rubric": "How clear is it?", "range": [1, 5]}


def said(value: Any, reasons: str = "So it is.") -> str:
    key = "choice" if isinstance(value, str) else "number"
    return json.dumps({"reasons": reasons, key: value})


def judged(config: dict[str, Any], answers: Sequence[Answer | str], case: Case = PARIS) -> Result:
    """One case judged by stated answers, one a sample."""
    kind = "llm_judge" if "rubric" in config else "factuality"
    with use_services(Stated(answers)):
        (result,) = configure_scorer(kind, config).score([case])
    return result


@pytest.mark.parametrize(
    ("choice", "score", "verdict"),
    [
        ("A", 0.4, "fail"),
        ("B", 0.6, "pass"),
        ("C", 1.0, "pass"),
        ("D", 0.0, "fail"),
        ("E", 1.0, "pass"),
    ],
)
def test_factuality_has_five_choices(choice: str, score: float, verdict: str) -> None:
    result = judged(FACTS, [said(choice)])
    assert (result.score, result.verdict, result.metadata["choice"]) == (score, verdict, choice)


def test_the_scores_of_single_choices_can_be_changed() -> None:
    config = {**FACTS, "choices": {"B": 1, "A": 0}}
    assert [judged(config, [said(choice)]).score for choice in "ABCDE"] == [0, 1, 1, 0, 1]


def test_a_missing_expected_value_fails_without_a_call() -> None:
    nobody = Stated([])
    with use_services(nobody):
        results = configure_scorer("factuality", FACTS).score([Case("Paris"), Case("Paris", None)])
    assert [(each.score, each.verdict, each.code) for each in results] == [
        (0.0, "fail", "expected_missing")
    ] * 2
    assert not nobody.asked


def test_a_default_expected_value_is_sent_where_the_case_has_none() -> None:
    judge_of = Stated([said("C"), said("C")])
    with use_services(judge_of):
        configure_scorer("factuality", {**FACTS, "default_expected": "Rome"}).score(
            [Case("a"), Case("b", "c")]
        )
    sent = [json.loads(question.messages[1].content)["expected"] for question in judge_of.asked]
    assert sent == ["Rome", "c"]


def asked(case: Case, **config: Any) -> tuple[str, dict[str, Any], Result]:
    """The rules and the document of the one question about a case, and the result."""
    judge_of = Stated([said("C")])
    with use_services(judge_of):
        (result,) = configure_scorer("factuality", {**FACTS, **config}).score([case])
    system, user = judge_of.asked[0].messages
    return system.content, json.loads(user.content), result


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case("c", "a", references=("b", "c")), ["a", "b", "c"]),
        (Case("c", ["a", "b"]), ["a", "b"]),
        (Case("c", references=("b", "c")), ["b", "c"]),
    ],
)
def test_all_right_answers_are_shown_in_one_question(case: Case, expected: list[str]) -> None:
    rules, document, result = asked(case)
    assert document == {"expected": expected, "output": "c"}
    assert "each of which is right by itself" in rules
    assert result.metadata["answers"] == len(expected)


@pytest.mark.parametrize(
    "case", [Case("b", "a"), Case("b", references=("a",)), Case("b", ["a"]), Case("b", {"x": 1})]
)
def test_a_single_answer_is_asked_about_as_ever(case: Case) -> None:
    """The same words, so that replies that are kept still answer."""
    rules, document, result = asked(case)
    plain, *_ = asked(Case("b", "a"), use_references=False)
    assert rules == plain
    assert document["expected"] in ("a", {"x": 1})
    assert "answers" not in result.metadata


def test_with_references_off_the_question_is_what_it_was() -> None:
    rules, document, _ = asked(Case("c", "a", references=("b",)), use_references=False)
    assert document == {"expected": "a", "references": ["b"], "output": "c"}
    assert "each of which" not in rules


def test_a_target_key_selects_from_each_right_answer() -> None:
    case = Case({"x": "c"}, {"x": "a"}, references=('{"x": "b"}', '{"y": 1}'))
    _, document, result = asked(case, target_output_key="x")
    assert document == {"expected": ["a", "b"], "output": "c"}
    assert result.metadata["left_out"] == ['reference 2 has nothing at "x"']
    only = Case({"x": "c"}, {"y": 1}, references=('{"y": 1}',))
    assert judged({**FACTS, "target_output_key": "x"}, [], only).code == "target_not_in_expected"


def test_a_target_key_sends_that_part_alone() -> None:
    judge_of = Stated([said("C")])
    case = Case('{"answer": "Paris", "notes": "long"}', {"answer": "Paris"})
    with use_services(judge_of):
        results = configure_scorer("factuality", {**FACTS, "target_output_key": "answer"}).score(
            [case, Case("no JSON", "Paris")]
        )
    assert json.loads(judge_of.asked[0].messages[1].content) == {
        "expected": "Paris",
        "output": "Paris",
    }
    assert [each.code for each in results] == ["", "invalid_json"]


def test_a_question_asks_for_a_strict_reply_at_temperature_0() -> None:
    judge_of = Stated([said("yes")])
    with use_services(judge_of):
        configure_scorer("llm_judge", {**MENU, "connection": "own", "model": " m "}).score([PARIS])
    (asked,) = judge_of.asked
    assert (asked.model, asked.connection, asked.purpose) == ("m", "own", "judge")
    assert asked.parameters == (("temperature", 0),)
    assert asked.schema["properties"]["choice"]["enum"] == ["yes", "partly", "no"]
    assert asked.schema["required"] == list(asked.schema["properties"]) == ["reasons", "choice"]
    assert asked.schema["additionalProperties"] is False
    assert "Is it polite?" in asked.messages[0].content
    assert "polite" not in asked.messages[1].content


@pytest.mark.parametrize(
    ("limits", "number", "score"),
    [([1, 5], 1, 0), ([1, 5], 4, 0.75), ([1, 5], 5, 1), ([-1, 1], 0, 0.5), ([0, 0.3], 0.1, 1 / 3)],
)
def test_a_number_is_mapped_to_0_to_1(limits: list[float], number: float, score: float) -> None:
    result = judged({**SPAN, "range": limits}, [said(number)])
    assert result.score == pytest.approx(score, abs=1e-9)
    assert result.metadata["number"] == number


REDUCED = [
    (SPAN, "median", [1, 5, 2], 0.25, 2),
    (SPAN, "median", [1, 5, 2, 4], 0.5, 3),
    (SPAN, "mean", [1, 5, 2], 0.416666667, 2.666666667),
    (MENU, "median", ["yes", "no", "no"], 0.0, "no"),
    (MENU, "median", ["yes", "no"], 0.5, "no"),
    (MENU, "median", ["yes", "no", "partly", "partly"], 0.5, "partly"),
    (MENU, "mean", ["yes", "yes", "no"], 0.666666667, "yes"),
    (MENU, "majority", ["no", "yes", "yes"], 1.0, "yes"),
    (MENU, "majority", ["yes", "no", "yes", "no"], 0.0, "no"),
    (MENU, "majority", ["yes", "partly", "no"], 0.0, "no"),
    (MENU, "majority", ["yes", "partly", "partly", "yes", "no"], 0.5, "partly"),
]


@pytest.mark.parametrize(("config", "reduce", "replies", "score", "value"), REDUCED)
def test_samples_reduce_to_one_score(
    config: dict[str, Any], reduce: str, replies: list[Any], score: float, value: Any
) -> None:
    wanted = {**config, "samples": len(replies), "reduce": reduce}
    result = judged(wanted, [said(each) for each in replies])
    assert result.score == score
    assert result.metadata["samples"] == replies
    assert result.metadata.get("choice", result.metadata.get("number")) == value


@given(st.lists(st.sampled_from(["yes", "partly", "no"]), min_size=1, max_size=20), st.randoms())
def test_the_order_of_samples_changes_no_score(replies: list[str], random: Any) -> None:
    for reduce in ("median", "mean", "majority"):
        config = {**MENU, "samples": len(replies), "reduce": reduce}
        mixed = random.sample(replies, len(replies))
        first, second = (judged(config, [said(each) for each in some]) for some in (replies, mixed))
        assert first.score == second.score
        assert 0 <= (first.score or 0.0) <= 1


FAULT = CallFailure("timeout", "main: no whole reply within 60 seconds", attempts=2)
NO = Reply("", refusal="I will not.")


@pytest.mark.parametrize(
    ("answers", "status", "code", "where"),
    [
        ([said("yes"), FAULT, said("yes")], "error", "timeout", "sample 2 of 3: main"),
        ([said("yes"), said("yes"), "?"], "error", "reply_unparsable", "sample 3 of 3"),
        ([NO, said("yes"), said("yes")], "skipped", "refused", "sample 1 of 3"),
        ([NO, FAULT, NO], "error", "timeout", "sample 2 of 3"),
        ([FAULT, "", FAULT], "error", "timeout", "sample 1 of 3"),
    ],
)
def test_a_score_needs_every_sample(
    answers: list[Answer | str], status: str, code: str, where: str
) -> None:
    result = judged({**MENU, "samples": 3}, answers)
    assert (result.status, result.code, result.score) == (status, code, None)
    assert result.reason.startswith(where)


def test_samples_are_asked_apart_and_cases_stay_in_order() -> None:
    cases = [Case("a", "x"), Case("", failure="failed"), Case("b", "x")]
    judge_of = Stated([said(each) for each in ("yes", "yes", "no", "no")])
    with use_services(judge_of):
        results = configure_scorer("llm_judge", {**MENU, "samples": 2}).score(cases)
    assert [each.score for each in results] == [1.0, None, 0.0]
    assert [question.sample for question in judge_of.asked] == [0, 1, 0, 1]


def test_what_the_answers_took_is_kept_with_the_score() -> None:
    paid = {"model": "m-1", "tokens_in": 100, "tokens_out": 20, "cost_usd": 0.25, "latency_ms": 9.5}
    answers = [
        Reply(said(4), attempts=2, ref="11", **paid),
        Reply(said(2), is_cached=True, ref="12", **paid),
    ]
    result = judged({**SPAN, "samples": 2}, answers)
    assert result.metadata == {
        "number": 3,
        "reasons": "So it is.",
        "attempts": 3,
        "model": "m-1",
        "tokens_in": 200,
        "tokens_out": 40,
        "cost_usd": 0.25,
        "latency_ms": 19.0,
        "cached": False,
        "refs": ["11", "12"],
        "samples": [4, 2],
    }


def test_an_unknown_cost_stays_unknown_and_a_fault_keeps_what_was_paid() -> None:
    unknown = Reply(said("yes"), tokens_in=1, cost_usd=None)
    result = judged({**MENU, "samples": 2}, [unknown, Reply("?", tokens_in=2, cost_usd=0.5)])
    assert (result.code, result.metadata["tokens_in"]) == ("reply_unparsable", 3)
    assert result.metadata["cost_usd"] is None


def test_reasons_are_one_line_and_cut() -> None:
    result = judged(MENU, [said("yes", "Thanks\n\n the  reader. " + "x" * 900)])
    assert result.metadata["reasons"].startswith("Thanks the reader. x")
    assert len(result.metadata["reasons"]) == llm_judge.MAX_REASONS
    assert result.reason.startswith("yes: Thanks the reader.")
    assert len(result.reason) == llm_judge.MAX_REASON


@pytest.mark.parametrize(
    ("kind", "config", "field", "words"),
    [
        ("factuality", {}, "model", "is required"),
        ("factuality", {"model": " "}, "model", "is required"),
        ("factuality", {**FACTS, "choices": {"F": 1}}, "choices", "'F' is none of A, B, C, D, E"),
        ("factuality", {**FACTS, "choices": {"A": 1.5}}, "choices", "from 0 to 1"),
        ("factuality", {**FACTS, "samples": 3}, "samples", "not a setting"),
        ("llm_judge", {"model": "m", "choices": {"a": 1, "b": 0}}, "rubric", "is required"),
        ("llm_judge", {**MENU, "rubric": " \n"}, "rubric", "is required"),
        ("llm_judge", {**MENU, "rubric": "x" * 50_001}, "rubric", "at most"),
        ("llm_judge", {**MENU, "range": [1, 5]}, "choices", "either choices or a range"),
        ("llm_judge", {**MENU, "choices": None}, "choices", "either choices or a range"),
        ("llm_judge", {**MENU, "choices": {"a": 1}}, "choices", "2 to 50 labels"),
        ("llm_judge", {**MENU, "choices": {}}, "choices", "2 to 50 labels"),
        ("llm_judge", {**MENU, "choices": {"a": 1, " b": 0}}, "choices", "white space"),
        ("llm_judge", {**MENU, "choices": {"a": 1, "": 0}}, "choices", "a label is"),
        ("llm_judge", {**MENU, "choices": {"a": 1, "b": -0.1}}, "choices", "score of 'b' is -0.1"),
        ("llm_judge", {**MENU, "choices": {"a": 1, "b": "0"}}, "choices", "number"),
        ("llm_judge", {**SPAN, "range": [5, 1]}, "range", "lower limit"),
        ("llm_judge", {**SPAN, "range": [1, 1]}, "range", "lower limit"),
        ("llm_judge", {**SPAN, "range": [0, 2e9]}, "range", "a billion"),
        ("llm_judge", {**SPAN, "range": [1]}, "range", ""),
        ("llm_judge", {**SPAN, "range": [1, 2, 3]}, "range", ""),
        ("llm_judge", {**SPAN, "reduce": "majority"}, "reduce", "for choices"),
        ("llm_judge", {**MENU, "samples": 0}, "samples", "1"),
        ("llm_judge", {**MENU, "samples": 21}, "samples", "20"),
        ("llm_judge", {**MENU, "reduce": "best"}, "reduce", "median"),
    ],
)
def test_a_config_that_cannot_judge_says_which_field_and_why(
    kind: str, config: dict[str, Any], field: str, words: str
) -> None:
    errors = refused(kind, config)
    assert set(errors) == {field}
    assert words in " ".join(errors[field])


def test_a_combination_names_the_judge_that_failed() -> None:
    config = {"scorers": [{"type": "exact_match"}, {"type": "factuality", "config": FACTS}]}
    with use_services(Stated([FAULT])):
        (result,) = configure_scorer("all", config).score([PARIS])
    assert (result.status, result.code) == ("error", "child_failed")
    assert result.reason.startswith("factuality: main: no whole reply")


class Opinion(Asking):
    """A judge whose verdict is decided by the case alone."""

    def __init__(self) -> None:
        super().__init__(lambda questions: [self._answer(each) for each in questions])

    def _answer(self, question: Question) -> Answer:
        text = question.messages[1].content + str(question.sample)
        choice = ["yes", "partly", "no", "maybe"][sum(map(ord, text)) % 4]
        return FAULT if len(text) % 7 == 0 else Reply(said(choice))


@given(
    outputs=st.lists(st.text("abAB é", max_size=9) | st.none() | st.floats(), max_size=6),
    random=st.randoms(),
)
def test_a_case_is_judged_the_same_alone_and_in_any_company(
    outputs: list[Any], random: Any
) -> None:
    cases = [Case(output) for output in outputs]
    scorer = configure_scorer("llm_judge", {**MENU, "samples": 2})
    with use_services(Opinion()):
        results = scorer.score(cases)
        assert results == [scorer.score([case])[0] for case in cases]
        order = random.sample(range(len(cases)), len(cases))
        assert scorer.score([cases[at] for at in order]) == [results[at] for at in order]
