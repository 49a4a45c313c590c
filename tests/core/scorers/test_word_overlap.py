"""Words that two texts share: the figures of SQuAD's script, sacrebleu and rouge-score."""

from __future__ import annotations

import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.explain.explanation import explain
from scoring.core.wording.numbers import TIMES
from tests.support.speed import quick_enough

WORDS = st.lists(
    st.sampled_from(["the", "cat", "sat", "a", "Mat.", "cat's", "é", "18"]), max_size=9
)
TEXTS = WORDS.map(" ".join)
TYPES = ("token_f1", "bleu", "rouge_l")


def one(type_name: str, case: Case, **config: Any) -> Result:
    (result,) = configure_scorer(type_name, config).score([case])
    return result


def why(type_name: str, case: Case) -> tuple[tuple[str, ...], str]:
    threshold = configure_scorer(type_name).threshold
    explained = explain(type_name, {}, threshold, case, one(type_name, case))
    return explained.found, explained.verdict


def squad_f1(output: str, expected: str) -> float:
    """As the evaluation script of SQuAD 2.0 computes it, step by step."""

    def normalize(text: str) -> list[str]:
        kept = "".join(char for char in text.lower() if char not in set(string.punctuation))
        words = [" " if word in {"a", "an", "the"} else word for word in kept.split()]
        return " ".join(words).split()

    gold, predicted = normalize(expected), normalize(output)
    same = sum((Counter(gold) & Counter(predicted)).values())
    if not gold or not predicted:
        return float(gold == predicted)
    if not same:
        return 0.0
    precision, recall = same / len(predicted), same / len(gold)
    return 2 * precision * recall / (precision + recall)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_token_f1_is_the_best_f1_of_squad(output: str, references: list[str]) -> None:
    result = one("token_f1", Case(output, references=tuple(references)))
    assert result.score == pytest.approx(
        max(squad_f1(output, text) for text in references), abs=1e-9
    )


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_bleu_is_that_of_sacrebleu(output: str, references: list[str]) -> None:
    result = one("bleu", Case(output, references=tuple(references)))
    theirs = BLEU(effective_order=True).sentence_score(output, references).score / 100
    assert result.score == pytest.approx(theirs, abs=1e-9)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_rouge_l_is_that_of_rouge_score(output: str, references: list[str]) -> None:
    result = one("rouge_l", Case(output, references=tuple(references)))
    theirs = RougeScorer(["rougeL"]).score_multi(references, output)["rougeL"].fmeasure
    assert result.score == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("type_name", "found", "verdict"),
    [
        (
            "token_f1",
            ("2 words shared, 5 in the output, 3 expected",),
            f"2 {TIMES} 2 / (5 + 3) = 0.5 ≥ 0.5 → pass",
        ),
        (
            "rouge_l",
            ("1 word in the same order in both, 6 in the output, 3 expected",),
            f"2 {TIMES} 1 / (6 + 3) = 0.2222 < 0.5 → fail",
        ),
    ],
)
def test_the_arithmetic(type_name: str, found: tuple[str, ...], verdict: str) -> None:
    case = Case("the capital of France is Paris", "Paris in France")
    assert why(type_name, case) == (found, verdict)


def test_the_arithmetic_of_bleu() -> None:
    found, verdict = why("bleu", Case("the cat sat on the mat", "the cat sat on a mat"))
    shares = "0.8333, 0.6, 0.5, 0.3333"
    assert found == (f"6 words against 6; runs of 1 to 4 words that an answer has: {shares}",)
    product = shares.replace(", ", f" {TIMES} ")
    assert verdict == f"1 {TIMES} ({product})^(1/4) = 0.5373 ≥ 0.3 → pass"


def test_bleu_without_a_shared_word() -> None:
    found, verdict = why("bleu", Case("yes", "no"))
    assert (found, verdict) == (
        ("1 word against 1, none of them shared",),
        "0 < 0.3 → fail",
    )


@pytest.mark.parametrize(
    ("type_name", "score"), [("token_f1", 1.0), ("bleu", 0.0), ("rouge_l", 0.0)]
)
def test_two_texts_without_a_word(type_name: str, score: float) -> None:
    assert one(type_name, Case("", "")).score == score


@pytest.mark.parametrize("type_name", TYPES)
def test_a_case_without_answers_fails(type_name: str) -> None:
    result = one(type_name, Case("yes"), threshold=0)
    assert (result.score, result.verdict, result.code) == (0.0, "fail", "expected_missing")
    assert one(type_name, Case("yes"), default_expected="yes").score == 1.0


@pytest.mark.parametrize("type_name", TYPES)
def test_a_value_that_has_no_text_is_an_error(type_name: str) -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    assert one(type_name, Case("yes", {"a": deep})).code == "expected_too_deep"


def test_bleu_takes_all_answers_together() -> None:
    case = Case("the cat sat", ["the cat", "cat sat"])
    result = one("bleu", case)
    theirs = BLEU(effective_order=True).sentence_score("the cat sat", ["the cat", "cat sat"])
    assert result.score == pytest.approx(theirs.score / 100, abs=1e-9)
    assert result.metadata["answers"] == 2
    assert one("bleu", case, use_references=False).metadata.get("answers") is None


def test_bleu_leaves_out_what_it_cannot_use() -> None:
    case = Case('{"a": "yes"}', {"b": "x"}, references=('{"a": "yes"}',))
    result = one("bleu", case, target_output_key="a")
    assert result.score == 1.0
    assert len(result.metadata["left_out"]) == 1


def test_bleu_splits_as_it_is_told() -> None:
    assert one("bleu", Case("Yes", "yes"), case_sensitive=False).score == 1.0
    assert one("bleu", Case("abc", "abd"), tokenize="char").score > 0
    assert one("bleu", Case("abc", "abd")).score == 0.0


@pytest.mark.parametrize("type_name", TYPES)
def test_long_texts_take_no_minutes(type_name: str) -> None:
    words = " ".join(f"word{number % 977}" for number in range(20_000))
    with quick_enough(20):
        one(type_name, Case(words, words[::-1], references=(words,)))


@given(st.lists(TEXTS, max_size=5), st.sampled_from(TYPES))
def test_a_batch_equals_one_by_one(texts: list[str], type_name: str) -> None:
    cases = [Case(text, "the cat", references=("sat", text)) for text in texts]
    scorer = configure_scorer(type_name)
    assert scorer.score(cases) == [scorer.score([case])[0] for case in cases]
