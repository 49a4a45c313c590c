"""Why a score is what it is, for every type and for types nobody knows."""

# ruff: noqa: RUF001  pages show true minus and times signs

from __future__ import annotations

from contextlib import nullcontext
from functools import reduce
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result, forced_fail, scored
from scoring.core.explain.explanation import Explanation, LaterVerdict, explain
from scoring.core.registry import all_types
from scoring.core.services import use_services
from tests.support.judges import Stated

JSON_CASE = Case('{"a": 100, "b": "ink"}', {"a": 99, "b": "ink"})


def explained(
    type_name: str, config: dict[str, Any], case: Case, threshold: float | None = None
) -> Explanation:
    """What the scorer answers, explained from its result alone."""
    scorer = configure_scorer(type_name, config, threshold)
    return explain(type_name, config, scorer.threshold, case, scorer.score([case])[0])


NOT_A_NUMBER = 'left out: reference 1: "many" is not a number'
ANSWERS = [
    ("levenshtein", {}, Case("helo", "world", references=("hello", "help")),
     "1 − 1 / 5 = 0.8 ≥ 0.7 → pass",
     ('best of 3 right answers: reference 1, "hello"', "both texts in lower case",
      "1 edit, longer text 5 characters")),
    ("includes", {}, Case("it is b", ["a", "b"]), "1 ≥ 1 → pass",
     ('best of 2 right answers: expected 2, "b"', '"b" found')),
    ("includes", {"negate": True}, Case("it is b", "a", references=("b",)), "1 − 1 = 0 < 1 → fail",
     ('best of 2 right answers: reference 1, "b"', '"b" found', "negate: the opposite is wanted")),
    ("includes", {"target_output_key": "a"}, Case({"a": "it is b"}, {"a": ["c", "b"]}),
     "1 ≥ 1 → pass", ('best of 2 right answers: expected 2, "b"', '"b" found')),
    ("numeric", {}, Case("3", "5", references=("many", "3")), "1 − 0 / (3 + 3) = 1 ≥ 1 → pass",
     ('best of 3 right answers: reference 2, "3"', NOT_A_NUMBER,
      "e expected, o output: 1 − |e − o| / (|e| + |o|)")),
    ("exact_match", {}, Case("c", "a", references=("b",)), "0 < 1 → fail",
     ('none of 2 right answers scores above 0, the first is expected, "a"', "the texts differ")),
    ("includes", {"negate": True}, Case("c", "a", references=("b",)), "1 − 0 = 1 ≥ 1 → pass",
     ('none of 2 right answers scores above 0, the first is expected, "a"', '"a" not found',
      "negate: the opposite is wanted")),
    ("json_match", {}, Case([2], [1], references=("[2]",)), "1 ≥ 1 → pass",
     ("best of 2 right answers: reference 1, [2]", "equal as JSON")),
    ("exact_match", {}, Case(["a"], ["a"]), "1 ≥ 1 → pass", ("the texts are equal",)),
    ("exact_match", {}, Case("a", references=("a",)), "1 ≥ 1 → pass",
     ('the only right answer: reference 1, "a"', "the texts are equal")),
]  # fmt: skip


@pytest.mark.parametrize(("type_name", "config", "case", "verdict", "found"), ANSWERS)
def test_the_arithmetic_is_that_of_the_best_answer(
    type_name: str, config: dict[str, Any], case: Case, verdict: str, found: tuple[str, ...]
) -> None:
    explanation = explained(type_name, config, case)
    assert (explanation.verdict, explanation.found) == (verdict, found)


def test_the_leaves_are_those_of_the_best_answer() -> None:
    case = Case({"a": 1, "b": 2}, {"a": 2, "c": 1}, references=('{"a": 1, "b": 3}',))
    leaves = explained("json_similarity", {}, case).leaves
    assert [(leaf.path, leaf.expected) for leaf in leaves] == [("a", 1), ("b", 3)]


def test_an_answer_that_is_not_known_is_not_guessed() -> None:
    """A row without room for the winner's label."""
    case = Case("b", "a", references=("b",))
    stored = Result("scored", 1.0, "pass", "", {"trimmed": True})
    assert explain("exact_match", {}, 1.0, case, stored).found == ("trimmed: true",)


def test_a_part_without_room_names_its_answer_again() -> None:
    config = {"scorers": [{"type": "levenshtein"}, {"type": "exact_match"}]}
    case = Case("b", "a", references=("b",))
    (result,) = configure_scorer("any", config).score([case])
    kept = [{"name": part["name"], "status": "scored", "score": 1.0, "verdict": "pass",
             "metadata": {"answer": "reference 1", "answers": 2}}
            for part in result.metadata["children"]]  # fmt: skip
    stored = result._replace(metadata={"children": kept, "trimmed": True})
    for child in explain("any", config, 0.5, case, stored).children:
        assert child.explanation.found[0] == 'best of 2 right answers: reference 1, "b"'


@pytest.mark.parametrize(
    ("type_name", "config", "case", "verdict", "found"),
    [
        ("exact_match", {}, Case("a", "a"), "1 ≥ 1 → pass", ("the texts are equal",)),
        ("exact_match", {"case_sensitive": False, "trim": True}, Case(" A", "b"), "0 < 1 → fail",
         ("both texts in lower case", "white space at both ends ignored", "the texts differ")),
        ("exact_match", {"negate": True}, Case("a", "a"), "1 − 1 = 0 < 1 → fail",
         ("the texts are equal", "negate: the opposite is wanted")),
        ("includes", {}, Case("a refund", "refund"), "1 ≥ 1 → pass", ('"refund" found',)),
        ("includes", {"values": ["one", "TWO"], "case_sensitive": False}, Case("One three"),
         "0 < 1 → fail",
         ('"one" found', '"TWO" not found', "1 of 2 found, all wanted",
          "upper and lower case alike")),
        ("includes", {"values": ["one", "two"], "mode": "any"}, Case("one"), "1 ≥ 1 → pass",
         ('"one" found', '"two" not found', "1 of 2 found, any wanted")),
        ("includes", {"target_output_key": "a.b"}, Case('{"a": {"b": "ink"}}', "ink"),
         "1 ≥ 1 → pass", ('"ink" found',)),
        ("regex", {"pattern": "SORRY", "flags": "i"}, Case("so sorry"), "1 ≥ 1 → pass",
         ("pattern SORRY with flags i: found",)),
        ("regex", {"pattern": "sorry", "negate": True}, Case("fine"), "1 − 0 = 1 ≥ 1 → pass",
         ("pattern sorry: not found", "negate: the opposite is wanted")),
        ("levenshtein", {"case_sensitive": True}, Case("Hello World!", "Hello World"),
         "1 − 1 / 12 = 0.92 ≥ 0.7 → pass",
         ("1 edit, longer text 12 characters", "rounded half up to 2 decimals")),
        ("levenshtein", {}, Case("helo", "HELLO"), "1 − 1 / 5 = 0.8 ≥ 0.7 → pass",
         ("both texts in lower case", "1 edit, longer text 5 characters")),
        ("levenshtein", {"max_chars": 4}, Case("abcdef", "abcd"), "1 − 0 / 4 = 1 ≥ 0.7 → pass",
         ("both texts in lower case", "each text cut at 4 characters",
          "0 edits, longer text 4 characters")),
        ("levenshtein", {}, Case("", ""), "1 ≥ 0.7 → pass",
         ("both texts in lower case", "both texts are empty")),
        ("json_match", {}, Case("[1]", [1.0]), "1 ≥ 1 → pass", ("equal as JSON",)),
        ("json_match", {}, Case("[1]", [2]), "0 < 1 → fail", ("the JSON values differ",)),
        ("json_schema", {}, Case("[]"), "1 ≥ 1 → pass", ("the output is valid JSON",)),
        ("json_schema", {"schema": {"type": "object"}}, Case("{}"), "1 ≥ 1 → pass",
         ("the output satisfies the schema",)),
        ("numeric", {}, Case("8", 10), "1 − 2 / (10 + 8) = 0.8889 < 1 → fail",
         ("e expected, o output: 1 − |e − o| / (|e| + |o|)",)),
        ("numeric", {}, Case("-0", 0), "1 ≥ 1 → pass", ("both numbers are 0",)),
        ("numeric", {"tolerance": 0.5}, Case("9.5", 10), "1 ≥ 1 → pass",
         ("|10 − 9.5| = 0.5 ≤ 0.5",)),
        ("numeric", {"tolerance": 0.01, "relative": True}, Case("9", 10), "0 < 1 → fail",
         ("|10 − 9| = 1 > 0.01 × |10|",)),
        ("expression", {"expression": "size(output) > 2"}, Case("abc"), "1 ≥ 0.5 → pass",
         ("value of size(output) > 2",)),
    ],
)  # fmt: skip
def test_the_arithmetic_reads_as_it_was_done(
    type_name: str, config: dict[str, Any], case: Case, verdict: str, found: tuple[str, ...]
) -> None:
    assert explained(type_name, config, case) == Explanation(verdict, found)


def test_a_refused_schema_says_what_the_validator_said() -> None:
    config, case = {"schema": {"type": "object"}}, Case("[]")
    why = explained("json_schema", config, case)
    assert why.verdict == "0 < 1 → fail"
    assert why.found == (configure_scorer("json_schema", config).score([case])[0].reason,)


def test_a_json_comparison_comes_with_its_leaf_table() -> None:
    why = explained("json_similarity", {}, JSON_CASE, 0.9)
    assert why.verdict == "1.9899 / 2 = 0.9949 ≥ 0.9 → pass"
    assert [(leaf.path, leaf.actual) for leaf in why.leaves] == [("a", 100), ("b", "ink")]
    assert round(why.leaves[0].credit, 4) == 0.9899


NO_VALUE = "Expecting value at line 1, column 1"
HINT = "holds JSON: extract it?"
LEAVES = "matched leaves / all leaves of the expected value"


@pytest.mark.parametrize(
    ("config", "expected", "output", "why"),
    [
        ({}, {"a": 1}, '{"a": 1} so', f"Extra data at line 1, column 10; the text {HINT}"),
        ({}, '{"a": 1}', '```json\n{"a": 1}\n```', f"{NO_VALUE}; a fenced block {HINT}"),
        ({}, ["a"], "", "the text is empty."),
        ({"default_expected": {"a": 1}}, None, "no", f"{NO_VALUE}."),
        ({}, 1, "xyz", f"{NO_VALUE}."),
    ],
)
def test_text_where_json_is_expected_says_what_keeps_it_from_being_some(
    config: dict[str, Any], expected: Any, output: str, why: str
) -> None:
    case = Case(output, expected)
    found = explained("json_similarity", config, case, 0.9)
    reason = f"output is not valid JSON: {why} Matched leaves: 0, Total leaves: 1"
    assert found.verdict == "0, whatever the threshold → fail"
    assert found.found == (reason,)
    assert [leaf.credit for leaf in found.leaves] == [0]


@pytest.mark.parametrize(
    ("expected", "output"),
    [({"a": 1}, "[]"), ({"a": 1}, '"a text"'), ({"a": 1}, ["{"]), ("abc", "xyz"), ('"a"', "b")],
)
def test_no_leaf_matched_is_no_fault_of_json_or_plain_text(expected: Any, output: Any) -> None:
    found = explained("json_similarity", {}, Case(output, expected), 0.9)
    assert found.found == (LEAVES,)


def test_a_score_stored_before_text_had_a_code_says_why_too() -> None:
    case = Case("no", {"a": 1})
    result = scored(0.0, "", {"matched": 0, "total": 1})._replace(verdict="fail")
    found = explain("json_similarity", {}, 0.9, case, result).found
    why = "output is not valid JSON: Expecting value at line 1, column 1; it counts as one text"
    assert found == (LEAVES, why)


@pytest.mark.parametrize(
    ("type_name", "arithmetic"),
    [
        ("all", "min(0.8, 1) = 0.8 ≥ 0.5 → pass"),
        ("any", "max(0.8, 1) = 1 ≥ 0.5 → pass"),
        ("weighted", "(0.8 × 3 + 1 × 1) / 4 = 0.85 ≥ 0.5 → pass"),
    ],
)
def test_a_combination_lists_its_parts_each_with_its_own_arithmetic(
    type_name: str, arithmetic: str
) -> None:
    config = {
        "scorers": [
            {"type": "levenshtein", "name": "close", "weight": 3},
            {"type": "includes", "config": {"values": ["e"]}},
        ]
    }
    why = explained(type_name, config, Case("helo", "hello"))
    assert why.verdict == arithmetic
    close, includes = why.children
    assert (close.name, close.explanation.verdict) == ("close", "1 − 1 / 5 = 0.8 ≥ 0.7 → pass")
    assert (includes.name, includes.explanation.found) == ("includes", ('"e" found',))


def test_combinations_are_explained_to_any_depth() -> None:
    inner = {"type": "any", "name": "inner", "config": {"scorers": [{"type": "levenshtein"}]}}
    why = explained("all", {"scorers": [inner]}, Case("helo", "hello"))
    (nested,) = why.children
    (leaf,) = nested.explanation.children
    assert nested.explanation.verdict == "max(0.8) = 0.8 ≥ 0.5 → pass"
    assert leaf.explanation.verdict.startswith("1 − 1 / 5")


def test_a_skipped_part_is_named_and_left_out_of_the_arithmetic() -> None:
    config = {"scorers": [{"type": "json_similarity"}, {"type": "json_match"}]}
    why = explained("all", config, Case("{}", {}))
    assert why.verdict == "min(1) = 1 ≥ 0.5 → pass"
    assert why.found == ("json_similarity skipped, left out",)
    assert why.children[0].explanation.verdict.startswith("skipped: no score")


def test_a_part_that_failed_makes_an_error_that_still_lists_its_parts() -> None:
    config = {"scorers": [{"type": "numeric"}, {"type": "levenshtein"}]}
    why = explained("all", config, Case("1", "one"))
    assert why.verdict == "error: no score, left out of mean and pass rate"
    assert why.found[0].startswith("numeric: ")
    assert len(why.children) == 2


def with_two_parts(case: Case, stored: float) -> Explanation:
    """The explanation of a combination of nine of which a row kept two."""
    config = {"scorers": [{"type": "levenshtein", "name": str(n)} for n in range(9)]}
    result = configure_scorer("all", config).score([case])[0]
    kept = {"children": result.metadata["children"][:2], "trimmed": True}
    return explain("all", config, 0.5, case, result._replace(score=stored, metadata=kept))


def test_parts_that_the_row_had_no_room_for_are_scored_again() -> None:
    why = with_two_parts(Case("helo", "hello"), 0.8)
    assert why.verdict == f"min({', '.join(['0.8'] * 9)}) = 0.8 ≥ 0.5 → pass"
    assert [child.name for child in why.children] == [str(n) for n in range(9)]


def test_parts_that_would_not_make_the_stored_score_are_counted_only() -> None:
    why = with_two_parts(Case("helo", "hello"), 0.7)
    assert why.verdict == "0.7 ≥ 0.5 → pass"
    assert why.found == ("2 of 9 parts were kept",)
    assert len(why.children) == 2


@pytest.mark.parametrize(
    ("type_name", "case", "verdict", "reason"),
    [
        ("levenshtein", Case("a"), "0, whatever the threshold → fail", "no expected output"),
        ("json_match", Case("{", {}), "0, whatever the threshold → fail", "output is not valid"),
        ("numeric", Case("1", "one"), "error: no score, left out of mean and pass rate",
         "expected"),
        ("json_similarity", Case("1", {}), "skipped: no score, left out of mean and pass rate",
         "expected has no values to compare"),
        ("regex", Case("", failure="timed out"), "error: no score, left out of mean and pass rate",
         "no output: timed out"),
    ],
)  # fmt: skip
def test_a_problem_is_told_as_one(type_name: str, case: Case, verdict: str, reason: str) -> None:
    config = {"pattern": "a"} if type_name == "regex" else {}
    why = explained(type_name, config, case, 0.0)
    assert why.verdict == verdict
    assert why.found[0].startswith(reason)


@pytest.mark.parametrize(
    ("score", "threshold", "shown"),
    [(0.69996, 0.7, "0.69996 < 0.7"), (0.70004, 0.7, "0.7 ≥ 0.7"), (1 / 3, 0.7, "0.3333 < 0.7")],
)
def test_rounding_never_shows_a_score_across_its_threshold(
    score: float, threshold: float, shown: str
) -> None:
    verdict = "pass" if score >= threshold else "fail"
    result = Result("scored", score, verdict, "", {})  # type: ignore[arg-type]  # one of two words
    assert explain("custom", {}, threshold, Case("a"), result).verdict.startswith(shown)


def test_a_type_that_is_not_installed_shows_its_reason_and_plain_facts() -> None:
    result = Result("scored", 0.25, "fail", "too short", {"words": 3, "seen": ["a"]})
    why = explain("acme_length", {"unknown": 1}, 0.5, Case("a b c"), result)
    assert why == Explanation("0.25 < 0.5 → fail", ("too short", "words: 3", 'seen: ["a"]'))


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (1 / 3, "0.3333"),
        (4.0, "4"),
        (1e-9, "1e-9"),
        (12345.678, "12345.678"),
        (None, "null"),
        (True, "true"),
        ("plain <b> “text”", "plain <b> “text”"),
        ({"näh": [1, None]}, '{"näh": [1, null]}'),
        ("x" * 201, "x" * 200 + "…"),
        (reduce(lambda inner, _: [inner], range(200), []), "[" * 200 + "…"),
    ],
)
def test_what_a_custom_scorer_tells_is_shown_in_few_characters(fact: Any, told: str) -> None:
    result = Result("scored", 1.0, "pass", "", {"fact": fact})
    assert explain("acme", {}, 0.5, Case("a"), result).found == (f"fact: {told}",)


JUDGED = {"choice": "C", "model": "m", "reasons": "Both name Paris.", "samples": ["C"]}
NUMBERED = {"number": 3.0, "model": "m", "reasons": "Clear.", "samples": [4.0, 2.0, 3.0]}
RANGE = {"model": "m", "rubric": "Clear?", "range": [1, 5]}
MENU = {"model": "m", "rubric": "Polite?", "choices": {"yes": 1, "no": 0}}
FACTS = "A 0.4, B 0.6, C 1, D 0, E 1"


@pytest.mark.parametrize(
    ("type_name", "config", "score", "facts", "verdict", "found"),
    [
        ("factuality", {"model": "m"}, 1.0, JUDGED, "1 ≥ 0.5 → pass",
         (f"scale: {FACTS}", "choice: C", "m: Both name Paris.")),
        ("llm_judge", {**RANGE, "samples": 3}, 0.5, NUMBERED,
         "median(0.75, 0.25, 0.5) = 0.5 ≥ 0.5 → pass",
         ("scale: 1 to 5, mapped to 0 to 1", "number: 3", "3 samples: 4, 2, 3", "m: Clear.")),
        ("llm_judge", RANGE, 0.5, {"number": 3, "samples": [3]},
         "(3 − 1) / (5 − 1) = 0.5 ≥ 0.5 → pass",
         ("scale: 1 to 5, mapped to 0 to 1", "number: 3")),
        ("llm_judge", {**MENU, "samples": 2, "reduce": "majority"}, 0.0,
         {"choice": "no", "samples": ["yes", "no"]}, "majority(1, 0) = 0 < 0.5 → fail",
         ("scale: yes 1, no 0", "choice: no", "2 samples: yes, no")),
        ("llm_judge", {**MENU, "samples": 9}, 1.0, {"choice": "yes", "samples": ["yes"] * 5},
         "median of 9 scores = 1 ≥ 0.5 → pass",
         ("scale: yes 1, no 0", "choice: yes", "9 samples: yes, yes, yes, yes, yes")),
        ("llm_judge", {**MENU, "samples": 2}, 1.0, {"choice": "yes", "samples": ["y…", "y…"]},
         "median of 2 scores = 1 ≥ 0.5 → pass",
         ("scale: yes 1, no 0", "choice: yes", "2 samples: y…, y…")),
        ("llm_judge", MENU, 1.0, {"trimmed": True}, "1 ≥ 0.5 → pass", ("trimmed: true",)),
    ],
)  # fmt: skip
def test_a_judge_states_its_scale_its_samples_and_how_they_reduce(
    type_name: str,
    config: dict[str, Any],
    score: float,
    facts: dict[str, Any],
    verdict: str,
    found: tuple[str, ...],
) -> None:
    result = Result("scored", score, "pass" if score >= 0.5 else "fail", "", facts)
    assert explain(type_name, config, 0.5, Case("a"), result) == Explanation(verdict, found)


@pytest.mark.parametrize("type_name", sorted(all_types()))
def test_every_worked_example_is_explained_with_its_own_score(
    type_name: str, request: pytest.FixtureRequest
) -> None:
    kind = all_types()[type_name]
    if kind.family == "embedding":
        request.getfixturevalue("minilm")
    for example in kind.examples:
        config = dict(example.config)
        scorer = configure_scorer(type_name, config)
        settings = {name: value for name, value in config.items() if name != "threshold"}
        with use_services(Stated(example.replies)) if example.replies else nullcontext():
            result = scorer.score([example.case])[0]
        why = explain(type_name, settings, scorer.threshold, example.case, result)
        assert why.verdict.endswith(f"→ {result.verdict}") or result.score is None


@pytest.mark.parametrize("type_name", ["levenshtein", "gone"])
@pytest.mark.parametrize(
    ("limit", "verdict", "line"),
    [
        (0.7, "pass", "0.71 ≥ 0.7 → pass (re-labelled; scored with 0.8 → fail)"),
        (0.9, "fail", "0.71 < 0.9 → fail (re-labelled; scored with 0.8 → fail)"),
        (0.7104, "fail", "0.71 < 0.7104 → fail (re-labelled; scored with 0.8 → fail)"),
    ],
)
def test_a_later_threshold_stands_before_that_of_scoring(
    type_name: str, limit: float, verdict: str, line: str
) -> None:
    result = Result("scored", 0.71, "fail", "", {})
    later = LaterVerdict(limit, verdict)
    found = explain(type_name, {}, 0.8, Case("a", "b"), result, later).verdict
    assert found == line or found.endswith(f" = {line}")
    assert "re-labelled" not in explain(type_name, {}, 0.8, Case("a", "b"), result).verdict


def test_a_forced_fail_is_the_same_by_a_later_threshold() -> None:
    result = forced_fail("no_number", "no number in the output")
    later = LaterVerdict(0.0, "fail")
    before = explain("numeric", {}, 0.5, Case("a", "1"), result)
    assert explain("numeric", {}, 0.5, Case("a", "1"), result, later) == before
