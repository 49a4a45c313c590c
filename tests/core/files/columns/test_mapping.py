"""A row turned into a case: every field, every problem, nothing lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import (
    MISSING,
    FileProblem,
    MappedCase,
    Mapping,
    OutputText,
    Row,
    RowProblem,
    case_key,
)


def case(mapping: Mapping, **fields: Any) -> MappedCase:
    found = mapping.apply(Row(7, fields))
    assert isinstance(found, MappedCase)
    return found


def problem(mapping: Mapping, **fields: Any) -> RowProblem:
    found = mapping.apply(Row(7, fields))
    assert isinstance(found, RowProblem)
    return found


def text(value: str | None, error: str = "") -> OutputText:
    return OutputText(value, error, None, None, None, None)


def test_a_full_row_becomes_a_case() -> None:
    mapping = Mapping(
        id="id",
        input="q",
        expected="a",
        output=("out",),
        references=("refs",),
        tags=("tags",),
        metadata="meta",
        trial="try",
        latency_ms="ms",
        tokens_in="tin",
        tokens_out="tout",
        cost_usd="usd",
        error="err",
        drop=("noise",),
        references_separator=";",
        tags_separator=",",
    )
    row = {
        "id": "q1",
        "q": " in ",
        "a": "",
        "out": "text",
        "refs": "one; two;",
        "tags": "x, y,x",
        "meta": '{"m": 1}',
        "try": "2",
        "ms": "412.5",
        "tin": "30",
        "tout": "55.0",
        "usd": "4e-4",
        "err": "",
        "noise": "gone",
        "rest": "kept",
    }
    found = case(mapping, **row)
    assert found == MappedCase(
        line=7,
        key="q1",
        has_id=True,
        trial=2,
        input=" in ",
        expected="",
        references=("one", "two"),
        tags=("x", "y"),
        metadata={"m": 1, "rest": "kept"},
        outputs={"out": OutputText("text", "", 412.5, 30, 55, 0.0004)},
    )


@pytest.mark.parametrize(
    ("fields", "expected"), [({}, MISSING), ({"e": None}, None), ({"e": ""}, ""), ({"e": [1]}, [1])]
)
def test_missing_null_and_empty_stay_distinct(fields: dict[str, Any], expected: Any) -> None:
    found = case(Mapping(id="id", expected="e"), id="x", **fields)
    assert found.expected == expected
    assert found.input is MISSING


def test_the_key_is_a_hash_of_the_canonical_input() -> None:
    given_input = {"b": 1.0, "a": "é"}
    canonical = json.dumps({"a": "é", "b": 1}, separators=(",", ":"), ensure_ascii=False)
    wanted = hashlib.sha256(canonical.encode()).hexdigest()[:16]
    found = case(Mapping(input="q"), q=given_input)
    assert (found.key, found.has_id, case_key(given_input)) == (wanted, False, wanted)


@pytest.mark.parametrize(("value", "key"), [("a b", "a b"), (7, "7"), (7.0, "7"), (" x", " x")])
def test_an_id_is_its_text(value: Any, key: str) -> None:
    assert case(Mapping(id="id"), id=value).key == key


@pytest.mark.parametrize(
    ("mapping", "fields", "column", "code"),
    [
        (Mapping(id="id"), {}, "id", "missing_id"),
        (Mapping(id="id"), {"id": None}, "id", "missing_id"),
        (Mapping(id="id"), {"id": " "}, "id", "missing_id"),
        (Mapping(id="id"), {"id": "x" * 201}, "id", "id_too_long"),
        (Mapping(input="q"), {"other": 1}, "q", "missing_input"),
        (Mapping(), {"other": 1}, "", "missing_input"),
        (Mapping(id="id", trial="t"), {"id": "a", "t": "x"}, "t", "not_a_number"),
        (Mapping(id="id", trial="t"), {"id": "a", "t": "-1"}, "t", "out_of_range"),
        (Mapping(id="id", trial="t"), {"id": "a", "t": 1.5}, "t", "out_of_range"),
    ],
)
def test_an_unusable_row_is_a_problem_with_line_and_column(
    mapping: Mapping, fields: dict[str, Any], column: str, code: str
) -> None:
    found = problem(mapping, **fields)
    assert (found.line, found.column, found.code) == (7, column, code)
    assert found.message.startswith("Line 7")
    assert found.message.endswith(".")


def test_an_id_of_the_longest_length_is_accepted() -> None:
    assert case(Mapping(id="id"), id="x" * 200).key == "x" * 200


@pytest.mark.parametrize(
    "field", ["latency_ms", "latency_s", "tokens_in", "tokens_out", "cost_usd", "trial"]
)
def test_every_number_is_checked(field: str) -> None:
    mapping = Mapping.of({"id": ["id"], "output": ["o"], field: ["n"]})
    found = problem(mapping, id="a", o="x", n="-1")
    assert (found.column, found.code) == ("n", "out_of_range")


def test_seconds_become_milliseconds() -> None:
    mapping = Mapping(id="id", output=("o",), latency_s="s")
    assert case(mapping, id="a", o="x", s=0.25).outputs["o"].latency_ms == 250.0
    assert case(mapping, id="a", o="x").outputs["o"].latency_ms is None


@pytest.mark.parametrize(
    ("fields", "outputs"),
    [
        ({"o": "text"}, {"o": text("text")}),
        ({"o": ""}, {"o": text("")}),
        ({"o": {"b": 1, "a": 2.0}}, {"o": text('{"a":2,"b":1}')}),
        ({"o": 4.0}, {"o": text("4")}),
        ({}, {}),
        ({"o": None}, {"o": text(None, "the output is null")}),
        ({"e": "timeout"}, {"o": text(None, "timeout")}),
        ({"o": None, "e": "timeout"}, {"o": text(None, "timeout")}),
        ({"o": "", "e": "timeout"}, {"o": text(None, "timeout")}),
        ({"o": "partial", "e": "timeout"}, {"o": text("partial", "timeout")}),
        ({"o": "fine", "e": None}, {"o": text("fine")}),
    ],
)
def test_outputs_and_their_errors(fields: dict[str, Any], outputs: dict[str, OutputText]) -> None:
    assert case(Mapping(id="id", output=("o",), error="e"), id="a", **fields).outputs == outputs


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (["output"], ["output"]),
        (["gpt-4 output", "claude output"], ["gpt-4", "claude"]),
        (["answer_fid", "answer_gpt4"], ["fid", "gpt4"]),
        (["6b_finetuning.solution", "6b.solution"], ["6b_finetuning", "6b"]),
        (["results.gpt", "results.claude"], ["results.gpt", "results.claude"]),
        (["a output", "a response"], ["a output", "a response"]),
    ],
)
def test_runs_are_labelled_by_what_tells_their_columns_apart(
    columns: list[str], labels: list[str]
) -> None:
    assert list(Mapping(output=tuple(columns)).labels.values()) == labels


def test_a_path_reaches_into_objects_and_the_rest_stays_metadata() -> None:
    row = {"id": "a", "m": {"solution": "x", "ok": True, "n": {"z": 1, "y": 2}}, "l": [{"k": 1}]}
    before = json.dumps(row)
    mapping = Mapping(id="id", output=("m.solution",), expected="m.n.z", input="l[0].k")
    found = case(mapping, **row)
    assert (found.outputs["m"].text, found.expected, found.input) == ("x", 1, 1)
    assert found.metadata == {"m": {"ok": True, "n": {"y": 2}}, "l": [{"k": 1}]}
    assert json.dumps(row) == before


def test_a_literal_key_wins_over_a_path() -> None:
    found = case(Mapping(id="id", input="a.b"), **{"id": "x", "a.b": "literal", "a": {"b": "path"}})
    assert found.input == "literal"


@pytest.mark.parametrize("value", ["text", 5, None, {}, [], {"b": "x"}])
def test_a_path_that_leads_nowhere_is_missing(value: Any) -> None:
    assert case(Mapping(id="id", input="a.b[0].c"), id="x", a=value).input is MISSING


@pytest.mark.parametrize("column", ["a[", "a..b", "[", "a]"])
def test_a_column_that_is_no_path_is_a_name(column: str) -> None:
    assert case(Mapping(id="id", input=column), **{"id": "x", column: "v"}).input == "v"


@pytest.mark.parametrize(
    ("value", "separator", "items"),
    [
        ("a; b ;c;", ";", ("a", "b", "c")),
        ("a; b", "", ("a; b",)),
        ("", ";", ()),
        (" ; ", ";", ()),
        (None, ";", ()),
        ([" a", 4.0, None, {"x": 1}], ";", (" a", "4", '{"x":1}')),
        ('["a; b", "c"]', ";", ("a; b", "c")),
        ("[not json; x", ";", ("[not json", "x")),
        (5, "", ("5",)),
    ],
)
def test_references_are_listed(value: Any, separator: str, items: tuple[str, ...]) -> None:
    mapping = Mapping(id="id", references=("r",), references_separator=separator)
    assert case(mapping, id="x", r=value).references == items


def test_several_columns_of_references_follow_each_other() -> None:
    mapping = Mapping(id="id", references=("r1", "r2"))
    assert case(mapping, id="x", r2="b", r1="a").references == ("a", "b")


@pytest.mark.parametrize(
    ("own", "metadata"),
    [
        ({"k": 1}, {"k": 1, "rest": 2}),
        ('{"k": 1}', {"k": 1, "rest": 2}),
        ({"rest": 1}, {"meta": {"rest": 1}, "rest": 2}),
        ("plain", {"meta": "plain", "rest": 2}),
        ("{broken", {"meta": "{broken", "rest": 2}),
        (None, {"meta": None, "rest": 2}),
    ],
)
def test_own_metadata_and_unmapped_columns_are_both_kept(
    own: Any, metadata: dict[str, Any]
) -> None:
    assert case(Mapping(id="id", metadata="meta"), id="x", meta=own, rest=2).metadata == metadata


def test_a_mapping_can_be_stored_and_made_again() -> None:
    mapping = Mapping(id="id", output=("a", "b"), references_separator=";", drop=("x",))
    stored = json.loads(json.dumps(mapping.choices()))
    assert Mapping.of(stored) == mapping


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"colour": ["a"]}, "“colour” is no field"),
        ({"input": ["a", "b"]}, "takes one column, not 2: a, b"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(choices: dict[str, Sequence[str]], said: str) -> None:
    with pytest.raises(FileProblem) as caught:
        Mapping.of(choices)
    assert caught.value.code == "unknown_field"
    assert said in caught.value.text


def test_an_empty_choice_is_unmapped() -> None:
    assert Mapping.of({"input": [""], "output": [""]}) == Mapping()


def test_a_missing_column_names_what_is_there_and_what_is_near() -> None:
    with pytest.raises(FileProblem) as caught:
        Mapping(input="qestion").check(["question", "answer", "id"])
    fault = caught.value
    assert (fault.code, fault.column) == ("missing_column", "qestion")
    assert "“qestion” (for input)" in fault.text
    assert "Found: question, answer, id" in fault.text
    assert "Did you mean question?" in fault.text


@pytest.mark.parametrize(("count", "listed"), [(0, "none"), (20, "c19. "), (21, "c19, …. ")])
def test_a_missing_column_lists_twenty_columns_at_most(count: int, listed: str) -> None:
    with pytest.raises(FileProblem) as caught:
        Mapping(input="q").check([f"c{number}" for number in range(count)])
    assert listed in caught.value.text
    assert "c20" not in caught.value.text


def test_needed_fields_must_be_mapped() -> None:
    with pytest.raises(FileProblem) as caught:
        Mapping(expected="a").check(["a", "b"], needed=["id|input"])
    assert caught.value.code == "missing_column"
    assert "one for id or input" in caught.value.text
    Mapping(input="a").check(["a"], needed=["id|input"])


def test_a_rare_path_is_found_in_the_sample() -> None:
    mapping = Mapping(input="m.rare")
    sample = [Row(1, {"m": {}}), Row(2, {"m": {"rare": None}})]
    mapping.check(["m"], sample)
    with pytest.raises(FileProblem):
        mapping.check(["m"], sample[:1])


def test_columns_behind_the_sample_are_not_refused() -> None:
    Mapping(input="late").check(["early"], is_open=True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(["id", "a", "b", "c.d", "e"]), json_values))
def test_what_is_not_mapped_is_never_lost(fields: dict[str, Any]) -> None:
    found = Mapping(id="id", input="a", metadata="b").apply(Row(1, fields))
    if isinstance(found, MappedCase):
        for name in fields.keys() - {"id", "a", "b"}:
            assert found.metadata[name] == fields[name]


@pytest.mark.parametrize(
    ("column", "given", "left"),
    [
        ("model.output", {"model": {"output": "x"}}, {}),
        ("model.output", {"model": {"output": "x", "name": "m"}}, {"model": {"name": "m"}}),
        ("a.b.output", {"a": {"b": {"output": "x"}}}, {}),
        ("a.b.output", {"a": {"b": {"output": "x"}, "c": 1}}, {"a": {"c": 1}}),
        ("a.b.output", {"a": {"b": {}}}, {"a": {"b": {}}}),
        ("a.b.output", {"a": {}}, {"a": {}}),
        ("a.b.output", {"a": [{"output": "x"}]}, {"a": [{"output": "x"}]}),
    ],
)
def test_a_mapped_member_leaves_no_empty_object_behind(
    column: str, given: dict[str, Any], left: dict[str, Any]
) -> None:
    assert case(Mapping(id="id", output=(column,)), id="1", **given).metadata == left
