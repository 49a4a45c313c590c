"""Whatever bytes arrive: rows, or the problems that are known. Nothing else, and soon."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.core.files import (
    FileProblem,
    MappedCase,
    Row,
    RowProblem,
    Source,
    detect_format,
    guess_mapping,
    read_rows,
)
from tests.support.thoroughness import examples
from tests.support.workbooks import packed, parts_of, row_xml, sheet_xml, texts_xml

NAMES = st.sampled_from(
    ["a.csv", "a.tsv", "a.json", "a.jsonl", "a.xlsx", "a.xls", "a", "a.csv.gz", "a.xlsx.gz", ".gz"]
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "encoding": st.sampled_from(["utf-8", "utf-16", "utf-16-le", "cp1252", "utf-7", "rot13"]),
        "delimiter": st.sampled_from([",", ";", "\t", "x", "", '"', "\n", "ab"]),
        "quote": st.sampled_from(['"', "'", "none"]),
        "header": st.sampled_from(["yes", "no"]),
        "sheet": st.sampled_from(["", "A", "B"]),
    },
)
PIECES = st.sampled_from(
    [
        *("id", "input", "output", "expected", ",", ";", "\t", '"', '""', "'", "\n", "\r", "\r\n"),
        *("\0", "\ufeff", "{", "}", "[", "]", ":", '{"a": 1}', "1e999", "NaN", "null", "\\ud800"),
        *("\x1f", "ä", "😀", "\u2028", "999999999999999999999", '"a":', "true", " "),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
many = settings(
    max_examples=examples(150), deadline=5_000, suppress_health_check=[HealthCheck.too_slow]
)


def read(content: bytes, name: str, options: dict[str, Any]) -> list[Row | RowProblem]:
    """All rows, each also mapped as guessed; a FileProblem ends them."""
    source = Source(io.BytesIO(content), name)
    rows: list[Row | RowProblem] = []
    with suppress(FileProblem):
        found = detect_format(source, **options)
        mapping = guess_mapping(found.columns, found.sample, is_open=found.is_open)
        mapping.check(found.columns, found.sample, is_open=found.is_open)
        for row in read_rows(source, found):
            rows.append(row)
            if isinstance(row, Row):
                assert isinstance(mapping.apply(row), MappedCase | RowProblem)
    for row in rows:
        if isinstance(row, Row):
            "".join(str(value) for value in row.fields.values()).encode("utf-8")
            assert "\0" not in str(list(row.fields.values())).replace("\\x00", "\0")
    return rows


@many
@given(st.binary(max_size=400), NAMES, OPTIONS)
def test_any_bytes(content: bytes, name: str, options: dict[str, Any]) -> None:
    read(content, name, options)
    read(gzip.compress(content), f"{name}.gz", options)


@many
@given(st.lists(PIECES, max_size=60), NAMES, OPTIONS, st.sampled_from(["utf-8", "utf-16"]))
def test_pieces_of_tables_and_objects(
    pieces: list[str], name: str, options: dict[str, Any], encoding: str
) -> None:
    read("".join(pieces).encode(encoding), name, options)


@many
@given(st.lists(JSON, max_size=5))
def test_any_json(values: list[Any]) -> None:
    lines = "\n".join(json.dumps(value) for value in values).encode()
    read(lines, "a.jsonl", {})
    read(json.dumps(values).encode(), "a.json", {})
    read(json.dumps({"rows": values}).encode(), "a.json", {})


CELL = st.builds(
    lambda kind, ref, style, inner: f'<c t="{kind}" r="{ref}" s="{style}">{inner}</c>',
    st.sampled_from(["n", "s", "b", "str", "inlineStr", "d", "e", "x", ""]),
    st.sampled_from(["A1", "B1", "C9", "XFD1", "XFE1", "ZZZZ1", "1", "", "a1", "ä1"]),
    st.sampled_from(["0", "1", "2", "99", "-1", "x"]),
    st.sampled_from(
        [
            *("<v>1</v>", "<v>0.1</v>", "<v>-5</v>", "<v>1e400</v>", "<v>nan</v>", "<v></v>", ""),
            *("<f>A1</f>", "<f>A1</f><v>2</v>", "<is><t>a</t></is>", "<is><t>_x0000_</t></is>"),
            *("<v>99999999999999999999</v>", "<is><t>_xD800_</t></is>", "<v>x</v>", "<v>60</v>"),
        ]
    ),
)


@many
@given(st.lists(st.lists(CELL, max_size=4), max_size=6), OPTIONS)
def test_any_cells(rows: list[list[str]], options: dict[str, Any]) -> None:
    styles = (
        '<styleSheet><numFmts><numFmt numFmtId="200" formatCode="yyyy"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="200"/><xf numFmtId="46"/></cellXfs></styleSheet>'
    )
    xml = sheet_xml("".join(row_xml(*cells) for cells in [["id", "input"], *rows]))
    parts = parts_of({"A": xml}, sharedStrings=texts_xml("a", "b"), styles=styles)
    read(packed(parts), "a.xlsx", options)


@many
@given(st.data())
def test_a_workbook_with_bytes_changed(data: st.DataObject) -> None:
    xml = sheet_xml(row_xml("id", "input") + row_xml("1", '<c t="s"><v>0</v></c>'))
    content = bytearray(_stored(parts_of({"A": xml}, sharedStrings=texts_xml("a"))))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    read(bytes(content), "a.xlsx", {})
    read(bytes(content[:cut]), "a.xlsx", {})


def test_what_was_not_changed_is_read() -> None:
    xml = sheet_xml(row_xml("id", "input") + row_xml("1", '<c t="s"><v>0</v></c>'))
    content = _stored(parts_of({"A": xml}, sharedStrings=texts_xml("a")))
    assert read(content, "a.xlsx", {}) == [Row(2, {"id": "1", "input": "a"})]


def _stored(parts: dict[str, str]) -> bytes:
    """A workbook whose parts are not packed, so that a changed byte reaches the XML."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()
