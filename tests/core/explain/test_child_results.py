"""The parts of a combination that its row had no room for."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result, scored
from scoring.core.explain.child_results import (
    MAX_CHARS,
    complete_child_result,
    complete_child_results,
)

NEAR: dict[str, Any] = {"type": "levenshtein", "name": "near"}
SAYS: dict[str, Any] = {"type": "includes", "name": "says", "config": {"values": ["a"]}}
INNER: dict[str, Any] = {"type": "any", "name": "inner", "config": {"scorers": [NEAR, SAYS]}}
FAILS: dict[str, Any] = {"type": "numeric", "name": "fails"}
JUDGE: dict[str, Any] = {
    "type": "llm_judge",
    "name": "judge",
    "config": {"model": "m", "rubric": "r", "choices": {"y": 1.0, "n": 0.0}},
}
SLOW: list[dict[str, Any]] = [
    {"type": "regex", "config": {"pattern": "(?=a)"}},
    {"type": "json_similarity", "config": {"array_mode": "unordered"}},
    JUDGE,
    {"type": "all", "config": {"scorers": [JUDGE]}},
]
CASE = Case("a text", "any text")
LONG = "a" * (MAX_CHARS + 1)


def cut(result: Result) -> Result:
    """As its row would keep it, with one part left."""
    return result._replace(
        metadata={**result.metadata, "children": result.metadata["children"][:1]}
    )


@pytest.mark.parametrize("type_name", ["all", "any", "weighted"])
@pytest.mark.parametrize("parts", [[NEAR, SAYS], [INNER, NEAR], [FAILS, NEAR]])
def test_quick_parts_are_scored_again(type_name: str, parts: list[dict[str, Any]]) -> None:
    scorer = configure_scorer(type_name, {"scorers": parts})
    (whole,) = scorer.score([CASE])
    assert complete_child_results(scorer, CASE, cut(whole)) == whole


def test_what_is_whole_is_left_as_it_was_stored() -> None:
    scorer = configure_scorer("all", {"scorers": [NEAR, SAYS]})
    (whole,) = scorer.score([CASE])
    stored = whole._replace(metadata={"children": [{**part, "reason": "old"} for part in
                                                   whole.metadata["children"]]})  # fmt: skip
    assert complete_child_results(scorer, CASE, stored) is stored
    trimmed = stored._replace(metadata={**stored.metadata, "trimmed": True})
    assert complete_child_results(scorer, CASE, trimmed) == whole


@pytest.mark.parametrize("slow", SLOW)
def test_slow_and_asking_parts_are_never_scored_again(slow: dict[str, Any]) -> None:
    stored = scored(0.5, "", {"children": []})._replace(verdict="pass")
    scorer = configure_scorer("all", {"scorers": [NEAR, slow]})
    assert complete_child_results(scorer, CASE, stored) is stored


@pytest.mark.parametrize("case", [Case(LONG, "b"), Case("b", LONG)])
def test_long_texts_are_never_scored_again(case: Case) -> None:
    scorer = configure_scorer("all", {"scorers": [NEAR]})
    stored = scorer.score([case])[0]._replace(metadata={"children": []})
    assert complete_child_results(scorer, case, stored) is stored


def test_a_score_that_would_differ_stays_as_it_was_stored() -> None:
    scorer = configure_scorer("all", {"scorers": [NEAR, SAYS]})
    stored = cut(scorer.score([CASE])[0])._replace(score=0.123)
    assert complete_child_results(scorer, CASE, stored) is stored


@pytest.mark.parametrize("part", [NEAR, SAYS, FAILS])
def test_a_part_of_which_the_score_alone_is_left_is_told_again(part: dict[str, Any]) -> None:
    scorer = configure_scorer(part["type"], part.get("config", {}))
    (whole,) = scorer.score([CASE])
    bare = whole._replace(metadata={}, reason="")
    told = complete_child_result(scorer, CASE, bare)
    assert told == (whole if not whole.code else bare)
    assert complete_child_result(scorer, CASE, bare._replace(score=0.123)).metadata == {}
    assert complete_child_result(scorer, CASE, bare._replace(reason="kept")).metadata == {}


@pytest.mark.parametrize("slow", SLOW[:3])
def test_a_part_that_is_slow_or_asks_is_not_told_again(slow: dict[str, Any]) -> None:
    stored = scored(0.5, "", {})._replace(verdict="pass")
    assert (
        complete_child_result(configure_scorer(slow["type"], slow["config"]), CASE, stored)
        is stored
    )
