"""Where scorers find what they look for: the places are theirs, and no pattern keeps a page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.explain.text_matches import (
    MAX_CHARS,
    MAX_MATCHES,
    TextSearch,
    find_searches,
    has_extraction,
    has_text_search,
    mark_searches,
)
from scoring.core.scorers.pattern import compile_pattern
from tests.support.speed import quick_enough

INCLUDES = {"values": ["Paris", "Rome"]}
ANY_CASE = {"case_sensitive": False}
IN_CITY = {"target_output_key": "city"}


def found(search: TextSearch) -> list[str]:
    return [search.text[start:end] for start, end in search.places]


@pytest.mark.parametrize(
    ("kind", "config", "output", "places"),
    [
        ("includes", INCLUDES, "Paris, not paris, Paris", {'"Paris"': [(0, 5), (18, 23)]}),
        ("includes", {"values": ["paris"], **ANY_CASE}, "PARIS", {'"paris"': [(0, 5)]}),
        ("includes", {"values": ["aa"]}, "aaaa", {'"aa"': [(0, 2), (2, 4)]}),
        ("includes", {}, "it is Oslo", {'"Oslo"': [(6, 10)]}),
        ("includes", {"values": ["i\u0307x"], **ANY_CASE}, "aİXb", {'"i\u0307x"': [(1, 3)]}),
        ("includes", {"values": ["b"], **ANY_CASE}, "İb", {'"b"': [(1, 2)]}),
        ("includes", {"values": ["ris"], **IN_CITY}, '{"city": "Paris"}', {'"ris"': [(2, 5)]}),
        ("regex", {"pattern": r"\d+"}, "é1 and 😀22", {r"\d+": [(1, 2), (8, 10)]}),
        ("regex", {"pattern": "/OSLO/i"}, "Oslo", {"/OSLO/i": [(0, 4)]}),
        ("regex", {"pattern": "^b", "flags": "m"}, "a\nb", {"^b m": [(2, 3)]}),
        ("regex", {"pattern": r"(.)\1"}, "abba", {r"(.)\1": [(1, 3)]}),
        ("regex", {"pattern": "a", "flags": "y"}, "aba", {"a y": [(0, 1)]}),
    ],
)
def test_each_text_and_pattern_is_found_in_its_places(
    kind: str, config: dict[str, Any], output: str, places: dict[str, list[tuple[int, int]]]
) -> None:
    got = find_searches("it", kind, config, Case(output, "Oslo"))
    assert {each.wanted: list(each.places) for each in got if each.places} == places
    assert {each.by for each in got} == {"it"}


def test_what_is_not_found_is_named_too() -> None:
    paris, rome = find_searches("city", "includes", INCLUDES, Case("Paris", None))
    assert (paris.is_found, rome.is_found, rome.wanted) == (True, False, '"Rome"')
    assert not rome.places


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("x*", "found, as an empty text, which has no mark"),
        ("$", "found, as an empty text, which has no mark"),
        ("a*", ""),
        ("x+", ""),
    ],
)
def test_a_pattern_that_finds_only_empty_texts_says_so(pattern: str, problem: str) -> None:
    (search,) = find_searches("it", "regex", {"pattern": pattern}, Case("aab", None))
    assert search.problem == problem
    assert search.is_found == (pattern != "x+")


def test_the_parts_of_combinations_are_looked_into_and_named() -> None:
    inner = {"type": "regex", "config": {"pattern": "a+"}, "name": "letters"}
    config = {
        "scorers": [
            {"type": "includes", "config": {"values": ["b"]}, "name": "b"},
            {"type": "any", "config": {"scorers": [inner]}, "name": "inner"},
            {"type": "levenshtein", "name": "near"},
        ]
    }
    assert has_text_search("all", config)
    got = find_searches("both", "all", config, Case("aab", "x"))
    assert [(each.by, found(each)) for each in got] == [
        ("both / b", ["b"]),
        ("both / inner / letters", ["aa"]),
    ]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("levenshtein", {}),
        ("weighted", {"scorers": [{"type": "exact_match"}]}),
        ("llm_judge", {"rubric": "regex"}),
        ("gone", {"scorers": "includes"}),
    ],
)
def test_other_types_look_for_nothing(kind: str, config: dict[str, Any]) -> None:
    assert not has_text_search(kind, config)
    assert find_searches("it", kind, config, Case("a", "a")) == []


@pytest.mark.parametrize(
    ("config", "output", "expected"),
    [
        ({}, "a", None),
        ({"target_output_key": "x", "values": ["a"]}, "no JSON", None),
        ({"target_output_key": "x", "values": ["a"]}, "{}", None),
    ],
)
def test_where_there_is_nothing_to_search_nothing_is_said(
    config: dict[str, Any], output: str, expected: Any
) -> None:
    assert find_searches("it", "includes", config, Case(output, expected)) == []


@settings(deadline=None)
@given(
    st.text(st.sampled_from("abAİß é😀\n"), max_size=60),
    st.lists(st.text(st.sampled_from("abAİß é"), min_size=1, max_size=3), min_size=1, max_size=3),
    st.booleans(),
)
def test_the_places_agree_with_the_score(
    output: str, values: list[str], case_sensitive: bool
) -> None:
    config = {"values": values, "case_sensitive": case_sensitive}
    (result,) = configure_scorer("includes", config).score([Case(output, None)])
    got = find_searches("it", "includes", config, Case(output, None))
    assert all(each.is_found for each in got) == (result.score == 1.0)
    for search, value in zip(got, values, strict=True):
        assert bool(search.places) == search.is_found
        for part in found(search):
            assert part == value if case_sensitive else value.lower() in part.lower()


@settings(deadline=None)
@given(
    st.text(st.sampled_from("ab \né😀"), max_size=60),
    st.sampled_from(["a+", "b", r"a\b", "^.", "é|😀", "x*", r"(a)\1", "[^a]+"]),
)
def test_a_pattern_is_found_where_the_scorer_found_it(output: str, pattern: str) -> None:
    (search,) = find_searches("it", "regex", {"pattern": pattern}, Case(output, None))
    assert search.is_found == compile_pattern(pattern).is_in(output)
    assert all(compile_pattern(pattern).is_in(part) for part in found(search) if pattern != r"a\b")
    assert not any(start == end for start, end in search.places)


@settings(deadline=None)
@given(
    st.text(st.sampled_from("ab \n\u200b"), max_size=900),
    st.lists(st.sampled_from(["a", "b", "ab", "ba ", "a b"]), min_size=1, max_size=4),
)
def test_the_marked_text_is_the_text_and_its_marks_the_places(
    output: str, values: list[str]
) -> None:
    got = find_searches("it", "includes", {"values": values}, Case(output, None))
    (text,) = [each.text for each in mark_searches(got)]
    assert "".join(each.text for each in text.blocks) == output
    at, marked = 0, set()
    for block in text.blocks:
        marked |= set(range(at, at + len(block.text))) if block.tag == "mark" else set()
        at += len(block.text)
    assert marked == {
        at for search in got for start, end in search.places for at in range(start, end)
    }


def test_a_mark_where_places_overlap_bears_every_name() -> None:
    got = find_searches("it", "includes", {"values": ["abc", "cd"]}, Case("xabcdx", None))
    (text,) = [each.text for each in mark_searches(got)]
    assert [(each.text, each.name) for each in text.blocks] == [
        ("x", ""),
        ("ab", 'it: "abc"'),
        ("c", 'it: "abc"; it: "cd"'),
        ("d", 'it: "cd"'),
        ("x", ""),
    ]


def test_texts_are_kept_apart_and_long_ones_folded() -> None:
    output = '{"a": "find me", "b": "' + "no " * 500 + 'find me"}'
    got = [
        *find_searches(
            "a", "includes", {"target_output_key": "a", "values": ["me"]}, Case(output, None)
        ),
        *find_searches(
            "b", "regex", {"target_output_key": "b", "pattern": "me"}, Case(output, None)
        ),
    ]
    short, long = mark_searches(got)
    assert (short.part, long.part) == ("a", "b")
    assert not any(each.folded for each in short.text.blocks)
    (fold,) = [each.folded for each in long.text.blocks if each.folded]
    assert fold.endswith("unmatched characters")


# Limits.


@pytest.mark.parametrize(
    ("pattern", "output"),
    [
        ("(x+x+)+y(?=z)", "x" * 50_000),
        (".*?b|a", "a" * MAX_CHARS),
        ("(a{0,100}){0,100}b", "a" * MAX_CHARS),
        ("x*", "a" * MAX_CHARS),
        (r"(\w)\1*", "ab" * MAX_CHARS),
    ],
)
def test_no_pattern_keeps_a_page_for_long(pattern: str, output: str) -> None:
    with quick_enough(4):
        (search,) = find_searches("it", "regex", {"pattern": pattern}, Case(output, None))
    assert search.problem or not search.is_found
    assert len(search.places) <= MAX_MATCHES


def test_of_a_very_long_output_the_start_is_marked_and_the_rest_still_counts() -> None:
    output = "a" * MAX_CHARS + "the end"
    (search,) = find_searches("it", "includes", {"values": ["the end"]}, Case(output, None))
    assert (search.is_found, list(search.places)) == (True, [])
    assert search.problem == "marked in the first 200,000 characters"
    (marked,) = mark_searches([search])
    assert marked.text.hidden > 180_000


def test_of_very_many_places_the_first_are_marked() -> None:
    (search,) = find_searches("it", "includes", {"values": ["a"]}, Case("a" * 5_000, None))
    assert len(search.places) == MAX_MATCHES
    assert search.problem == "or more often; only these are marked"


def test_what_is_extracted_is_marked_on_both_sides() -> None:
    config = {"extract": "last_number", "extract_expected": {"after": "A:"}}
    case = Case("It costs $1,200.", "so\nA: 1200")
    output, expected = find_searches("sum", "numeric", config, case)
    assert (output.side, output.wanted, found(output)) == ("output", "the last number", ["$1,200"])
    assert output.problem == "read as 1200"
    assert (expected.side, found(expected), expected.problem) == ("expected", ["1200"], "")
    marked = mark_searches([output, expected])
    assert [(each.side, each.part) for each in marked] == [("output", ""), ("expected", "")]


def test_a_search_goes_on_in_what_is_extracted() -> None:
    config = {"extract": {"after": "A:"}, "case_sensitive": False}
    extracted, sought = find_searches("says", "includes", config, Case("Rome?\nA: Paris", "rome"))
    assert found(extracted) == ["Paris"]
    assert (sought.part, sought.text, sought.is_found) == ('what follows "A:"', "Paris", False)


@pytest.mark.parametrize(
    ("config", "output", "is_found", "problem"),
    [
        ({"extract": "last_number"}, "none", False, ""),
        ({"extract": {"path": "a"}}, '{"a": "x"}', True, 'it is "x"'),
        ({"extract": "json", "target_output_key": "a"}, 'so {"a": 1}', True, ""),
    ],
)
def test_what_has_no_place_is_said(
    config: dict[str, Any], output: str, is_found: bool, problem: str
) -> None:
    (search, *_) = find_searches("x", "exact_match", config, Case(output, "1"))
    assert (search.is_found, search.problem) == (is_found, problem)


def test_which_scorers_extract() -> None:
    nested = {"scorers": [{"type": "numeric", "config": {"extract": "last_number"}}, "odd"]}
    assert has_extraction({"extract": "json"})
    assert has_extraction(nested)
    assert has_text_search("all", nested)
    assert not has_extraction({"extract": None, "scorers": [{"type": "numeric"}]})
    assert not has_extraction({"scorers": "odd"})


def test_an_output_that_cannot_be_searched_is_left_to_the_score() -> None:
    config = {"extract": "last_number", "target_output_key": "a"}
    assert find_searches("x", "exact_match", config, Case("no JSON", "1")) == []
