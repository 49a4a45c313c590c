"""Several right answers to one case: the best one counts, and the result says which it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Json, Result
from tests.support.scoring import one
from tests.support.thoroughness import examples

OFF = {"use_references": False}
KEY = {"target_output_key": "city"}


def winner(result: Result) -> tuple[Any, ...]:
    facts = result.metadata
    return facts.get("answer"), facts.get("answer_text"), facts.get("answers")


@pytest.mark.parametrize(
    ("type_name", "output", "expected", "references", "score", "answer"),
    [
        ("exact_match", "b", "a", ("c", "b"), 1.0, "reference 2"),
        ("exact_match", "b", "b", ("b",), 1.0, "expected"),
        ("exact_match", "b", None, ("a", "b"), 1.0, "reference 2"),
        ("exact_match", "b", ["a", "b"], ("c",), 1.0, "expected 2"),
        ("exact_match", "x", "a", ("b",), 0.0, "expected"),
        ("exact_match", 4, ["3", "4"], (), 1.0, "expected 2"),
        ("includes", "it is b", "a", ("b",), 1.0, "reference 1"),
        ("includes", "it is b", ["c", "b"], (), 1.0, "expected 2"),
        ("levenshtein", "helo", "world", ("hello", "help"), 0.8, "reference 1"),
        ("levenshtein", "", "a", ("",), 1.0, "reference 1"),
        ("numeric", "18", "20", ("17", "18.0"), 1.0, "reference 2"),
        ("numeric", 18, ["20", "18"], (), 1.0, "expected 2"),
        ("json_match", '{"a": 1}', {"a": 2}, ('{"a": 1.0}',), 1.0, "reference 1"),
        ("json_match", "[1]", [2], ("[1]",), 1.0, "reference 1"),
        ("json_similarity", {"a": 1, "b": 2}, {"a": 2, "b": 1}, ('{"a": 1}',), 1.0, "reference 1"),
        ("json_similarity", "plain", {"a": 1}, ("plain",), 1.0, "reference 1"),
    ],
)
def test_the_best_answer_counts(
    type_name: str,
    output: Json,
    expected: Json,
    references: tuple[str, ...],
    score: float,
    answer: str,
) -> None:
    result = one(type_name, output, expected, references=references)
    assert (result.score, result.metadata["answer"]) == (score, answer)
    count = (len(expected) if answer.startswith("expected ") else expected is not None) + len(
        references
    )
    assert result.metadata["answers"] == count


@pytest.mark.parametrize("type_name", ["exact_match", "includes", "levenshtein", "numeric"])
def test_one_expected_value_is_as_it_always_was(type_name: str) -> None:
    assert one(type_name, "12", "12") == one(type_name, "12", "12", OFF)
    assert "answer" not in one(type_name, "12", "12").metadata


def test_the_winner_comes_with_its_arithmetic() -> None:
    assert one("levenshtein", "helo", "world", references=("hello",)).metadata == {
        "distance": 1,
        "max_length": 5,
        "truncated": False,
        "answer": "reference 1",
        "answer_text": "hello",
        "answers": 2,
    }


def test_a_long_answer_is_named_without_its_text() -> None:
    assert winner(one("exact_match", "b" * 81, "a", references=("b" * 81,))) == (
        "reference 1",
        None,
        2,
    )


def test_expected_is_missing_only_without_references() -> None:
    assert one("exact_match", "a", None, references=("a",)).verdict == "pass"
    assert one("exact_match", "a").code == "expected_missing"
    assert one("exact_match", "a", None, OFF, references=("a",)).code == "expected_missing"


@pytest.mark.parametrize(
    ("expected", "references", "score"),
    [(None, (), 1.0), (None, ("x",), 0.0), ("x", (), 0.0)],
)
@pytest.mark.parametrize("type_name", ["exact_match", "levenshtein"])  # in one step, and each
def test_the_default_is_for_cases_with_neither(
    type_name: str, expected: Json, references: tuple[str, ...], score: float
) -> None:
    config = {"default_expected": "a"}
    assert one(type_name, "a", expected, config, references=references).score == score


def test_the_default_may_be_a_list_of_answers() -> None:
    result = one("exact_match", "b", None, {"default_expected": ["a", "b"]})
    assert winner(result) == ("expected 2", "b", 2)


@pytest.mark.parametrize("output", [["a", "b"], '["a","b"]'])
def test_a_list_output_is_compared_with_the_list_as_a_whole(output: Json) -> None:
    assert one("exact_match", output, ["a", "b"]) == one("exact_match", output, ["a", "b"], OFF)
    assert one("exact_match", output, ["a", "b"]).score == 1.0
    assert one("exact_match", output, ["a", "c"]).score == 0.0
    assert one("exact_match", output, "c", references=('["a","b"]',)).score == 1.0


@pytest.mark.parametrize("expected", [[], ["a", 1], [["a"]], {"a": "a"}])
def test_only_a_list_of_texts_is_a_list_of_answers(expected: Json) -> None:
    assert one("exact_match", "a", expected) == one("exact_match", "a", expected, OFF)


@pytest.mark.parametrize("type_name", ["json_match", "json_similarity"])
def test_json_types_take_a_list_as_one_value(type_name: str) -> None:
    assert one(type_name, '"a"', ["a", "b"]).score == 0.0
    assert one(type_name, '["a", "b"]', ["a", "b"]).score == 1.0


def test_negate_applies_to_the_best() -> None:
    config = {"negate": True}
    assert one("includes", "a b", "x", config, references=("b",)).score == 0.0
    assert one("includes", "a b", "x", config, references=("y",)).score == 1.0


def test_none_of_several_is_said_so() -> None:
    assert one("exact_match", "c", "a", references=("b",)).reason == (
        "the output equals none of 2 right answers"
    )
    assert one("includes", "c", ["a", "b"]).reason == "the output includes none of 2 right answers"


@pytest.mark.parametrize(
    ("type_name", "good", "bad", "note"),
    [
        ("numeric", "18", "many", 'reference 1: "many" is not a number'),
        ("json_match", "[1]", "[1", "reference 1 is not valid JSON: "),
        ("json_similarity", "[1]", '{"a":1,"a":2}', "reference 1 is not valid JSON: "),
    ],
)
def test_an_unusable_reference_is_left_out_with_a_note(
    type_name: str, good: str, bad: str, note: str
) -> None:
    result = one(type_name, good, good, references=(bad,))
    assert (result.score, result.metadata["answers"]) == (1.0, 2)
    assert result.metadata["left_out"][0].startswith(note)
    other = one(type_name, good, bad, references=(good,))
    assert (other.score, other.metadata["answer"]) == (1.0, "reference 1")
    alone = one(type_name, good, bad)
    assert alone == one(type_name, good, bad, OFF)
    assert alone.status == "error"
    assert one(type_name, good, bad, references=(bad,)) == alone


def test_few_notes_are_kept() -> None:
    bad = tuple(f"no number {n}" for n in range(9))
    assert one("numeric", "1", "1", references=bad).metadata["left_out"][3:] == ["6 more"]


def test_an_answer_without_leaves_is_left_out() -> None:
    assert one("json_similarity", "{}", {}, references=("{}",)).code == "no_leaves"
    result = one("json_similarity", '{"a": 1}', {}, references=('{"a": 1}',))
    assert winner(result) == ("reference 1", '{"a": 1}', 2)
    assert result.metadata["left_out"] == ["expected has no values to compare"]


def test_a_fault_of_the_output_is_no_answers_fault() -> None:
    result = one("json_match", "{", {"a": 1}, references=("[1]",))
    assert (result.code, result.score, result.verdict) == ("invalid_json", 0.0, "fail")
    assert "answer" not in result.metadata


def test_a_compared_answer_comes_before_a_forced_fail() -> None:
    """Else an output that is no JSON would fail at threshold 0, or not, by the answers' order."""
    result = one("json_similarity", "xy", {"a": 1}, {"threshold": 0}, references=("ab",))
    assert (result.verdict, result.metadata["answer"]) == ("pass", "reference 1")


@pytest.mark.parametrize(
    ("expected", "references", "score", "answer"),
    [
        ({"city": "Rome"}, ('{"city": "Paris"}',), 1.0, "reference 1"),
        ({"city": "Rome"}, ("Paris",), 1.0, "reference 1"),
        ({"city": ["Rome", "Paris"]}, (), 1.0, "expected 2"),
        ('{"city": ["Rome", "Paris"]}', (), 1.0, "expected 2"),
        ("Paris", ('{"town": "Paris"}',), 1.0, "expected"),
        ({"town": "Paris"}, ("Paris",), 1.0, "reference 1"),
        ({"city": None}, ("Paris",), 1.0, "reference 1"),
    ],
)
def test_a_target_key_selects_from_each_answer(
    expected: Json, references: tuple[str, ...], score: float, answer: str
) -> None:
    output = '{"city": "Paris", "land": "France"}'
    result = one("exact_match", output, expected, KEY, references=references)
    assert (result.score, result.metadata.get("answer")) == (score, answer)


def test_a_target_key_that_no_answer_has_is_an_error() -> None:
    result = one("exact_match", '{"city": 1}', {"a": 1}, KEY, references=('{"b": 1}',))
    assert (result.code, result.status) == ("target_not_in_expected", "error")
    missing = one("exact_match", '{"a": 1}', {"a": 1}, KEY, references=("b",))
    assert (missing.code, missing.verdict) == ("target_not_in_output", "fail")
    assert one("exact_match", '{"city": 1}', {"city": None}, KEY).code == "expected_missing"


def test_values_replace_all_right_answers() -> None:
    config = {"values": ["a"]}
    assert one("includes", "b", "b", config, references=("b",)).score == 0.0
    assert one("includes", "a", None, config).score == 1.0


# What holds for every type, whatever the case.

TYPES: list[tuple[str, dict[str, Any]]] = [
    ("exact_match", {"trim": True}),
    ("exact_match", {"target_output_key": "a"}),
    ("includes", {"case_sensitive": False}),
    ("levenshtein", {}),
    ("levenshtein", {"decimals": None, "default_expected": ["a", "b"]}),
    ("numeric", {}),
    ("numeric", {"tolerance": 1}),
    ("json_match", {}),
    ("json_match", {"target_output_key": ["a", "b"]}),
    ("json_similarity", {}),
    ("json_similarity", {"array_mode": "unordered", "target_output_key": "a"}),
]
TEXTS = st.sampled_from(
    [
        *("", "a", "ab", "b a", "1", "1.0", "2", "nan"),
        *("[1]", '["a"]', '{"a": 1}', '{"a": ["a", "b"]}', "{"),
    ]
)
ONE = st.none() | TEXTS | st.integers(0, 2) | st.just({"a": 1}) | st.just({"a": ["a", "b"]})
VALUES = ONE | st.lists(TEXTS, max_size=3)
CASES = st.tuples(VALUES, VALUES, st.lists(TEXTS, max_size=4)).map(
    lambda drawn: Case(drawn[0], drawn[1], references=tuple(drawn[2]))
)


def scores(type_name: str, config: dict[str, Any], cases: Sequence[Case]) -> list[Result]:
    return configure_scorer(type_name, config).score(cases)


@settings(max_examples=examples(120), deadline=None)
@given(cases=st.lists(CASES, max_size=5))
def test_a_batch_equals_one_by_one(cases: list[Case]) -> None:
    for type_name, config in TYPES:
        alone = [scores(type_name, config, [case])[0] for case in cases]
        assert scores(type_name, config, cases) == alone, (type_name, config)


@settings(max_examples=examples(120), deadline=None)
@given(case=CASES, more=st.data())
def test_the_order_of_references_does_not_matter(case: Case, more: st.DataObject) -> None:
    other = case._replace(references=tuple(more.draw(st.permutations(case.references))))
    for type_name, config in TYPES:
        (before,), (after,) = (scores(type_name, config, [each]) for each in (case, other))
        assert (before.status, before.score, before.verdict) == (
            after.status,
            after.score,
            after.verdict,
        ), (type_name, config)


@settings(max_examples=examples(120), deadline=None)
@given(case=CASES, reference=TEXTS)
def test_a_further_reference_never_lowers_the_score(case: Case, reference: str) -> None:
    more = case._replace(references=(*case.references, reference))
    for type_name, given_config in TYPES:
        config = given_config
        if case.expected is None and not case.references:
            config = {**config, "default_expected": None}  # which a first reference replaces
        (before,), (after,) = (scores(type_name, config, [each]) for each in (case, more))
        is_lower = before.score is not None and (after.score or 0.0) < before.score
        assert not is_lower, (type_name, config)


@settings(max_examples=examples(120), deadline=None)
@given(case=CASES)
def test_the_best_is_the_best_of_each_answer_alone(case: Case) -> None:
    for type_name, config in TYPES:
        assert_best_of_each(type_name, config, case)


def assert_best_of_each(type_name: str, config: dict[str, Any], case: Case) -> None:
    """Each answer as the only expected value, with the references off."""
    expected: Any = config.get("default_expected") if case.expected is None else case.expected
    is_split = not type_name.startswith("json") and isinstance(expected, list) and expected
    answers = list(expected) if is_split and not is_list(case.output) else [expected]
    answers = [answer for answer in answers if answer is not None]
    if case.expected is None and case.references:
        answers = []
    if "target_output_key" in config or not (answers or case.references):
        return
    alone = [
        scores(type_name, {**config, **OFF}, [case._replace(expected=answer)])[0]
        for answer in (*answers, *case.references)
    ]
    (best,) = scores(type_name, config, [case])
    found = [result.score for result in alone if result.score is not None]
    assert best.score == max(found, default=None), (type_name, config)


@settings(max_examples=examples(120), deadline=None)
@given(case=CASES)
def test_with_references_off_they_change_nothing(case: Case) -> None:
    single = case._replace(references=())
    has_list = isinstance(case.expected, list | dict) or "{" in str(case.expected)
    for type_name, config in TYPES:
        off = {**config, **OFF}
        without = scores(type_name, off, [case])
        assert without == scores(type_name, off, [single]), (type_name, config)
        if not has_list and (case.expected is not None or "default_expected" not in config):
            assert without == scores(type_name, config, [single]), (type_name, config)


def is_list(output: Json) -> bool:
    return isinstance(output, list) or (isinstance(output, str) and output in ("[1]", '["a"]'))
