"""What holds for every type: one result per case, in order, the same alone and in company."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.configured import ConfiguredScorer, configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.services import Answer, Question, Vectors, use_services
from tests.support.thoroughness import examples

CONFIGS: list[tuple[str, dict[str, Any]]] = [
    ("exact_match", {}),
    ("exact_match", {"case_sensitive": False, "trim": True, "negate": True}),
    ("exact_match", {"target_output_key": "a"}),
    ("includes", {"mode": "any", "values": ["a", "b"]}),
    ("includes", {"default_expected": "a"}),
    ("regex", {"pattern": "^[ab]+$", "flags": "im"}),
    ("regex", {"pattern": "(a)(?!b)"}),
    ("levenshtein", {}),
    ("levenshtein", {"decimals": None, "max_chars": 3, "case_sensitive": True}),
    ("json_match", {"negate": True}),
    ("json_similarity", {}),
    ("json_similarity", {"array_mode": "unordered", "target_output_key": ["a", "b"]}),
    ("json_schema", {"schema": {"type": ["object", "number"]}}),
    ("numeric", {}),
    ("numeric", {"tolerance": 0.5, "relative": True}),
    ("expression", {"expression": "size(output) > 3 ? 1.0 : size(output) / 4"}),
    ("expression", {"expression": "output_json.a == expected"}),
    ("reference_match", {}),
    ("reference_match", {"aggregation": "mean", "references": ["a", "ab"]}),
    ("reference_match", {"target_output_key": "a", "default_expected": ["a", None]}),
    ("all", {"scorers": [{"type": "levenshtein"}, {"type": "json_similarity"}]}),
    ("any", {"scorers": [{"type": "reference_match"}, {"type": "exact_match"}]}),
    ("any", {"scorers": [{"type": "numeric"}, {"type": "exact_match"}]}),
    ("weighted", {"scorers": [{"type": "exact_match"}, {"type": "includes", "weight": 2}]}),
]
IDS = [f"{name} {json.dumps(config)[:40]}" for name, config in CONFIGS]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=True)
    | st.text('abAB1 é{}[]":,😀\n', max_size=8)
    | st.sampled_from(["1", "a", '{"a": 1}', '{"a":1,"a":2}', "NaN", "[1,2]", "\ud800", "[" * 70]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=5,
)
CASES = st.lists(
    st.tuples(VALUES, VALUES, st.sampled_from(["", "", "", "failed"])).map(
        lambda drawn: Case(drawn[0], drawn[1], failure=drawn[2])
    ),
    max_size=6,
)


class Letters:
    """Vectors that count four letters, so that no model is needed."""

    def embed(self, texts: Sequence[str], **_: Any) -> Vectors:
        rows = [[text.count(letter) for letter in "ab1A"] for text in texts]
        matrix = np.array(rows, dtype=np.float32).reshape(len(rows), 4)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return Vectors(matrix / np.maximum(lengths, 1e-9), [False] * len(rows), "letters")

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        raise AssertionError("nobody asks a model here")


@pytest.fixture(autouse=True)
def letters() -> Iterator[None]:
    with use_services(Letters()):
        yield


def _bound(name: str, config: dict[str, Any]) -> ConfiguredScorer:
    return configure_scorer(name, config)


def _all_bound() -> Iterator[tuple[str, ConfiguredScorer]]:
    """Every configured type, with what tells it apart."""
    return zip(IDS, (_bound(name, config) for name, config in CONFIGS), strict=True)


@settings(max_examples=examples(60), deadline=None)
@given(cases=CASES, seed=st.integers(0, 99))
def test_batch_equals_one_by_one_and_permuting_permutes(cases: list[Case], seed: int) -> None:
    order = random.Random(seed).sample(range(len(cases)), len(cases))
    for label, bound in _all_bound():
        results = bound.score(cases)
        assert len(results) == len(cases), label
        assert results == [bound.score([case])[0] for case in cases], label
        permuted = [results[place] for place in order]
        assert bound.score([cases[place] for place in order]) == permuted, label


@settings(max_examples=examples(60), deadline=None)
@given(cases=CASES)
def test_results_keep_the_contract(cases: list[Case]) -> None:
    for label, bound in _all_bound():
        for case, result in zip(cases, bound.score(cases), strict=True):
            assert_contract(bound, case, result, label)


def assert_contract(bound: ConfiguredScorer, case: Case, result: Result, label: str) -> None:
    assert (result.code == "no_output") == bool(case.failure), label
    assert result.code != "scorer_failed", label
    if result.status == "scored":
        assert isinstance(result.score, float), label
        assert 0 <= result.score <= 1, label
        passes = result.score >= bound.threshold and not result.code
        assert result.verdict == ("pass" if passes else "fail"), label
    else:
        assert (result.score, result.verdict) == (None, None), label
        assert result.code, label
    assert result.reason or result.verdict == "pass", label
    assert len(result.reason.splitlines()) <= 1, label
    assert len(json.dumps(result.metadata, allow_nan=False)) < 2_000, label


@pytest.mark.parametrize(("name", "config"), CONFIGS, ids=IDS)
def test_cases_are_left_as_they_were(name: str, config: dict[str, Any]) -> None:
    expected = {"a": [1, {"b": "x"}], "b": None}
    case = Case(json.loads(json.dumps(expected)), expected, metadata={"k": [1]})
    before = json.dumps(case)
    _bound(name, config).score([case])
    assert json.dumps(case) == before
