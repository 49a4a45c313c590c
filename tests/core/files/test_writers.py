"""Rows into files and back through our own readers, whatever texts they hold."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from itertools import islice
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.files import (
    MISSING,
    Format,
    MappedCase,
    Row,
    Source,
    detect_format,
    guess_mapping,
    read_rows,
)
from scoring.core.files.formulas import FORMULA_SIGNS
from scoring.core.files.writers import JsonText, cell_text, csv_lines, json_lines, jsonl_lines
from tests.support.thoroughness import examples

COLUMNS = ("key", "input", "expected", "references", "tags", "metadata")


class Stored(NamedTuple):
    """A case as a database keeps it; `expected` is None where it has none."""

    key: str
    input: str
    expected: str | None
    references: str = "[]"
    tags: str = "[]"
    metadata: str = "{}"

    @property
    def fields(self) -> dict[str, Any]:
        return {
            name: text if name == "key" else JsonText(text)
            for name, text in zip(COLUMNS, self, strict=True)
            if text is not None
        }


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stored(case: MappedCase) -> Stored:
    expected = None if case.expected is MISSING else written(case.expected)
    own = (case.references, case.tags, case.metadata)
    return Stored(case.key, written(case.input), expected, *map(written, own))


def read_back(content: bytes, name: str) -> list[Stored]:
    """The cases as an upload reads them whose every guess is taken."""
    source = Source(BytesIO(content), name)
    found = detect_format(source)
    mapping = guess_mapping(found.columns, found.sample, is_open=found.is_open)
    mapping.check(found.columns, needed=["id|input"], is_open=found.is_open)
    assert mapping.output == ()
    rows = list(read_rows(source, found))
    cases = [mapping.apply(row) for row in rows if isinstance(row, Row)]
    assert len(cases) == len(rows)
    return [stored(case) for case in cases if isinstance(case, MappedCase)]


def as_csv(cases: Sequence[Stored], *, is_verbatim: bool = False) -> bytes:
    rows = [[case.fields.get(name) for name in COLUMNS] for case in cases]
    return b"".join(csv_lines(COLUMNS, rows, is_verbatim=is_verbatim))


NASTY = [
    *("", " ", "\r", "\n", "a\rb", "\t=1", "=cmd|' /C calc'!A0", "+1", "-1", "@x", "'=1", "''=1"),
    *("\u202eevil\u202c", "\x01\x1b[31m", "\u2028\u2029\x85", "\ufeff", "\U0001f600", "a;=1+1"),
    *('"', '""', "a,b", "[", "[1]", '["a"]', "{", '{"a":1}', "null", "true", "1.0", "\uff1dx"),
]
texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.text(st.sampled_from("=+-@\t\r\n'\",;|[]{} a"), max_size=8),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**30, max_value=10**60),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
keys = texts.map(lambda text: text[:200]).filter(lambda text: bool(text.strip()))
listed = st.lists(texts, max_size=3)


def cases_of(input_: st.SearchStrategy[Any], expected: st.SearchStrategy[Any]) -> Any:
    case = st.builds(
        Stored,
        key=keys,
        input=input_.map(written),
        expected=expected,
        references=listed.map(written),
        tags=st.lists(texts, max_size=3, unique=True).map(written),
        metadata=st.dictionaries(texts, values, max_size=3).map(written),
    )
    return st.lists(case, min_size=1, max_size=5, unique_by=lambda case: case.key)


@settings(max_examples=examples(100), deadline=None)
@given(cases_of(values, st.none() | values.map(written)))
def test_json_lines_and_json_hold_cases_character_for_character(cases: list[Stored]) -> None:
    fields = [case.fields for case in cases]
    assert read_back(b"".join(jsonl_lines(fields)), "cases.jsonl") == cases
    assert read_back(b"".join(json_lines(fields)), "cases.json") == cases


@settings(max_examples=examples(100), deadline=None)
@given(cases=cases_of(texts, texts.map(written)))
def test_csv_holds_texts_character_for_character_and_no_formula(cases: list[Stored]) -> None:
    for is_verbatim in (True, False):
        assert read_back(as_csv(cases, is_verbatim=is_verbatim), "cases.csv") == cases
    rows = list(csv.reader(StringIO(as_csv(cases).decode(), newline="")))
    assert rows[0] == [*COLUMNS, "_marked"]
    assert [cell for row in rows for cell in row if cell[:1] in FORMULA_SIGNS] == []
    for case, row in zip(cases, rows[1:], strict=True):
        names = json.loads(row[-1] or "[]")
        plain = [cell[1:] if name in names else cell for name, cell in zip(COLUMNS, row[:-1])]  # noqa: B905  the mark has no name here
        assert plain == [cell_text(case.fields[name]) for name in COLUMNS]


def test_absent_null_and_empty_stay_apart_in_json_and_not_in_csv() -> None:
    cases = [Stored(f"q{n}", '""', expected) for n, expected in enumerate([None, "null", '""'])]
    content = b"".join(jsonl_lines(case.fields for case in cases))
    assert [case.expected for case in read_back(content, "cases.jsonl")] == [None, "null", '""']
    assert [case.expected for case in read_back(as_csv(cases), "cases.csv")] == ['""'] * 3


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (JsonText("null"), ""),
        (JsonText('"\\u00e9\\n"'), "é\n"),
        (JsonText('"null"'), "null"),
        (JsonText("12345678901234567890123"), "12345678901234567890123"),
        (JsonText('{"a": 1.50}'), '{"a": 1.50}'),
        (0.1, "0.1"),
        (True, "true"),
        ([], "[]"),
        ({"a": None}, '{"a":null}'),
    ],
)
def test_a_cell_shows_texts_plainly_and_other_values_as_json(value: Any, cell: str) -> None:
    assert cell_text(value) == cell


def test_a_value_reaches_json_in_the_very_characters_it_is_kept_in() -> None:
    row = {"a": JsonText('{"z":1.50,"a":[1e2,-0.0,12345678901234567890123]}')}
    assert next(jsonl_lines([row])) == b'{"a":{"z":1.50,"a":[1e2,-0.0,12345678901234567890123]}}\n'


def test_a_value_kept_in_several_lines_is_written_in_one() -> None:
    row = {"a": JsonText('{\n  "b": "c\\nd"\r\n}')}
    first, last = jsonl_lines([row])
    assert json.loads(first) == {"a": {"b": "c\nd"}}
    assert first.count(b"\n") == 1
    assert b"\r" not in first
    assert last == b'{"_rows": 1}\n'


def test_a_cut_stream_shows() -> None:
    def endless() -> Iterator[dict[str, Any]]:
        yield {"key": "q1"}
        yield {"key": "q2"}
        raise OSError

    for lines, end in ((jsonl_lines, b'{"_rows"'), (json_lines, b"]")):
        stream = lines(endless())
        begun = b"".join(islice(stream, 2))
        assert b"q2" in begun
        with pytest.raises(OSError):  # noqa: PT011  the one above
            next(stream)
        assert end not in begun


def test_nothing_is_a_file_too() -> None:
    assert b"".join(jsonl_lines([])) == b'{"_rows": 0}\n'
    assert json.loads(b"".join(json_lines([]))) == []
    assert b"".join(csv_lines(["key"], [])) == b'"key","_marked"\r\n'


def test_rows_are_written_one_by_one() -> None:
    taken: list[int] = []

    def rows() -> Iterable[dict[str, int]]:
        for n in range(3):
            taken.append(n)
            yield {"n": n}

    for lines in (jsonl_lines(rows()), json_lines(rows())):
        taken.clear()
        next(iter(lines))
        assert taken == [0]


@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_an_expected_value_behind_a_thousand_cases_without_one_is_found(kind: Format) -> None:
    cases = [Stored(f"q{n}", written(f"question {n}"), None) for n in range(1_200)]
    cases.append(Stored("late", '"?"', '"yes"'))
    lines = jsonl_lines if kind == "jsonl" else json_lines
    content = b"".join(lines(case.fields for case in cases))
    assert "expected" in detect_format(Source(BytesIO(content), f"cases.{kind}")).columns
    assert read_back(content, f"cases.{kind}")[-1] == cases[-1]


def test_what_is_inside_a_case_is_not_taken_for_an_output() -> None:
    inner = written({"output": "an answer", "question": "?"})
    cases = [Stored("q1", inner, inner, metadata=inner)] * 1
    assert read_back(b"".join(jsonl_lines(case.fields for case in cases)), "cases.jsonl") == cases
