"""Suggested scorers follow what the cases expect and what the outputs look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core import suggested_scorers as suggested
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.suggested_scorers import SuggestedScorers, suggest_scorers

KINDS: list[SuggestedScorers] = [
    value for value in vars(suggested).values() if isinstance(value, SuggestedScorers)
]
SENTENCE = "As far as I know it is the city of Paris, which lies on the river Seine in France."
ANSWER = "A long answer that goes on and on until nobody could call it short any more, or so."
FENCED = 'Sure:\n```json\n{"a": 1}\n```'
SOLUTION = "2 + 3 = 5\nA: 5"


@pytest.mark.parametrize(
    ("cases", "chosen"),
    [
        ([], suggested.NO_ANSWERS),
        ([Case("x"), Case("y", None)], suggested.NO_ANSWERS),
        ([Case("", "5 days"), Case("", "No")], suggested.SHORT_ANSWERS),
        ([Case("Paris", references=("paris", "Paris, France"))], suggested.SHORT_ANSWERS),
        ([Case(SENTENCE, "Paris")] * 3, suggested.ANSWERS_IN_TEXTS),
        ([Case(SENTENCE, ["Paris", "City of Light"])] * 3, suggested.ANSWERS_IN_TEXTS),
        ([Case(ANSWER, ANSWER)], suggested.PROSE),
        ([Case("spam", "spam"), Case("ham", "Ham")] * 9, suggested.LABELS),
        ([Case("", "spam"), Case("", "ham")] * 2, suggested.SHORT_ANSWERS),
        ([Case("", "x" * 50)] * 10, suggested.SHORT_ANSWERS),  # too long for a label
        ([Case("", "5"), Case("", 7), Case("", "-1.5")], suggested.NUMBERS),
        ([Case("5", 5)], suggested.NUMBERS),
        ([Case("It is 5.", 5)], suggested.NUMBERS_IN_TEXTS),
        ([Case("5", "5"), Case("n", "No")], suggested.SHORT_ANSWERS),
        ([Case(SOLUTION, SOLUTION)], suggested.NUMBERS_AT_ENDS),
        ([Case("x", "so\n#### 1,200")], suggested.NUMBERS_AT_ENDS),
        ([Case("", {"a": 1}), Case("", [2])], suggested.JSON),
        ([Case('{"a": 1}', '{"a": 1}'), Case("[2]", "[2]")], suggested.JSON),
        ([Case(FENCED, {"a": 1}), Case('{"a": 1}', {"a": 1})], suggested.JSON_IN_TEXTS),
        ([Case("", '{"a": 1'), Case("", "[2]")], suggested.SHORT_ANSWERS),
        ([Case("", {"a": 1}), Case("", "none")], suggested.SHORT_ANSWERS),
    ],
)
def test_what_is_suggested(cases: list[Case], chosen: SuggestedScorers) -> None:
    assert suggest_scorers(cases) == chosen


@pytest.mark.parametrize("kind", KINDS, ids=[kind.suite for kind in KINDS])
def test_two_or_three_are_suggested_with_a_sentence_each(kind: SuggestedScorers) -> None:
    assert 2 <= len(kind.scorers) <= 3
    assert kind.computed
    assert len({scorer.name for scorer in kind.scorers}) == len(kind.scorers)
    for scorer in kind.scorers:
        assert scorer.why.endswith(".")
        if not scorer.asks_model:
            configure_scorer(scorer.type, scorer.config)


def test_prose_is_never_compared_to_the_letter() -> None:
    types = {scorer.type for kind in KINDS if kind != suggested.LABELS for scorer in kind.scorers}
    assert "exact_match" not in types


def test_a_name_means_the_same_config_wherever_it_is_suggested() -> None:
    known: dict[str, Any] = {}
    for kind in KINDS:
        for scorer in kind.scorers:
            assert known.setdefault(scorer.name, scorer.config) == scorer.config


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=80),
    lambda parts: (
        st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts, max_size=2)
    ),
    max_leaves=5,
)


@given(st.lists(st.tuples(JSON_VALUES, JSON_VALUES).map(lambda pair: Case(*pair)), max_size=30))
def test_something_is_suggested_for_any_cases(cases: list[Case]) -> None:
    assert suggest_scorers(cases) in KINDS
