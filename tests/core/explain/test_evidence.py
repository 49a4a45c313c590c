"""What a score by embeddings or a judge rests on: similarities, choices, samples, costs."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result, error, scored, skipped
from scoring.core.explain.evidence import EXCERPT, FACTS, judge_evidence, similarity_evidence
from scoring.core.explain.explanation import explain
from scoring.core.scorers.llm_judge import FACTUAL
from scoring.core.wording.numbers import MINUS

REFERENCES = Case("near", "no", references=("far", "near enough", "x" * 999))
NEAR = {"similarities": [0.1, 0.9, 0.5], "references": 3, "winner": 2, "provider": "local"}
MENU = {"model": "m", "rubric": "?", "choices": {"good": 1, "poor": 0.25}}
RANGE = {"model": "m", "rubric": "?", "range": [1, 5]}
COSTS = {
    "attempts": 2,
    "model": "m-2026",
    "tokens_in": 1234,
    "tokens_out": 56,
    "cost_usd": 0.00125,
    "latency_ms": 1234.5,
    "cached": False,
    "refs": ["7", "8"],
}


def config(kind: str, **fields: Any) -> Any:
    return configure_scorer(kind, fields).config


def said(settings: dict[str, Any], **facts: Any) -> Any:
    return judge_evidence(config("llm_judge", **settings), scored(0.5, "", {**COSTS, **facts}))


def test_each_reference_stands_with_its_similarity_and_the_closest_is_named() -> None:
    found = similarity_evidence(config("reference_match"), REFERENCES, scored(0.9, "", NEAR))
    assert [(each.number, each.value, each.is_closest) for each in found] == [
        (1, 0.1, False),
        (2, 0.9, True),
        (3, 0.5, False),
    ]
    assert [each.text for each in found[:2]] == ["far", "near enough"]
    assert found[2].text == "x" * (EXCERPT - 1) + "…"


@pytest.mark.parametrize(
    ("case", "fields", "texts"),
    [
        (Case("a", "expected"), {}, ["expected"]),
        (Case("a", ["one", "two"]), {}, ["one", "two"]),
        (Case("a", "expected"), {"references": ["of the config"]}, ["of the config"]),
        (Case("a", "e", references=("own",)), {"references": ["of the config"]}, ["own"]),
        (Case("a"), {}, []),
        (Case("a", "e", references=("one", "two", "three", "four")), {}, ["one", "two", "three"]),
    ],
)
def test_the_references_are_those_that_were_compared(
    case: Case, fields: dict[str, Any], texts: list[str]
) -> None:
    found = similarity_evidence(config("reference_match", **fields), case, scored(0.9, "", NEAR))
    assert [each.text for each in found] == texts


@pytest.mark.parametrize(
    "result", [error("embedding_failed", "no"), scored(0.5), scored(0.5, "", {"trimmed": True})]
)
def test_without_similarities_there_is_nothing_to_show(result: Result) -> None:
    assert similarity_evidence(config("reference_match"), REFERENCES, result) == ()


def test_other_types_have_neither() -> None:
    other, result = config("exact_match"), scored(1.0, "", {**NEAR, **COSTS, "choice": "A"})
    assert similarity_evidence(other, REFERENCES, result) == ()
    assert judge_evidence(other, result) is None
    assert judge_evidence(None, result) is None


def test_a_choice_is_shown_on_its_scale() -> None:
    found = said(MENU, choice="poor", reasons="It wanders.", samples=["poor"])
    assert found.steps == (("good", 1.0, False), ("poor", 0.25, True))
    assert (found.value, found.span, found.reasons) == ("poor", "", "It wanders.")
    assert found.samples == ()
    assert found.refs == ("7", "8")


def test_a_number_is_shown_on_its_range() -> None:
    found = said(RANGE, number=4.0, reasons="")
    assert (found.steps, found.value, found.span) == ((), "4", "1 to 5, mapped to 0 to 1")


def test_each_of_several_samples_has_its_score() -> None:
    found = said({**MENU, "samples": 3}, choice="good", samples=["good", "poor", "go…"])
    assert found.samples == (("good", 1.0), ("poor", 0.25), ("go…", None))
    assert found.reduce == "median"
    numbers = said({**RANGE, "samples": 2}, number=3, samples=[1, 5])
    assert numbers.samples == (("1", 0.0), ("5", 1.0))


def test_the_labels_of_factuality_say_what_they_stand_for() -> None:
    result = scored(0.6, "", {**COSTS, "choice": "B"})
    found = judge_evidence(config("factuality", model="m"), result)
    assert found is not None
    assert [step.label for step in found.steps if step.is_chosen] == ["B: all facts and more"]
    assert set(FACTS) == set(FACTUAL)


def test_what_the_calls_took_is_said_in_words() -> None:
    assert said(MENU).facts == (
        ("model", "m-2026"),
        ("tokens in", "1,234"),
        ("tokens out", "56"),
        ("cost", "$0.0013"),
        ("latency", "1,234 ms"),
        ("attempts", "2"),
        ("from the cache", "no"),
    )
    assert ("cost", "$0.00") in said(MENU, cost_usd=0).facts
    assert said(MENU, answers=3).facts[0] == ("right answers", "3")
    unknown = said(MENU, tokens_in=None, tokens_out=None, cost_usd=None, cached=True, model="")
    assert unknown.facts[-1] == ("from the cache", "yes")
    assert [name for name, _ in unknown.facts] == ["latency", "attempts", "from the cache"]


@pytest.mark.parametrize("settle_as", [error, skipped])
def test_a_reply_without_a_verdict_still_names_what_it_took(settle_as: Any) -> None:
    result = settle_as("reply_unparsable", "no JSON", COSTS)
    found = judge_evidence(config("llm_judge", **MENU), result)
    assert found is not None
    assert (found.steps, found.value, found.refs) == ((), "", ("7", "8"))
    why = explain("llm_judge", MENU, 0.5, Case("a"), result)
    assert (why.found, why.judgement) == (("no JSON",), found)


def test_what_a_judge_was_asked_stands_with_it() -> None:
    assert said({**MENU, "rubric": "Is it kind?"}, choice="good").rubric == "Is it kind?"
    always = judge_evidence(
        config("factuality", model="m"), scored(1.0, "", {**COSTS, "choice": "C"})
    )
    assert always is not None
    assert always.rubric == ""


def test_where_nobody_was_asked_there_is_no_judgement() -> None:
    result = Result("scored", 0.0, "fail", "no expected output", {"code": "expected_missing"})
    assert judge_evidence(config("factuality", model="m"), result) is None


def test_the_parts_of_a_combination_have_their_own() -> None:
    parts = [
        {"type": "llm_judge", "name": "tone", "config": MENU},
        {"type": "reference_match", "name": "near", "config": {}},
    ]
    children = [
        {"name": "tone", "status": "scored", "score": 1.0, "verdict": "pass",
         "metadata": {**COSTS, "choice": "good"}},
        {"name": "near", "status": "scored", "score": 0.9, "verdict": "pass", "metadata": NEAR},
    ]  # fmt: skip
    result = Result("scored", 0.9, "pass", "", {"children": children})
    why = explain("all", {"scorers": parts}, 0.5, REFERENCES, result)
    tone, near = (child.explanation for child in why.children)
    assert tone.judgement is not None
    assert tone.judgement.refs == ("7", "8")
    assert [each.is_closest for each in near.similarities] == [False, True, False]


def test_a_part_beside_a_judge_has_its_arithmetic_where_the_row_kept_scores_alone() -> None:
    parts = [
        {"type": "llm_judge", "name": "tone", "config": MENU},
        {"type": "levenshtein", "name": "close", "config": {}},
        {"type": "any", "name": "inner", "config": {"scorers": [{"type": "levenshtein"}]}},
    ]
    bare = {"status": "scored", "score": 0.25, "verdict": "fail"}
    inner = {"children": [{"name": "levenshtein", **bare}]}
    children = [
        {"name": "tone", "status": "scored", "score": 1.0, "verdict": "pass",
         "metadata": {"choice": "good", "attempts": 1, "refs": ["7"]}},
        {"name": "close", **bare},
        {"name": "inner", **bare, "metadata": inner},
    ]  # fmt: skip
    result = Result("scored", 0.25, "fail", "", {"children": children, "trimmed": True})
    why = explain("all", {"scorers": parts}, 0.5, Case("near", "neat"), result)
    tone, close, _ = (child.explanation for child in why.children)
    assert tone.judgement is not None
    assert (tone.judgement.value, tone.judgement.refs) == ("good", ("7",))
    assert close.verdict == "0.25 < 0.7 → fail"  # "near" is 0.75 of "neat": stored otherwise
    half = explain("all", {"scorers": parts}, 0.5, Case("abcd", "xbyz"), result)
    worked = f"1 {MINUS} 3 / 4 = 0.25 < 0.7 → fail"
    assert half.children[1].explanation.verdict == worked
    (deep,) = half.children[2].explanation.children
    assert deep.explanation.verdict == worked
