"""What a file is, told from its name and beginning."""

from __future__ import annotations

import codecs
import io
import json
import tracemalloc
from importlib import import_module
from pathlib import Path

import pytest

from scoring.core.files import FileProblem, Row, Source, detect_format, read_rows
from tests.support.workbooks import packed, parts_of, row_xml, sheet_xml


def source(content: bytes | str, name: str = "") -> Source:
    raw = content.encode() if isinstance(content, str) else content
    return Source(io.BytesIO(raw), name)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", "a,b\n1,2\n", "csv"),
        ("a.CSV", "[id],[name]\n1,2\n", "csv"),
        ("a.csv", '[\n {"a": 1}]', "json"),
        ("a.csv", '{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.tsv", "a\tb\n1\t2\n", "csv"),
        ("a.txt", "a|b\n1|2\n", "csv"),
        ("", "a,b\n1,2\n", "csv"),
        ("a.jsonl", '{"a": 1}', "jsonl"),
        ("a.ndjson", '\n{"a": 1}\n', "jsonl"),
        ("a.jsonl", '[{"a": 1}]', "json"),
        ("a.json", '[{"a": 1}]', "json"),
        ("a.json", '{"cases": [{"a": 1}]}', "json"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.json", '{\n"cases": [{"a": 1}]}', "json"),
        ("", '{"a": 1}\n', "jsonl"),
        ("", ' {"a": NaN}\n{"a": 1}', "jsonl"),
        ("", '{\n"cases": [{"a": 1}]}', "json"),
        ("", ' [\n{"a": 1}]', "json"),
    ],
)
def test_the_format_is_found(name: str, content: str, kind: str) -> None:
    found = detect_format(source(content, name))
    assert found.format == kind
    assert found.is_whole
    assert found.columns


def test_a_wanted_format_wins() -> None:
    assert detect_format(source("not json\n"), kind="jsonl").format == "jsonl"


def test_a_table_shows_its_dialect_columns_and_rows() -> None:
    found = detect_format(source(codecs.BOM_UTF8 + b"id; text\n1;x\n2\n3;y\n"))
    assert (found.encoding, found.delimiter, found.quote) == ("utf-8", ";", '"')
    assert found.columns == ("id", "text")
    assert found.sample == (Row(2, {"id": "1", "text": "x"}), Row(4, {"id": "3", "text": "y"}))
    assert not found.is_open


def test_the_columns_of_a_table_without_a_usable_row_are_known() -> None:
    assert detect_format(source("a,b\n1\n")).columns == ("a", "b")


def test_columns_of_json_are_the_keys_with_what_most_inner_objects_share() -> None:
    rows = [
        {"q": 1, "m": {"text": "x", "ok": True}},
        {"q": 2, "m": {"text": "y", "odd": 1}, "late": 3},
        {"q": 3, "m": {"text": "z"}},
    ]
    found = detect_format(source(json.dumps(rows)))
    assert found.columns == ("q", "m", "m.text", "late")
    assert (found.delimiter, found.quote) == ("", "")


@pytest.mark.parametrize(
    ("content", "encoding"),
    [("é", "utf-8"), ("é", "utf-16-le"), ("é", "utf-16-be"), ("é", "cp1252")],
)
def test_encodings_are_read_back_with_what_was_detected(content: str, encoding: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    raw = mark + f"a,b\r\n{content},2\r\n".encode(encoding)
    found = detect_format(source(raw), encoding="cp1252" if encoding == "cp1252" else "")
    assert found.encoding == encoding
    assert list(read_rows(source(raw), found)) == [Row(2, {"a": content, "b": "2"})]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (codecs.BOM_UTF8, "empty_file"),
        (codecs.BOM_UTF16_LE, "empty_file"),
        (b"\n \n", "no_rows"),
        (b"a,b\n", "no_rows"),
        (b"[]", "no_rows"),
        (b"PK\x03\x04", "type_mismatch"),
        (b"a,a\n1,2\n", "duplicate_column"),
        (b"a\xff,b\n1,2\n", "encoding"),
        (b'a,b\n1,"2\n', "unclosed_quote"),
    ],
)
def test_faults_that_show_at_once_are_raised(content: bytes, code: str) -> None:
    with pytest.raises(FileProblem) as caught:
        detect_format(source(content, "a.csv" if content[:1] != b"[" else "a.json"))
    assert caught.value.code == code


def test_a_fault_behind_good_rows_is_left_to_the_reading() -> None:
    content = "a,b\n1,2\n" + '3,"open\n'
    found = detect_format(source(content))
    assert [row.line for row in found.sample] == [2]
    assert not found.is_whole
    with pytest.raises(FileProblem):
        list(read_rows(source(content), found))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_a_large_file_is_known_by_its_beginning(tmp_path: Path, name: str) -> None:
    rows = [{"id": str(place), "text": "é" * 300} for place in range(4_000)]
    path = tmp_path / name
    texts = {
        "a.csv": "id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows),
        "a.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        "a.json": json.dumps(rows, ensure_ascii=False),
    }
    path.write_text(texts[name])
    found = detect_format(path)
    assert found.columns == ("id", "text")
    assert len(found.sample) == 1_000
    assert not found.is_whole
    assert [row.fields for row in read_rows(path, found) if isinstance(row, Row)] == rows


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_row_larger_than_the_beginning_is_waited_for(ending: str) -> None:
    text = "x" * 900_000
    row = json.dumps({"a": text, "b": text, "c": "end"})
    content = {"csv": f"a,b,c\n{text},{text},end\n", "jsonl": f"{row}\n{row}\n", "json": f"[{row}]"}
    found = detect_format(source(content[ending], f"a.{ending}"))
    assert found.columns == ("a", "b", "c")
    assert found.sample[0].fields["c"] == "end"


def test_a_cell_cut_off_by_the_beginning_is_not_shown() -> None:
    rows = "".join(f"{place},{'x' * 2_000}\n" for place in range(900))
    found = detect_format(source("id,text\n" + rows))
    assert {len(row.fields["text"]) for row in found.sample} == {2_000}


def test_detecting_uses_nothing_up() -> None:
    stream = source("a,b\n1,2\n3,4\n")
    found = detect_format(stream)
    assert stream.position == 0
    assert len(list(read_rows(stream, found))) == 2
    assert stream.position == 12


def test_a_look_that_ends_inside_quotes_does_not_hide_the_delimiter() -> None:
    cell = '"' + "two, or\nmore, lines; of text " * 40 + '"'
    found = detect_format(source("a;b\n" + f"{cell};2\n" * 600))
    assert (found.delimiter, found.columns) == (";", ("a", "b"))


def test_long_cells_do_not_hide_the_delimiter() -> None:
    found = detect_format(source(f"a;b\n{'x' * 200_000};2\n"))
    assert (found.delimiter, found.columns) == (";", ("a", "b"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    row = {"id": "0", "text": "x" * 1_000}
    units = {
        "a.csv": ("id,text\n", f"0,{'x' * 1_000}\n", ""),
        "a.jsonl": ("", json.dumps(row) + "\n", ""),
        "a.json": ("[", json.dumps(row) + ",\n", json.dumps(row) + "]"),
    }
    start, unit, end = units[name]
    path.write_text(start + unit * 6_000 + end)
    found = detect_format(path)
    tracemalloc.start()
    count = sum(1 for _ in read_rows(path, found))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count >= 6_000
    assert path.stat().st_size > 6_000_000
    assert peak < 4_000_000


@pytest.mark.parametrize(
    ("name", "start"), [("a.csv", "a,b\n"), ("a.jsonl", '{"a": "'), ("a.json", '[{"a": "')]
)
def test_a_file_without_line_ends_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, name: str, start: str
) -> None:
    for module in ("decoding", "json.reader", "format_detection"):
        monkeypatch.setattr(import_module(f"scoring.core.files.{module}"), "MAX_LINE", 2_000_000)
    stream = source(start + "x" * 5_000_000, name)
    with pytest.raises(FileProblem) as caught:
        detect_format(stream)
    assert caught.value.code in {"line_too_long", "cell_too_long"}


TITLE = sheet_xml(row_xml("Results of the third quarter") + row_xml("see the next sheet"))
GAP = sheet_xml(row_xml("id", "<c/>", "input") + row_xml("1", "2", "3"))
CASES = sheet_xml(row_xml("Nr", "Question") + row_xml("1", "a"))
OTHER = sheet_xml(row_xml("Name", "Colour") + row_xml("b", "red"))


@pytest.mark.parametrize(
    ("sheets", "hidden", "chosen"),
    [
        ({"Title": TITLE, "Cases": CASES}, "", "Cases"),
        ({"Empty": sheet_xml(""), "Cases": CASES}, "", "Cases"),
        ({"Gap": GAP, "Cases": CASES}, "", "Cases"),
        ({"Cases": CASES, "More": CASES}, "", "Cases"),
        ({"Title": TITLE, "Other": OTHER}, "", "Title"),
        ({"Title": TITLE, "Cases": CASES}, "Cases", "Title"),
        ({"Cases": CASES, "Title": TITLE}, "Cases", "Title"),
    ],
)
def test_of_several_sheets_the_first_shown_with_cases_is_read(
    sheets: dict[str, str], hidden: str, chosen: str
) -> None:
    parts = parts_of(sheets)
    told = f'<sheet name="{hidden}" '
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(told, f'{told}state="hidden" ')
    found = detect_format(Source(io.BytesIO(packed(parts)), "a.xlsx"))
    assert found.sheet == chosen
    assert set(found.sheets) == {*sheets}


def test_a_sheet_that_is_chosen_is_read_whatever_the_others_are() -> None:
    content = packed(parts_of({"Title": TITLE, "Cases": CASES}))
    assert detect_format(Source(io.BytesIO(content), "a.xlsx"), sheet="Title").sheet == "Title"


def test_where_no_sheet_suits_the_fault_of_the_first_is_told() -> None:
    content = packed(parts_of({"Empty": sheet_xml(""), "Gap": GAP, "Title": sheet_xml("")}))
    with pytest.raises(FileProblem) as raised:
        detect_format(Source(io.BytesIO(content), "a.xlsx"))
    assert raised.value.code == "no_rows"
