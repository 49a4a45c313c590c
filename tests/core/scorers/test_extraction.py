"""Answers inside answers: what is found in a text, where, and what nothing found means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, Json, Result
from scoring.core.explain.explanation import explain
from scoring.core.registry import built_in_types
from scoring.core.scorers import pattern as patterns
from scoring.core.scorers.extraction import (
    Extraction,
    describe_json_inside,
    find_json,
    read_extraction,
)
from scoring.core.scorers.selection import ExtractingConfig, ReferenceConfig
from tests.support.speed import quick_enough

FENCED = 'Sure:\n```json\n{"city": "Paris", "n": 1}\n```\nAnything else?'


def one(type_name: str, case: Case, **config: Any) -> Result:
    (result,) = configure_scorer(type_name, config).score([case])
    return result


def found(extract: Json, value: Json) -> Json:
    extraction = read_extraction("extract", extract)
    assert extraction is not None
    extracted = extraction.find(value)
    return None if extracted is None else extracted.value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("A: 18", "18"),
        ("16 - 3 = <<16-3=13>>13 eggs\nA: 26.", "26"),
        ("It costs $1,234.50 in all.", "1234.5"),
        ("between 3 and -4.0 degrees", "-4"),
        ("it fell by \u22125.20", "-5.2"),
        ("-$1,000", "-1000"),
        ("x = .5", "0.5"),
        ("1.5e-3 mol", "1.5e-3"),
        ("007 and -0.0", "0"),
        ("1\u202f234\u202f567 m", "1234567"),
        ("5-3", "3"),  # a difference, not a negative number
        ("2024-01-31", "31"),
        ("1,2", "2"),
        ("1,2345", "2345"),
        ("50 %", "50"),
        ("2e5x", "5"),  # no exponent
        ("no digits", None),
        ("", None),
        ("\u0661\u0662", None),
        ("9" * 10_000, "9" * 10_000),
    ],
)
def test_the_last_number(text: str, number: str | None) -> None:
    extracted = Extraction("last_number").find(text)
    if number is None:
        assert extracted is None
    else:
        assert extracted is not None
        assert extracted.value == number
        assert extracted.span is not None


@given(st.text(alphabet="0123456789.,eE+-$ \u2212x\n", max_size=60))
def test_the_last_number_is_read_by_numeric_unless_it_is_too_long(text: str) -> None:
    extracted = Extraction("last_number").find(text)
    assert (extracted is None) == (not any(char in "0123456789" for char in text))
    if extracted is not None:
        result = one("numeric", Case(text, extracted.value), extract="last_number")
        assert result.score == 1.0 or result.code == "expected_number_too_long"


@pytest.mark.parametrize(
    ("marker", "text", "after"),
    [
        ("A:", "Q: x\nA: no, wait.\nA:  18 \n", "18"),
        ("####", "so\n#### 1,000", "1,000"),
        ("Answer:", "Answer:\nParis\nFrance", "Paris\nFrance"),
        ("A:", "a: 18", None),
        ("A:", "A: \n ", None),
    ],
)
def test_what_follows_the_last_marker(marker: str, text: str, after: str | None) -> None:
    assert found({"after": marker}, text) == after


@pytest.mark.parametrize(
    ("pattern", "text", "captured"),
    [
        (r"<answer>(.*?)</answer>", "é <answer>Paris</answer> <answer>Rome</answer>", "Paris"),
        (r"/answer is (\w+)/i", "The Answer is Paris.", "Paris"),
        (r"\d+", "10 of 20", "10"),
        (r"(?<=A: )(\w+)", "ü A: Paris", "Paris"),
        (r"(x)|yes", "yes", None),
        (r"(\d+)", "none", None),
        (r"()yes", "yes", ""),
    ],
)
def test_what_a_pattern_captures(pattern: str, text: str, captured: str | None) -> None:
    assert found({"pattern": pattern}, text) == captured


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (FENCED, '{"city": "Paris", "n": 1}'),
        ('{"a": 1}', '{"a": 1}'),
        (' "Paris" ', '"Paris"'),
        ("42", "42"),
        ("It is 42.", None),
        ("42 is it", None),
        ('First {"a": [1]} then {"b": 2}', '{"a": [1]}'),
        ("{city} is [unknown] but {}", "{}"),
        ("if (x) { return [1, 2]; }", "[1, 2]"),
        ('{"open": {"whole": true}, ', '{"whole": true}'),
        ('{"a": NaN} {"a": 1}', '{"a": 1}'),
        ("", None),
    ],
)
def test_the_first_whole_json(text: str, value: str | None) -> None:
    assert found("json", text) == value


def test_a_json_output_is_its_own_json() -> None:
    assert found("json", {"a": 1}) == {"a": 1}
    assert found("json", [1]) == [1]


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        ("a.b[0]", {"a": {"b": [7]}}, 7),
        ("a", '{"a": "x"}', "x"),
        ("city", FENCED, "Paris"),
        ("missing", FENCED, None),
        ("a", "prose", None),
        ("a", {"a": None}, None),
        ("a.b", {"a.b": 1}, 1),
    ],
)
def test_the_value_at_a_path(path: str, value: Json, part: Json) -> None:
    assert found({"path": path}, value) == part


@pytest.mark.parametrize("value", [{"a": None}, {"b": 1}, '{"a": null}'])
def test_null_at_a_path_is_nothing(value: Json) -> None:
    assert Extraction("path", "a").find(value) is None


@pytest.mark.parametrize(
    "made",
    [
        "[" * 1_000_000,
        "[1," * 300_000,
        '{"a":' * 200_000,
        '{"a": [' + "1," * 400_000,
        "\n{x" * 300_000,
        '{"' * 400_000,
    ],
)
def test_no_text_makes_the_search_for_json_long(made: str) -> None:
    with quick_enough(10):
        find_json(made)


@pytest.mark.parametrize("made", ["1," * 500_000, "1" * 1_000_000, "-$" * 500_000, "1.1" * 300_000])
def test_no_text_makes_the_search_for_a_number_long(made: str) -> None:
    with quick_enough(10):
        Extraction("last_number").find(made)


def test_a_pattern_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_SECONDS", 0.01)
    case = Case("x" * 5_000, "x")
    result = one("exact_match", case, extract={"pattern": "(?=x)(x+x+)+y"})
    assert (result.status, result.code) == ("error", "pattern_timeout")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("first_number", "must be"),
        ("after", "must be"),
        ({"json": "x"}, "must be"),
        ({"after": "a", "path": "b"}, "must be"),
        (["json"], "must be"),
        (1, "must be"),
        ({"after": ""}, "`after` needs a marker"),
        ({"pattern": 3}, "`pattern` needs a regular expression"),
        ({"pattern": "("}, "a group is not closed"),
        ({"path": "a..b["}, "cannot read the path"),
        ({"after": "x" * 10_001}, "`after` needs a marker"),
    ],
)
@pytest.mark.parametrize("setting", ["extract", "extract_expected"])
def test_a_bad_setting_says_what_it_takes(setting: str, value: Json, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        configure_scorer("exact_match", {setting: value})
    assert said in refused.value.errors[setting][0]


def test_every_type_that_reads_texts_extracts() -> None:
    kinds = built_in_types().values()
    extracting = {kind.name for kind in kinds if issubclass(kind.config, ExtractingConfig)}
    both = {kind.name for kind in kinds if issubclass(kind.config, ReferenceConfig)}
    assert {kind.name for kind in kinds} - extracting == {"all", "any", "weighted", "expression"}
    assert extracting - both == {"regex", "json_schema", "llm_judge"}


@pytest.mark.parametrize(
    ("type_name", "config", "case", "score"),
    [
        ("exact_match", {}, Case("So it is\nA: Paris", "Paris"), 1.0),
        ("includes", {}, Case("Not Rome.\nA: Paris", "Rome"), 0.0),
        ("includes", {"values": ["Rome"]}, Case("Not Rome.\nA: Paris"), 0.0),
        ("levenshtein", {}, Case("So\nA: pariS", "Paris"), 1.0),
        ("regex", {"pattern": "^Paris$"}, Case("So it is\nA: Paris"), 1.0),
        ("regex", {"pattern": "^So"}, Case("So it is\nA: Paris"), 0.0),
        ("json_match", {}, Case('so\nA: {"a": 1}', {"a": 1}), 1.0),
        ("json_similarity", {}, Case('so\nA: {"a": 1}', {"a": 1, "b": 2}), 0.5),
        ("json_schema", {"schema": {"type": "integer"}}, Case("so\nA: 4"), 1.0),
        ("numeric", {}, Case("1 + 2\nA: 3", 3), 1.0),
        ("token_f1", {}, Case("Rome?\nA: the Paris", "Paris"), 1.0),
        ("bleu", {}, Case("Rome?\nA: Paris", "Paris"), 1.0),
        ("rouge_l", {}, Case("Rome?\nA: Paris", "Paris"), 1.0),
    ],
)
def test_each_type_compares_what_is_extracted(
    type_name: str, config: dict[str, Any], case: Case, score: float
) -> None:
    result = one(type_name, case, extract={"after": "A:"}, **config)
    assert result.score == score
    assert result.metadata["extracted"] == case.output.rpartition("A:")[2].strip()


@pytest.mark.parametrize("negates", [{}, {"negate": True}])
def test_nothing_found_fails_whatever_the_threshold(negates: dict[str, Any]) -> None:
    result = one("exact_match", Case("none", "18"), extract="last_number", threshold=0, **negates)
    assert (result.score, result.verdict, result.code) == (0.0, "fail", "nothing_extracted")
    assert result.reason == "output has nothing to extract: the last number"


def test_nothing_found_in_the_expected_value_is_an_error() -> None:
    result = one("exact_match", Case("18", "none"), extract_expected="last_number")
    assert (result.status, result.code) == ("error", "expected_nothing_extracted")


def test_a_reference_without_anything_to_extract_is_left_out() -> None:
    case = Case("18", "no number", references=("A: 20", "A: 18"))
    result = one("numeric", case, extract="last_number", extract_expected="last_number")
    assert result.score == 1.0
    assert result.metadata["answer"] == "reference 2"
    assert result.metadata["answer_text"] == "18"
    assert result.metadata["left_out"] == ["expected has nothing to extract: the last number"]


def test_a_list_of_answers_is_extracted_text_by_text() -> None:
    case = Case("so 18", ["A: 17", "A: 18"])
    result = one("exact_match", case, extract="last_number", extract_expected={"after": "A:"})
    assert (result.score, result.metadata["answer"]) == (1.0, "expected 2")
    explained = explain(
        "exact_match",
        {"extract": "last_number", "extract_expected": {"after": "A:"}},
        1.0,
        case,
        result,
    )
    assert explained.found[:2] == (
        'best of 2 right answers: expected 2, "18"',
        'output: the last number: "18"',
    )


@pytest.mark.parametrize(
    ("extract", "key", "output", "expected"),
    [
        ("json", "city", FENCED, "Paris"),  # the key selects from the JSON that is found
        ("last_number", "total", '{"n": 3, "total": "it is 1,200"}', 1200),  # and else before
        ({"after": "A:"}, "text", '{"text": "A: x"}', {"text": "x"}),
    ],
)
def test_a_target_key_and_an_extraction(
    extract: Json, key: str, output: str, expected: Json
) -> None:
    result = one("exact_match", Case(output, expected), extract=extract, target_output_key=key)
    assert result.score == 1.0


def test_the_arithmetic_says_what_was_extracted() -> None:
    config = {"extract": "last_number", "extract_expected": {"after": "####"}}
    case = Case("That makes $1,234.50.", "so #### 1234.5")
    result = one("numeric", case, **config)
    explained = explain("numeric", config, 1.0, case, result)
    assert explained.found[:2] == (
        'output: the last number: "1234.5"',
        'expected: what follows "####": "1234.5"',
    )
    assert explained.verdict == "1 \u2212 0 / (1234.5 + 1234.5) = 1 ≥ 1 → pass"


def test_the_leaf_table_is_that_of_the_extracted_json() -> None:
    case = Case(FENCED, {"city": "Paris", "n": 2})
    result = one("json_similarity", case, extract="json")
    explained = explain("json_similarity", {"extract": "json"}, 0.9, case, result)
    assert [(leaf.path, leaf.credit) for leaf in explained.leaves] == [("city", 1.0), ("n", 0.5)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FENCED, "a fenced block"),
        ("~~~\n[1]\n~~~", "a fenced block"),
        ('Here: {"a": 1}', "the text"),
        ("no", ""),
    ],
)
def test_json_inside_other_text_is_described(text: str, where: str) -> None:
    assert describe_json_inside(text) == where


@pytest.mark.parametrize("type_name", ["json_match", "json_similarity", "json_schema"])
def test_json_types_say_how_to_read_json_inside_other_text(type_name: str) -> None:
    result = one(type_name, Case(FENCED, {"city": "Paris", "n": 1}))
    assert (result.score, result.verdict, result.code) == (0.0, "fail", "invalid_json")
    assert "a fenced block holds JSON: extract it?" in result.reason
    assert one(type_name, Case(FENCED, {"city": "Paris", "n": 1}), extract="json").score == 1.0


def test_a_type_that_cannot_extract_does_not_offer_it() -> None:
    result = one("expression", Case(FENCED), expression="output_json.n == 1")
    assert result.code == "invalid_json"
    assert "extract" not in result.reason


@given(st.lists(st.text(max_size=30), max_size=6), st.sampled_from(["last_number", "json"]))
def test_a_batch_equals_one_by_one(texts: list[str], extract: str) -> None:
    cases = [Case(text, "18", references=("A: 18",)) for text in texts]
    config = {"extract": extract, "extract_expected": "last_number"}
    scorer = configure_scorer("exact_match", config)
    assert scorer.score(cases) == [scorer.score([case])[0] for case in cases]


def test_an_extracted_value_without_a_text_is_a_fault_of_the_output() -> None:
    deep: Json = "x"
    for _ in range(70):
        deep = [deep]
    result = one("exact_match", Case({"a": deep}, "x"), extract={"path": "a"})
    assert (result.score, result.code) == (0.0, "too_deep")
