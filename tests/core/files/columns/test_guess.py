"""The guessed mapping, for the names of the wild and the real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoring.core.files import (
    FileProblem,
    MappedCase,
    Row,
    RowProblem,
    detect_format,
    guess_mapping,
    map_options,
    read_rows,
)


@pytest.mark.parametrize(
    ("columns", "choices"),
    [
        (["question", "answer"], {"input": ["question"], "expected": ["answer"]}),
        (
            ["Prompt", "Completion", "Ideal"],
            {"input": ["Prompt"], "output": ["Completion"], "expected": ["Ideal"]},
        ),
        (
            ["question", "contexts", "answer", "ground_truth"],
            {"input": ["question"], "output": ["answer"], "expected": ["ground_truth"]},
        ),
        (
            ["query", "response", "answer"],
            {"input": ["query"], "output": ["response"], "expected": ["answer"]},
        ),
        (
            ["ID", "Input", "Expected Output", "Actual-Output", "Tags"],
            {
                "id": ["ID"],
                "input": ["Input"],
                "expected": ["Expected Output"],
                "output": ["Actual-Output"],
                "tags": ["Tags"],
            },
        ),
        (
            ["id", "output", "output_raw", "output_tokens", "prompt_tokens", "latency_s", "error"],
            {
                "id": ["id"],
                "output": ["output"],
                "tokens_out": ["output_tokens"],
                "tokens_in": ["prompt_tokens"],
                "latency_s": ["latency_s"],
                "error": ["error"],
            },
        ),
        (
            ["input", "gpt4_output", "claude_output", "target"],
            {
                "input": ["input"],
                "output": ["gpt4_output", "claude_output"],
                "expected": ["target"],
            },
        ),
        (
            ["text", "label", "meta", "trial", "duration_ms", "cost_usd"],
            {
                "input": ["text"],
                "expected": ["label"],
                "metadata": ["meta"],
                "trial": ["trial"],
                "latency_ms": ["duration_ms"],
                "cost_usd": ["cost_usd"],
            },
        ),
        (
            ["question", "good answer", "bot said"],
            {"input": ["question"], "expected": ["good answer"], "output": ["bot said"]},
        ),
        (
            ["q", "Human Reply", "Our system's answer"],
            {"expected": ["Human Reply"], "output": ["Our system's answer"]},
        ),
        (["wrong answer", "true label text"], {"expected": ["true label text"]}),
        (["chatbot_text", "model_name"], {"output": ["chatbot_text"]}),
        (["DATE", "TIME", "Qty"], {}),
        (["correct_answer", "wrong_answer"], {"expected": ["correct_answer"]}),
        (["latency", "cost"], {}),
        ([], {}),
    ],
)
def test_names_of_the_wild(columns: list[str], choices: dict[str, list[str]]) -> None:
    assert guess_mapping(columns).choices() == choices


@pytest.mark.parametrize(
    ("columns", "outputs"),
    [
        (["input", "model-a", "model-b"], ("model-a", "model-b")),
        (["input", "Model 1", "Model 2", "note"], ("Model 1", "Model 2")),
        (["input", "gpt-4o", "claude-3.5-sonnet"], ("gpt-4o", "claude-3.5-sonnet")),
        (["input", "gpt-4o output"], ("gpt-4o output",)),
        (["input", "gpt-4.1"], ("gpt-4.1",)),
        (["input", "model-a"], ()),  # one alone may be anything
        (["input", "model_name", "model_version"], ()),
        (["input", "command", "run"], ()),
        (["input", "output", "gpt-4o"], ("output",)),
        (["input", "gpt", "gpt.text", "gpt.tokens"], ("gpt",)),
    ],
)
def test_columns_called_after_models_are_outputs(
    columns: list[str], outputs: tuple[str, ...]
) -> None:
    assert guess_mapping(columns).output == outputs


def test_columns_called_after_models_may_hold_their_scores() -> None:
    sample = [Row(1, {"q": "x", "gpt-4o": "0.9", "claude": "true", "llama": "It is so."})]
    assert guess_mapping(["q", "gpt-4o", "claude", "llama"], sample).output == ("llama",)


def test_columns_that_hold_no_texts_are_no_outputs() -> None:
    sample = [Row(1, {"q": "x", "a_answer": True, "b_answer": "text"})]
    assert guess_mapping(["q", "a_answer", "b_answer"], sample).output == ("b_answer",)


@pytest.mark.parametrize(
    ("texts", "separator"),
    [
        (["a; b", "c"], ";"),
        (["a|b", "c|d", "e;f"], "|"),
        (["a\nb"], "\n"),
        (["a", "b"], ""),
        (["a;b"] + ["c"] * 9, ";"),
        (["a;b"] + ["c"] * 10, ""),
        ([["a", "b"]], ""),
        ([], ""),
    ],
)
def test_the_separator_of_references_is_seen(texts: list[Any], separator: str) -> None:
    sample = [Row(1, {"references": text}) for text in texts]
    assert guess_mapping(["references"], sample).references_separator == separator


def test_tags_are_split_but_a_category_is_one_tag() -> None:
    for name, separator in (("tags", ","), ("category", "")):
        mapping = guess_mapping([name], [Row(1, {name: "Law, Health"})])
        assert (mapping.tags, mapping.tags_separator) == ((name,), separator)


def test_choices_win_and_their_columns_are_not_guessed_again() -> None:
    choices = map_options(["expected=question", "output=a", "output=b", "tags="])
    mapping = guess_mapping(["id", "question", "tags", "a", "b"], choices=choices)
    assert mapping.choices() == {"id": ["id"], "expected": ["question"], "output": ["a", "b"]}


def test_an_option_keeps_every_sign_of_the_column() -> None:
    assert map_options(["input= a=b "]) == {"input": [" a=b "]}


def test_an_option_without_a_column_is_refused() -> None:
    with pytest.raises(FileProblem) as caught:
        map_options(["input"])
    assert "field=column" in caught.value.text


def test_an_error_that_comes_late_is_looked_for() -> None:
    assert guess_mapping(["id", "output"], is_open=True).error == "error"
    assert guess_mapping(["id", "output"]).error == ""
    assert guess_mapping(["id"], choices={"error": []}, is_open=True).error == ""


def cases(path: Path) -> list[MappedCase]:
    found = detect_format(path)
    mapping = guess_mapping(found.columns, found.sample, is_open=found.is_open)
    mapping.check(found.columns, needed=["id|input"], is_open=found.is_open)
    mapped = [mapping.apply(row) for row in read_rows(path, found) if isinstance(row, Row)]
    assert not [case for case in mapped if isinstance(case, RowProblem)]
    return [case for case in mapped if isinstance(case, MappedCase)]


def test_truthfulqa_has_817_cases_with_lists_of_references(facts: Path) -> None:
    found = cases(facts / "data" / "truthfulqa" / "TruthfulQA.csv")
    assert len(found) == 817
    assert all(case.references and isinstance(case.expected, str) for case in found)
    assert found[0].references[:2] == ("Nothing happens", "You eat watermelon seeds")
    assert not any(text.endswith(";") for case in found for text in case.references)
    assert found[0].tags == ("Misconceptions",)
    assert set(found[0].metadata) == {"Type", "Incorrect Answers", "Source"}


def test_gsm8k_has_1319_cases_with_four_outputs(facts: Path) -> None:
    found = cases(facts / "data" / "gsm8k" / "example_model_solutions.jsonl")
    labels = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"]
    assert len(found) == 1319
    assert all(list(case.outputs) == labels for case in found)
    rates = {
        label: sum(case.metadata[label]["is_correct"] for case in found) / len(found)
        for label in labels
    }
    assert {round(100 * rate, 1) for rate in rates.values()} == {21.7, 39.0, 34.7, 56.3}
    assert set(found[0].metadata["6b_finetuning"]) == {"is_correct"}


def test_bfcl_has_999_cases_and_each_run_as_many_outputs(facts: Path) -> None:
    folder = facts / "data" / "bfcl"
    wanted = {case.key for case in cases(folder / "cases.jsonl")}
    assert len(wanted) == 999
    runs = sorted(folder.glob("run_*.jsonl"))
    assert len(runs) == 10
    for run in runs:
        found = cases(run)
        assert {case.key for case in found} == wanted
        assert all(list(case.outputs) == ["output"] for case in found)
    last = found[0].outputs["output"]
    assert last.tokens_in is None or last.tokens_in > 0


def test_evouna_has_1200_cases_with_five_outputs(facts: Path) -> None:
    found = cases(facts / "data" / "evouna" / "evouna_NQ_open.json")
    assert len(found) == 1200
    assert {tuple(case.outputs) for case in found} == {
        ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    }
