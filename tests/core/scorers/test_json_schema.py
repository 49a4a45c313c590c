"""The json_schema scorer: what it accepts, and schemas meant to hurt."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped] # it has no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.scorers.json_schema import MAX_EXPANDED
from tests.support.scoring import one, refused
from tests.support.speed import quick_enough

PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "additionalProperties": False,
}
TREE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("schema", "output", "score"),
    [
        (None, '{"a": 1}', 1.0),
        (None, "0", 1.0),
        (True, "[]", 1.0),
        (False, "[]", 0.0),
        ({}, "null", 1.0),
        (PERSON, '{"name": "Ana", "age": 3, "tags": ["a", "b"]}', 1.0),
        (PERSON, {"name": "Ana"}, 1.0),
        (PERSON, '{"age": 3}', 0.0),
        (PERSON, '{"name": ""}', 0.0),
        (PERSON, '{"name": "Ana", "age": -1}', 0.0),
        (PERSON, '{"name": "Ana", "age": 1.5}', 0.0),
        (PERSON, '{"name": "Ana", "age": 1.0}', 1.0),
        (PERSON, '{"name": "Ana", "age": true}', 0.0),
        (PERSON, '{"name": "Ana", "tags": ["a", "a"]}', 0.0),
        (PERSON, '{"name": "Ana", "extra": 1}', 0.0),
        (PERSON, "[]", 0.0),
        ({"const": 1}, "1.0", 1.0),
        ({"const": 1}, "true", 0.0),
        ({"enum": ["a", None]}, "null", 1.0),
        ({"pattern": "^a+$"}, '"aaa"', 1.0),
        ({"pattern": "^a+$"}, '"aab"', 0.0),
        ({"multipleOf": 0.01}, "1.13", 1.0),
        ({"maximum": 5}, "1" * 400, 0.0),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "1", 0.0),
        ({"unevaluatedProperties": False, "properties": {"a": True}}, '{"a":1,"b":2}', 0.0),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "required": ["a"]}, "{}", 0.0),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "required": ["a"]}, "{}", 0.0),
        ({"format": "email"}, '"no address"', 0.0),
        ({"format": "email"}, '"a@example.org"', 1.0),
        ({"format": "date"}, '"2024-02-29"', 1.0),
        ({"format": "date"}, '"2026-02-30"', 0.0),
        ({"format": "date-time"}, '"2026-01-01T00:00:00Z"', 1.0),
        ({"format": "date-time"}, '"2026-01-01"', 0.0),
        ({"format": "uri"}, '"no address"', 0.0),
        ({"format": "uuid"}, '"no address"', 0.0),
        ({"format": "ipv4"}, '"256.1.1.1"', 0.0),
        ({"format": "date"}, "20260230", 1.0),  # of texts alone
        ({"format": "our own"}, '"anything"', 1.0),
        (TREE, '{"next": {"next": {}}}', 1.0),
        (TREE, '{"next": {"next": 1}}', 0.0),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": "zzz"}', 0.0),
    ],
)
def test_json_schema(schema: Any, output: Any, score: float) -> None:
    result = one("json_schema", output, None, {"schema": schema})
    assert (result.score, result.code) == (score, "")
    assert bool(result.reason) == (score == 0.0)


@pytest.mark.parametrize(
    ("output", "code"),
    [("plain", "invalid_json"), ("", "invalid_json"), ('{"a":1,"a":2}', "duplicate_key")],
)
def test_unreadable_outputs_fail_with_a_code(output: str, code: str) -> None:
    for schema in (None, {"type": "object"}):
        result = one("json_schema", output, None, {"schema": schema})
        assert (result.score, result.verdict, result.code) == (0.0, "fail", code)


def test_the_reason_says_what_and_where() -> None:
    result = one("json_schema", '{"name": "x", "tags": [1]}', None, {"schema": PERSON})
    assert result.reason == '1 is not of type "string" (at tags[0])'
    long = one("json_schema", {"name": "x" * 5000, "age": "y" * 5000}, None, {"schema": PERSON})
    assert long.reason == "type does not hold (at age)"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "zzz"},
        {"minimum": "1"},
        {"pattern": "(a"},
        {"pattern": "(?=a)b"},
        {"pattern": "((a{1000}){1000}){1000}"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"$id": "http://example.org/a", "$ref": "b"},
        {"$ref": "#/$defs/missing"},
        {"$schema": "http://example.org/unknown"},
        {"enum": ["x" * 200_000]},
        "a text",
        5,
        [],
    ],
)
def test_a_schema_that_cannot_be_used_is_a_config_error(schema: Any) -> None:
    assert list(refused("json_schema", {"schema": schema})) == ["schema"]


def _doubling(reference: str, **names: str) -> dict[str, Any]:
    """Forty definitions, each asking for the next one twice."""
    definitions: dict[str, Any] = {"a40": {"type": "string"}}
    for n in range(40):
        following = {"$ref": reference.format(n + 1)}
        definitions[f"a{n}"] = {"anyOf": [following, following]}
    for name, definition in definitions.items():
        definition.update({key: text.format(name[1:]) for key, text in names.items()})
    return {"$ref": reference.format(0), "$defs": definitions}


@pytest.mark.parametrize(
    "schema",
    [
        _doubling("#/$defs/a{}"),
        _doubling("#a{}", **{"$anchor": "a{}"}),
        {"$id": "http://example.org/root", **_doubling("a{}", **{"$id": "a{}"})},
        {
            "$defs": {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(2_000)},
            "$ref": "#/$defs/a0",
        },
    ],
    ids=["pointers", "anchors", "ids", "chain"],
)
def test_references_that_multiply_are_refused(schema: dict[str, Any]) -> None:
    with quick_enough(2):
        assert "references" in refused("json_schema", {"schema": schema})["schema"][0]


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"anyOf": [{"type": "array", "items": {"$ref": "#"}}] * 2},
        {"oneOf": [{"type": "array", "items": {"$ref": "#"}}] * 2},
        {"allOf": [{"items": {"$ref": "#"}}] * 2, "type": "array"},
        {"$dynamicAnchor": "n", "anyOf": [{"type": "array", "items": {"$dynamicRef": "#n"}}] * 2},
        {"pattern": "(a+)+$"},
    ],
)
def test_no_schema_blocks_or_ends_the_process(schema: dict[str, Any]) -> None:
    with quick_enough(2):
        for output in (_nested(60), "[" * 60 + "]" * 60, '"' + "a" * 50_000 + 'b"'):
            assert one("json_schema", output, None, {"schema": schema}).status == "scored"


def test_long_outputs_are_not_checked_against_patterns() -> None:
    result = one("json_schema", '"' + "a" * 200_000 + '"', None, {"schema": {"pattern": "a"}})
    assert (result.status, result.code) == ("error", "too_large")
    fine = one("json_schema", '"' + "a" * 200_000 + '"', None, {"schema": {"type": "string"}})
    assert fine.score == 1.0


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "age", "tags", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
SCHEMAS = [
    PERSON,
    {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]},
    {"oneOf": [{"type": "array", "minItems": 1}, {"type": "array", "maxItems": 1}]},
    {"not": {"enum": [None, 1, "a"]}},
    {"type": "array", "prefixItems": [{"type": "integer"}], "contains": {"const": 1}},
    {"if": {"required": ["age"]}, "then": {"properties": {"age": {"type": "integer"}}}},
]


@given(VALUES, st.sampled_from(SCHEMAS))
def test_it_agrees_with_an_independent_validator(value: Any, schema: dict[str, Any]) -> None:
    result = one("json_schema", {"v": value}, None, {"schema": {"properties": {"v": schema}}})
    oracle = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert result.score == float(oracle)


def test_a_schema_may_have_ten_thousand_subschemas() -> None:
    """The object around and its list count, too."""
    largest = MAX_EXPANDED - 2
    assert one("json_schema", "1", None, {"schema": {"allOf": [{}] * largest}}).score == 1.0
    errors = refused("json_schema", {"schema": {"allOf": [{}] * (largest + 1)}})
    assert errors == {"schema": ["grows too large when its references are followed"]}


def test_formats_may_say_nothing() -> None:
    config = {"schema": {"format": "date"}, "check_formats": False}
    assert one("json_schema", '"2026-02-30"', None, config).score == 1.0


def test_a_format_that_does_not_hold_is_named() -> None:
    schema = {"properties": {"day": {"format": "date"}}}
    result = one("json_schema", '{"day": "soon"}', None, {"schema": schema})
    assert result.reason == '"soon" is not a "date" (at day)'
