"""YAML as another spelling of JSON, against PyYAML's own loader where that reads the same."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.core.contract import CaseProblem
from scoring.core.suites.yaml_text import MAX_VALUES, parse_yaml, write_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("- a\n- 2.5\n- 1e3\n- .5", ["a", 2.5, 1000.0, 0.5]),
        ("a: no\nb: yes\nc: on\nd: NO", {"a": "no", "b": "yes", "c": "on", "d": "NO"}),
        ("yes: 1\n1: 2\nnull: 3\ntrue: 4", {"yes": 1, "1": 2, "null": 3, "true": 4}),
        ("a: true\nb: False", {"a": True, "b": False}),
        ("a:\nb: ~\nc: null\nd: ''", {"a": None, "b": None, "c": None, "d": ""}),
        ("a: '1'\nb: \"true\"", {"a": "1", "b": "true"}),
        ("a: 2026-11-22\nb: 12:30:45", {"a": "2026-11-22", "b": "12:30:45"}),
        ("a: 010\nb: 0o10\nc: 0x1F\nd: 1_000", {"a": 10, "b": 8, "c": 31, "d": "1_000"}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: >-\n  one\n  two\n", {"a": "one two"}),
        ("{a: [1, {b: c}]}", {"a": [1, {"b": "c"}]}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("# only a comment", None),
        ("", None),
        ("--- a\n...", "a"),
        (json.dumps({"a": ["\u2028", "\n", 1.5]}), {"a": ["\u2028", "\n", 1.5]}),
    ],
)
def test_a_text_is_read_by_the_core_schema(text: str, value: Any) -> None:
    assert repr(parse_yaml(text)) == repr(value)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("a: *x", "invalid_yaml", "aliases are not read; write the value out, line 1"),
        ("a: &x 1\nb: 2", "invalid_yaml", "anchors"),
        ("a: &x [1]\nb: [*x, *x]", "invalid_yaml", "anchors"),
        ("a: !!python/object/apply:os.system ['x']", "invalid_yaml", "the tag"),
        ("a: !!str 1", "invalid_yaml", "the tag"),
        ("a: !own 1", "invalid_yaml", "the tag"),
        ("a: 1\na: 2", "duplicate_key", "'a' is there twice, line 2"),
        ("[1]: 2", "invalid_yaml", "key has to be a text"),
        ("a: 1\n---\nb: 2", "invalid_yaml", "a second document begins, line 2"),
        ("a: [1", "invalid_yaml", "line"),
        ("a: 'x", "invalid_yaml", "line"),
        ("\ta: 1", "invalid_yaml", "line 1"),
        ("a: .inf", "not_finite", ""),
        ("a: .nan", "not_finite", ""),
        ("a: 1e999", "not_finite", ""),
        ("a: \x07", "invalid_yaml", ""),
        ("[" * 100 + "]" * 100, "too_deep", "64"),
        ("[" * 200_000, "too_deep", "64"),
        ("- a\n" * (MAX_VALUES + 1), "too_many_keys", "50,000"),
    ],
)
def test_what_json_has_nothing_like_is_refused(text: str, code: str, says: str) -> None:
    with pytest.raises(CaseProblem) as caught:
        parse_yaml(text)
    assert caught.value.code == code
    assert says in caught.value.text


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=30)
    | st.sampled_from(["yes", "1e3", "0o7", "~", " a", "a: b", "- x", "a\n b\n", "\n\n a", "1:2"])
    | st.from_regex(r"[ \n\t#:|>'\"-]{1,9}", fullmatch=True)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
@example({"\x85": None})
@example(["\x85", 1, 1.5, True, None, {}])
def test_what_is_written_is_read_back(value: Any) -> None:
    assert repr(parse_yaml(write_yaml(value))) == repr(value)


@given(VALUES)
def test_what_is_written_is_read_alike_by_any_yaml_loader(value: Any) -> None:
    assert yaml.safe_load(write_yaml(value)) == value


@given(VALUES)
def test_json_is_yaml(value: Any) -> None:
    text = json.dumps(value)
    if "\\ud" not in text.lower():  # JSON writes characters beyond 16 bits as two escapes
        assert repr(parse_yaml(text)) == repr(value)


@given(st.text(max_size=200))
def test_no_text_does_anything_but_read_or_be_refused(text: str) -> None:
    with suppress(CaseProblem):
        json.dumps(parse_yaml(text), allow_nan=False)


def test_long_texts_keep_their_lines() -> None:
    written = write_yaml({"rubric": "One.\nTwo: three.\n", "list": ["a"]})
    assert written == "rubric: |\n  One.\n  Two: three.\nlist:\n  - a\n"
