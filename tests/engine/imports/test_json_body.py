"""Cases and outputs out of JSON bodies, with every problem named by its path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.core.files import case_key
from scoring.engine import imports
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Team,
    User,
)
from tests.support.fixtures.uploads import cases_of, outputs_of


def test_cases_become_a_version(team: Team, alice: User) -> None:
    cases: list[dict[str, Any]] = [
        {"key": "q1", "input": "a", "expected": {"b": 10**30}, "references": ["x", "y"],
         "tags": ["t", "t"], "metadata": {"m": None}},
        {"input": ["no", "key"]},
        {"key": None, "input": "null key", "expected": None},
    ]  # fmt: skip
    loaded = imports.store_cases(team, "Answers", cases, by=alice)
    assert (loaded.version.number, loaded.version.case_count, loaded.is_new) == (1, 3, True)
    first, second, third = cases_of(loaded.version)
    assert (first.key, first.input, first.expected) == ("q1", "a", {"b": 10**30})
    assert (first.references, first.tags, first.metadata) == (["x", "y"], ["t"], {"m": None})
    assert (second.key, second.input) == (case_key(["no", "key"]), ["no", "key"])
    assert (second.expected_json, third.expected_json) == (None, "null")
    assert loaded.version.dataset.created_by == alice


def test_the_same_cases_twice_are_one_version(team: Team) -> None:
    cases = [{"key": "a", "input": 1}, {"key": "b", "input": 2}]
    first = imports.store_cases(team, "Answers", cases)
    again = imports.store_cases(team, "Answers", cases)
    assert (again.version, again.is_new) == (first.version, False)
    assert again.report.identical_to == 1
    assert Case.objects.count() == 2
    changed = imports.store_cases(team, "Answers", cases[::-1])
    assert changed.version.number == 2


BAD_CASES = [
    ([{"key": "a", "input": 1}, 7], "cases[1]", "wrong_shape"),
    ([{"key": "a", "input": 1, "inputs": 2}], "cases[0].inputs", "unknown_field"),
    ([{"key": "a"}, {"expected": "x"}], "cases[1].input", "missing_input"),
    ([{"key": " ", "input": 1}], "cases[0].key", "missing_id"),
    ([{"key": "x" * 201, "input": 1}], "cases[0].key", "id_too_long"),
    ([{"key": "a", "input": 1}, {"key": "a", "input": 2}], "cases[1].key", "duplicate_case"),
    ([{"key": "a", "input": float("inf")}], "cases[0].input", "not_finite"),
    ([{"key": "a", "input": 1, "expected": [float("nan")]}], "cases[0].expected[0]", "not_finite"),
    ([{"key": "a", "input": "a\0b"}], "cases[0].input", "nul_character"),
    ([{"key": "a", "input": "\ud800"}], "cases[0].input", "invalid_unicode"),
    ([{"key": "a", "input": json.loads("[" * 80 + "]" * 80)}], "cases[0]", "too_deep"),
]


@pytest.mark.parametrize(("cases", "path", "code"), BAD_CASES, ids=[bad[2] for bad in BAD_CASES])
def test_bad_cases_are_named_by_path_and_none_is_stored(
    team: Team, cases: list[Any], path: str, code: str
) -> None:
    with pytest.raises(imports.BodyError) as raised:
        imports.store_cases(team, "Answers", cases)
    (problem,) = raised.value.problems
    assert (problem.path, problem.code) == (path, code)
    assert problem.message
    assert "Line" not in problem.message
    assert not Dataset.objects.exists()
    assert not DatasetVersion.with_loading.exists()


def test_as_many_objects_as_the_limit_are_taken(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.imports.json_body.MAX_OBJECTS", 2)
    cases = [{"key": key, "input": 1} for key in "abc"]
    assert imports.store_cases(team, "Answers", cases[:2]).version.case_count == 2
    with pytest.raises(imports.BodyError, match="cases"):
        imports.store_cases(team, "Answers", cases)


def test_all_problems_are_counted_and_a_hundred_listed(team: Team) -> None:
    with pytest.raises(imports.BodyError) as raised:
        imports.store_cases(team, "Answers", [{"key": ""}] * 150)
    assert (raised.value.count, len(raised.value.problems)) == (150, 100)


@pytest.fixture
def waiting(version: DatasetVersion) -> OutputSet:
    return OutputSet.objects.create(version=version, series="api")


def test_outputs_are_added_call_by_call(waiting: OutputSet) -> None:
    first = imports.store_outputs(
        waiting,
        [
            {"key": "q2", "output": "b", "latency_ms": 412, "tokens_in": 30, "tokens_out": 55,
             "cost_usd": 0.0004},
            {"key": "nobody", "output": "x"},
        ],
    )  # fmt: skip
    assert (first.accepted, first.unmatched, first.unmatched_count) == (1, ["nobody"], 1)
    assert first.near_keys == {}
    second = imports.store_outputs(
        waiting,
        [
            {"key": "q1", "output": {"a": 10**30}, "trial": 0},
            {"key": "q1", "error": "timeout", "trial": 1},
            {"key": "q2", "trial": 1},
        ],
    )
    assert second.accepted == 3
    found = outputs_of(waiting)
    assert [(o.case.key, o.trial, o.text, o.is_json, o.error) for o in found] == [
        ("q1", 0, '{"a":1000000000000000000000000000000}', True, ""),
        ("q1", 1, None, False, "timeout"),
        ("q2", 0, "b", False, ""),
        ("q2", 1, None, False, "the row has no output"),
    ]
    figures = (found[2].latency_ms, found[2].tokens_in, found[2].tokens_out, found[2].cost_usd)
    assert figures == (412, 30, 55, 0.0004)
    imports.close_outputs(waiting, None)
    assert (waiting.state, waiting.output_count) == (OutputSetState.READY, 4)


BAD_OUTPUTS = [
    ([{"output": "a"}], "outputs[0].key", "missing_id"),
    ([{"key": "q1", "output": "a"}, {"key": "q1", "output": "b"}], "outputs[1].key",
     "duplicate_case"),
    ([{"key": "q1", "output": "a", "latency_ms": "soon"}], "outputs[0].latency_ms", "not_a_number"),
    ([{"key": "q1", "output": "a", "tokens_in": -1}], "outputs[0].tokens_in", "out_of_range"),
    ([{"key": "q1", "output": "a", "trial": 40_000}], "outputs[0].trial", "out_of_range"),
    ([{"key": "q1", "output": "a", "score": 1}], "outputs[0].score", "unknown_field"),
    ([{"key": "q1", "output": {"x": float("inf")}}], "outputs[0].output.x", "not_finite"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "path", "code"), BAD_OUTPUTS, ids=[bad[2] for bad in BAD_OUTPUTS]
)
def test_bad_outputs_are_named_by_path_and_none_is_stored(
    waiting: OutputSet, outputs: list[Any], path: str, code: str
) -> None:
    with pytest.raises(imports.BodyError) as raised:
        imports.store_outputs(waiting, [{"key": "q2", "output": "good"}, *outputs])
    (problem,) = raised.value.problems
    index = int(path[len("outputs[")]) + 1
    assert (problem.path, problem.code) == (f"outputs[{index}]{path[len('outputs[0]') :]}", code)
    assert not Output.objects.exists()


def test_an_output_sent_again_is_refused_with_its_call(waiting: OutputSet) -> None:
    imports.store_outputs(waiting, [{"key": "q1", "output": "a", "trial": 3}])
    with pytest.raises(imports.BodyError) as raised:
        imports.store_outputs(
            waiting, [{"key": "q2", "output": "b"}, {"key": "q1", "output": "c", "trial": 3}]
        )
    (problem,) = raised.value.problems
    assert (problem.path, problem.code) == ("outputs[1].key", "duplicate_case")
    assert [o.text for o in outputs_of(waiting)] == ["a"]


def test_a_closed_set_takes_nothing_more(waiting: OutputSet) -> None:
    imports.close_outputs(waiting, None)
    with pytest.raises(imports.StoppedError):
        imports.store_outputs(waiting, [{"key": "q1", "output": "a"}])
    assert not Output.objects.exists()
