"""Answers at the end of a solution, and figures of other tools, on real outputs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.scorers.word_overlap import squad_words

MODELS: Final = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
LAST: Final = {"extract": "last_number", "extract_expected": "last_number"}
PAIRS: Final = 1_000


@pytest.mark.parametrize("model", MODELS)
def test_the_last_number_of_each_solution_is_right_where_its_label_says_so(
    facts: Path, model: str
) -> None:
    lines = (facts / "data/gsm8k/example_model_solutions.jsonl").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
    cases = [Case(row[model]["solution"], row["ground_truth"]) for row in rows]
    passed = [result.verdict == "pass" for result in configure_scorer("numeric", LAST).score(cases)]
    assert passed == [row[model]["is_correct"] for row in rows]
    assert len(rows) == 1_319


@pytest.fixture
def answered(facts: Path) -> list[Case]:
    """Answers of a system, each with several texts to compare with, some of them long."""
    rows: list[dict[str, Any]] = json.loads(
        (facts / "data/evouna/evouna_NQ_open.json").read_text(encoding="utf-8")
    )
    cases = [
        Case(
            row["answer_gpt4"],
            references=(*row["golden_answer"].split("/"), row["answer_newbing"]),
        )
        for row in rows
        if row["golden_answer"] and row["answer_gpt4"] and row["answer_newbing"]
    ]
    assert len(cases) >= PAIRS
    return cases[:PAIRS]


def scores(type_name: str, cases: list[Case]) -> list[float | None]:
    return [result.score for result in configure_scorer(type_name).score(cases)]


def test_token_f1_on_real_answers(answered: list[Case]) -> None:
    theirs = [max(f1(case.output, text) for text in case.references) for case in answered]
    assert scores("token_f1", answered) == pytest.approx(theirs, abs=1e-9)


def f1(output: str, expected: str) -> float:
    """The harmonic mean of precision and recall, as SQuAD's script takes it."""
    predicted, gold = squad_words(output), squad_words(expected)
    same = (Counter(predicted) & Counter(gold)).total()
    if not same:
        return float(not (predicted or gold))
    precision, recall = same / len(predicted), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def test_bleu_on_real_answers(answered: list[Case]) -> None:
    metric = BLEU(effective_order=True)
    theirs = [
        metric.sentence_score(case.output, list(case.references)).score / 100 for case in answered
    ]
    assert scores("bleu", answered) == pytest.approx(theirs, abs=1e-9)


def test_rouge_l_on_real_answers(answered: list[Case]) -> None:
    metric = RougeScorer(["rougeL"])
    theirs = [
        metric.score_multi(case.references, case.output)["rougeL"].fmeasure for case in answered
    ]
    assert scores("rouge_l", answered) == pytest.approx(theirs, abs=1e-9)
