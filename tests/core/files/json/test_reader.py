"""Rows of JSON and JSON Lines files, read piece by piece."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Row, RowProblem, Source, decoding, detect_format
from scoring.core.files.json.reader import read_json, read_jsonl

Reader = Callable[[Source], Iterator[Row | RowProblem]]


def read(reader: Reader, content: bytes | str) -> list[Row | RowProblem]:
    raw = content.encode() if isinstance(content, str) else content
    return list(reader(Source(io.BytesIO(raw))))


def problem(reader: Reader, content: bytes | str) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        read(reader, content)
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_object_a_line(end: str) -> None:
    rows = read(read_jsonl, end.join(['{"a": 1}', "", " ", '{"b": null, "c": ""}', ""]))
    assert rows == [Row(1, {"a": 1}), Row(4, {"b": None, "c": ""})]


def test_values_keep_their_types_to_the_digit() -> None:
    line = '{"i": 12345678901234567890123, "f": 0.1, "t": true, "n": null, "l": [1, {"x": []}]}'
    (row,) = read(read_jsonl, line)
    assert row == Row(1, json.loads(line))


def test_line_separators_of_unicode_do_not_cut_a_line() -> None:
    assert read(read_jsonl, '{"a": "x\u2028y\x85z"}\n') == [Row(1, {"a": "x\u2028y\x85z"})]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("not json", "invalid_json", "at column 1"),
        ('{"a": 1,}', "invalid_json", "column"),
        ('{"a": "cut', "invalid_json", "column 7"),
        ("[1]", "wrong_shape", "a list"),
        ("null", "wrong_shape", "null"),
        ("1.5", "wrong_shape", "a number"),
        ('"text"', "wrong_shape", "a text"),
        ("true", "wrong_shape", "true or false"),
        ('{"a": {"b": 1, "b": 2}}', "duplicate_key", "a.b"),
        ('{"a": NaN}', "not_finite", "a"),
        ('{"a": -Infinity}', "not_finite", "a"),
        ('{"a": 1e999}', "not_finite", "a"),
        ('{"a": ' + "1" * 5_000 + "}", "number_too_long", "digits"),
        ('{"a": ' + "[" * 65 + "]" * 65 + "}", "too_deep", "64"),
        ('{"a": "\\ud800"}', "invalid_unicode", "a"),
        ('{"a": "x\\u0000"}', "nul_character", "a"),
        ('{"a": "x\0"}', "invalid_json", "column"),
        (json.dumps({f"k{place}": 0 for place in range(10_001)}), "too_many_keys", "keys"),
    ],
)
def test_a_bad_row_is_named_and_the_next_one_still_read(line: str, code: str, said: str) -> None:
    good = '{"a": 1}'
    bad, after = read(read_jsonl, f"{line}\n{good}\n")
    assert isinstance(bad, RowProblem)
    assert (bad.line, bad.code) == (1, code)
    assert said in bad.message
    assert bad.message.startswith("Line 1")
    assert after == Row(2, {"a": 1})


def test_a_bad_item_of_a_list_is_named_and_the_next_one_still_read() -> None:
    first, bad, last = read(read_json, '[{"a": 1},\n{"a": {"b": 1, "b": 2}},\n{"a": 3}]')
    assert (first, last) == (Row(1, {"a": 1}), Row(3, {"a": 3}))
    assert isinstance(bad, RowProblem)
    assert (bad.line, bad.code) == (2, "duplicate_key")
    assert bad.message.startswith("Item 2 (line 2): ")


@pytest.mark.parametrize(
    ("value", "column", "said"),
    [
        ('{"a": {"b": [0, NaN]}}', "a.b[1]", "The number at a.b[1] is not finite. Correct it."),
        ('{"a": {"b c": 1, "b c": 2}}', 'a["b c"]', 'The key a["b c"] appears twice. Correct it.'),
        ('{"a": "x\\u0000"}', "a", "The text at a holds a NUL character. Correct it."),
        ('{"\\ud800": 1, "\\ud800": 2}', "\ufffd", None),
        (f'{{"{"k" * 9_000}": 1e999}}', f"{'k' * 200}…", None),
        (f'{{"a": {"[" * 80}{"]" * 80}}}', "", "Nested deeper than 64 levels. Correct it."),
        ('{"a": 1', "", "Expecting ',' delimiter at column 8. Correct it."),
    ],
)
def test_the_place_inside_a_row_is_its_column(value: str, column: str, said: str | None) -> None:
    bad, *_ = read(read_jsonl, f'{value}\n{{"a": 1}}\n')
    assert isinstance(bad, RowProblem)
    assert bad.column == column
    assert said is None or bad.short_message == said
    assert len(bad.message) < 300


@pytest.mark.parametrize("content", ["", " ", "\n\n", "\ufeff\n"])
def test_no_line_means_no_rows(content: str) -> None:
    assert problem(read_jsonl, content).code == "no_rows"


def test_a_line_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_LINE", 50)
    found = problem(read_jsonl, '{"a": 1}\n{"a": "' + "x" * 50 + '"}\n')
    assert (found.code, found.line) == ("line_too_long", 2)


@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1}, {"a": 2}]',
        '\ufeff [\n{"a": 1}\n,{"a":\n2}\n]\n',
        '{"cases": [{"a": 1}, {"a": 2}]}',
        '{"version": "1", "about": {"x": [1]}, "cases": [{"a": 1}, {"a": 2}], "n": 2}',
    ],
)
def test_a_list_of_objects_alone_or_inside_one_object(content: str) -> None:
    assert [row.fields for row in read(read_json, content) if isinstance(row, Row)] == [
        {"a": 1},
        {"a": 2},
    ]


def test_rows_of_a_list_know_their_first_line() -> None:
    rows = read(read_json, '[\n  {"a":\n 1},\r\n\r\n  {"a": 2},\r{"a": 3}]')
    assert [row.line for row in rows] == [2, 5, 6]


def test_a_bad_item_says_which_and_where() -> None:
    _, bad = read(read_json, '[{"a": 1},\n7]')
    assert bad == RowProblem(
        2,
        "",
        "wrong_shape",
        "Item 2 (line 2): this is a number. Each row must be one JSON object: {…}.",
    )


@pytest.mark.parametrize(
    ("content", "code", "line", "said"),
    [
        ("[]", "no_rows", None, "empty"),
        ('{"cases": []}', "no_rows", None, "empty"),
        ('{"a": 1}', "wrong_shape", 1, "without a list"),
        ("{}", "wrong_shape", 1, "without a list"),
        ('"text"', "wrong_shape", 1, "a text"),
        ("12", "wrong_shape", 1, "a number"),
        ('{"a": [{}],\n"b": [{}]}', "wrong_shape", 2, "two lists, “a” and “b”"),
        ('[{"a": 1}', "invalid_json", 1, "a comma or ]"),
        ('[{"a": 1},\n', "invalid_json", 2, "Expecting value"),
        ('[{"a": 1}\n{"a": 2}]', "invalid_json", 2, "a comma or ]"),
        ('[\n{"a": 1},\n{"a": tru}]', "invalid_json", 3, "Expecting value"),
        ('[{"a": "cut', "invalid_json", 1, "Unterminated string"),
        ('[{"a": 1}]\n[]', "invalid_json", 2, "follows the end"),
        ("{1: 2}", "invalid_json", 1, "a name in quotes"),
        ('{"a" 1}', "invalid_json", 1, "a colon"),
        ('{"a": 1 "b": 2}', "invalid_json", 1, "a comma or }"),
        ('{"a": [{}], }', "invalid_json", 1, "Expecting value"),
        ("nonsense", "invalid_json", 1, "Expecting value"),
        ("[" + "[" * 200_000, "too_deep", 1, "too deep"),
    ],
)
def test_what_ends_the_document_says_where_and_what(
    content: str, code: str, line: int | None, said: str
) -> None:
    found = problem(read_json, content)
    assert (found.code, found.line) == (code, line)
    assert said in found.text


def test_a_value_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.core.files.json.reader.MAX_LINE", 1_000)
    monkeypatch.setattr(decoding, "CHUNK", 100)
    source = Source(io.BytesIO(b'[{"a": 1},\n{"a": "' + b"x" * 100_000 + b'"}]'))
    monkeypatch.setattr(source, "peek", lambda _: b"")
    with pytest.raises(FileProblem) as caught:
        list(read_json(source))
    assert (caught.value.code, caught.value.line) == ("line_too_long", 2)


keys = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
objects = st.lists(st.dictionaries(keys, values, max_size=3), min_size=1, max_size=5)


@given(objects, st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
def test_any_chunking_gives_what_json_loads_gives(
    written: list[dict[str, Any]], size: int, indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(written, indent=indent, ensure_ascii=is_ascii)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(decoding, "CHUNK", size)
        patched.setattr(Source, "peek", lambda self, _: self._head)
        rows = read(read_json, text)
    assert [row.fields for row in rows if isinstance(row, Row)] == json.loads(text)


@given(objects, st.booleans())
def test_lines_give_what_json_loads_gives(written: list[dict[str, Any]], is_ascii: bool) -> None:
    text = "\n".join(json.dumps(item, ensure_ascii=is_ascii) for item in written)
    rows = read(read_jsonl, text)
    assert [row.fields for row in rows if isinstance(row, Row)] == written


@given(
    st.text(st.sampled_from('[]{}",:1 \nae\\'), max_size=40),
    st.sampled_from([read_json, read_jsonl]),
)
def test_no_text_crashes_a_reader(text: str, reader: Reader) -> None:
    try:
        codes = {row.code for row in read(reader, text) if isinstance(row, RowProblem)}
    except FileProblem as fault:
        codes = {fault.code}
    assert codes <= {"invalid_json", "wrong_shape", "no_rows", "duplicate_key"}


def lines_of(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def values_of(content: bytes) -> list[Any]:
    return [row.fields for row in read(read_jsonl, content) if isinstance(row, Row)]


def test_the_last_line_is_no_row() -> None:
    assert values_of(lines_of({"a": 1}, {"a": 2}, {"_rows": 2}) + b"\n \n") == [{"a": 1}, {"a": 2}]
    assert detect_format(Source(BytesIO(lines_of({"a": 1}, {"_rows": 1})))).columns == ("a",)


@pytest.mark.parametrize(
    "rows", [[{"_rows": 0}, {"a": 1}], [{"a": 1}, {"_rows": "1"}], [{"_rows": True}, {"_rows": 1}]]
)
def test_a_line_that_only_looks_like_the_last_is_a_row(rows: list[dict[str, Any]]) -> None:
    kept = [row for row in rows if row != {"_rows": 1} or row is not rows[-1]]
    assert values_of(lines_of(*rows)) == kept


@pytest.mark.parametrize("told", [0, 1, 3, -1, 10**30])
def test_another_number_of_rows_than_the_last_line_tells_is_refused(told: int) -> None:
    with pytest.raises(FileProblem) as fault:
        values_of(lines_of({"a": 1}, {"a": 2}, {"_rows": told}))
    assert (fault.value.code, fault.value.line) == ("row_count", 3)
    assert "there are 2. Export the file again" in fault.value.text
