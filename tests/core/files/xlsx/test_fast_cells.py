"""What is taken past the XML parser is what the parser would have told."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Row, RowProblem, Source, detect_format, read_rows
from scoring.core.files.xlsx import workbook, xml_stream
from scoring.core.files.xlsx.fast_cells import plain_cells, plain_items
from tests.support import workbooks

Outcome = list[Row | RowProblem] | tuple[str, str]


def outcome(content: bytes, chunk: int = 64 * 1024) -> Outcome:
    """The rows of a workbook that is read in such chunks, or why it cannot be."""
    with patch.object(workbook, "_CHUNK", chunk):
        try:
            found = detect_format(Source(io.BytesIO(content), "cases.xlsx"), header="no")
            return list(read_rows(Source(io.BytesIO(content), "cases.xlsx"), found))
        except FileProblem as fault:
            return fault.code, fault.text


def parsed(content: bytes) -> Outcome:
    """The same when the parser is told of every byte."""
    with patch.object(xml_stream.XmlStream, "_is_taken", return_value=False):
        return outcome(content)


@contextmanager
def bytes_parsed() -> Iterator[dict[str, int]]:
    """Counts what the parser is given, part by part."""
    counts: dict[str, int] = {}
    parse = xml_stream.XmlStream._parse

    def counted(self: xml_stream.XmlStream, piece: bytes, **options: Any) -> None:
        counts[self._part] = counts.get(self._part, 0) + len(piece)
        parse(self, piece, **options)

    with patch.object(xml_stream.XmlStream, "_parse", counted):
        yield counts


# Sheets as programs write them

SIGNS = st.sampled_from(
    [
        *("a", "Größe 😀", " two  spaces ", "line\nbreak", "tab\t", "x" * 300, "", "_x000D_"),
        *("1 &lt; 2 &amp;lt; &gt; &quot;&apos;", "_x0041_ _x_", "_xD83D__xDE00_", "\x85\u2028"),
    ]
)
FAULTS = st.sampled_from(["_x0000_", "_xD800_", "b_x0000__xD800_"])
NUMBERS = st.sampled_from(["0", "-1", "12", "1.50", "1E+5", "45000.25", "0.1000000000000000055"])
NEAT_BODIES = st.one_of(
    *[st.integers(0, 5).map(' t="s"><v>{}</v></c>'.format)] * 3,
    NUMBERS.map("><v>{}</v></c>".format),
    NUMBERS.map(' s="1"><f>A1&amp;"x"</f><v>{}</v></c>'.format),
    (SIGNS | FAULTS).map(' t="str"><v>{}</v></c>'.format),
    (SIGNS | FAULTS).map(' t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'.format),
    st.sampled_from([' t="b"><v>1</v></c>', ' t="e"><v>#N/A</v></c>', ' s="1"/>', "/>"]),
)


@st.composite
def neat_rows(draw: st.DrawFn) -> str:
    """Cells in order, perhaps with gaps, perhaps all without their names; lines may go back."""
    line = draw(st.integers(1, 40))
    letters = draw(st.sampled_from(["ABC", "ABC", "ABC", "AC", "BD", "A", ("", "", "")]))
    names = [f' r="{letter}{line}"' if letter else "" for letter in letters]
    heads = st.sampled_from([f' r="{line}" spans="1:3"', f' r="{line}" ht="15.5" hidden="1"', ""])
    return f"<row{draw(heads)}>{''.join(f'<c{n}{draw(NEAT_BODIES)}' for n in names)}</row>"


# Sheets as XML allows, or forbids

ODD_TEXTS = SIGNS | st.sampled_from(
    [
        *("cr\r\nlf", "&#65;&#x42;&#13;", "<![CDATA[</row> & <b>]]>", "a<!-- </row> -->b", " 3 "),
        *("a<?pi </c></row>?>b", "99", "x > y", "]", "0"),
    ]
)
BROKEN = st.sampled_from(["]]>", "&nbsp;", "\x01", "\ufffe", "</v>", "<b>", "&amp"])
ODD_HEADS = st.sampled_from(
    [
        *(' t="{kind}" r="{at}"', " r='{at}'  t = \"{kind}\"", ' r="{at}" cm="1" t="{kind}"'),
        *(' r="{at}" t="{kind}"', ' r="{at}" t="{kind}" ', ' r="a1" t="{kind}"', ' r="7"'),
    ]
)
ODD_BODIES = st.sampled_from(
    [
        *("<v>{text}</v>", "<is><t>{text}</t></is>", "<f>A1</f>", "", "<v></v>", "<v/>"),
        *('<f t="shared" si="0"/><v>{text}</v>', " <v>{text}</v> ", "<v>{text}</v><v>{text}</v>"),
        *("<is><r><t>{text}</t></r><rPh><t>x</t></rPh><r><t>b</t></r></is>", "<x:v>{text}</x:v>"),
    ]
)
BETWEEN = st.sampled_from(
    [
        *("", "\n ", "<!-- </row> -->", "<?p </row>?>", "<![CDATA[</row>]]>", "<row/>", "<v>1</v>"),
        *("<x:row></x:row>", "<row ></row >", "<a><row></row></a>"),
    ]
)


@st.composite
def odd_rows(draw: st.DrawFn) -> str:
    line = draw(st.integers(1, 40))
    inner = ""
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["s", "n", "str", "inlineStr", "b", "d", "odd"]))
        head = draw(ODD_HEADS).format(at=f"{draw(st.sampled_from('AABCD'))}{line}", kind=kind)
        text = draw(st.integers(0, 5).map(str)) if kind == "s" else draw(ODD_TEXTS)
        inner += f"<c{head}>{draw(ODD_BODIES).format(text=text)}</c>"
    head = draw(st.sampled_from([f' r="{line}"', f' ht="1" r="{line}"', " x='1'"]))
    return f"<row{head}>{inner}</row>{draw(BETWEEN)}"


NEAT_SHEETS = st.lists(st.one_of(*[neat_rows()] * 9, odd_rows()), max_size=25).map("".join)
BROKEN_ROWS = st.one_of(
    BROKEN.map('<row><c r="A1" t="str"><v>{}</v></c></row>'.format),
    st.sampled_from(
        [
            *('<row r="1" r="1"></row>', '<row><c r="A1" r="A1"><v>1</v></c></row>', "</row>"),
            *('<row><c t="s"><v>900</v></c></row>', '<row><c t="s"><v>x</v></c></row>', "<row>"),
            *('<row><c r="ZZZZ1"><v>1</v></c></row>', '<row><c t="s"><v>-1</v></c></row>'),
            *('<row ht="<"></row>', '<row ht="&lt;"></row>', "<!-- -- -->", "<!DOCTYPE a>"),
            *('<row><c r="A1" t="s"><v>1</v></row>', '<c r="A1"><v>1</v></c>', "<v><row></row>"),
        ]
    ),
)
ITEMS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *["<si><t>{}</t></si>", '<si><t xml:space="preserve">{}</t></si>'] * 3,
                '<si><t>{}</t><phoneticPr fontId="1" type="noConversion"/></si>',
                *("<si/>", "<si><t/></si>", "<!-- </si> -->", "<![CDATA[</si>]]>", "\n"),
                *("<si><r><t>{}</t></r><r><t>b</t></r></si>", "<x:si><x:t>{}</x:t></x:si>"),
                *("<si><t>{}</t><rPh><t>x</t></rPh></si>", "<si><si><t>{}</t></si></si>"),
            ]
        ),
        ODD_TEXTS | FAULTS,
    ).map(lambda drawn: drawn[0].replace("{}", drawn[1])),
    max_size=20,
).map("".join)
FEW_BYTES = st.integers(30, 900)


def content_of(rows: str, items: str = "") -> bytes:
    """A workbook of these rows below one of three texts, whose first six shared texts are there."""
    first = workbooks.row_xml("one", "two", "three")
    texts = "".join(f"<si><t>text {place}</t></si>" for place in range(6))
    styles = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>'
    return workbooks.workbook(
        first, rows, sharedStrings=f"<sst>{texts}{items}</sst>", styles=styles
    )


@given(NEAT_SHEETS, ITEMS, FEW_BYTES)
def test_no_sheet_reads_otherwise_than_through_the_parser(
    rows: str, items: str, chunk: int
) -> None:
    every = "".join(
        f'<row><c t="s"><v>{place}</v></c></row>' for place in range(6 + items.count("<si>"))
    )
    content = content_of(rows + every, items)
    assert outcome(content, chunk) == parsed(content)


@given(NEAT_SHEETS, BROKEN_ROWS, NEAT_SHEETS, FEW_BYTES)
def test_what_is_no_sheet_is_refused_as_by_the_parser(
    before: str, broken: str, after: str, chunk: int
) -> None:
    content = content_of(before + broken + after)
    assert outcome(content, chunk) == parsed(content)


# Where the parser is passed by


def test_every_character_that_xml_has_comes_out_as_it_went_in() -> None:
    lacking = {*range(0x09), *range(0x0B, 0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF}
    unwritten = lacking | {*b"<>&"}
    signs = [chr(code) for code in range(0x110000) if code not in unwritten]
    texts = ["".join(signs[start : start + 500]) for start in range(0, len(signs), 500)]
    rows = "".join(f'<row><c t="str"><v>{text}</v></c></row>' for text in texts)
    with bytes_parsed() as counts:
        read = outcome(content_of(rows))
    assert counts["xl/worksheets/s1.xml"] < 200_000  # of 4.4 million
    assert [row.fields["column 1"] for row in read[1:] if isinstance(row, Row)] == texts


@pytest.mark.parametrize("code", [*range(0x09), *range(0x0B, 0x0D), *range(0x0E, 0x20), 0xFFFE])
def test_no_character_that_xml_lacks_is_let_in(code: int) -> None:
    rows = workbooks.row_xml("x" * 50) * 9 + workbooks.row_xml(chr(code))
    assert outcome(content_of(rows), 200)[0] == "corrupt_archive"


@pytest.mark.parametrize(
    "row",
    [
        # Excel
        '<row r="2" spans="1:3" ht="15.75" thickBot="1" x14ac:dyDescent="0.3">'
        '<c r="A2" s="1" t="s"><v>0</v></c><c r="B2" s="2"/><c r="C2"><f>A1</f><v>4</v></c></row>',
        # LibreOffice
        '<row r="2" customFormat="false" ht="12.8" hidden="false" customHeight="false" '
        'outlineLevel="0" collapsed="false"><c r="A2" s="0" t="s"><v>0</v></c></row>',
        # Google Sheets
        '<row r="2" ht="15.75" customHeight="1"><c r="A2" s="1" t="s"><v>0</v></c></row>',
        # XlsxWriter
        '<row r="2" spans="1:2" s="3" customFormat="1"><c r="A2" t="inlineStr"><is>'
        '<t xml:space="preserve"> a &lt; b</t></is></c><c r="B2" t="b"><v>1</v></c></row>',
    ],
)
def test_the_ways_in_which_programs_write_rows_are_known(row: str) -> None:
    assert plain_cells(row * 3) is not None


@pytest.mark.parametrize(
    "item",
    [
        "<si><t>a</t></si>",
        '<si><t xml:space="preserve"> a\n</t></si>',
        '<si><t>kyō</t><phoneticPr fontId="1" type="noConversion"/></si>',
    ],
)
def test_the_ways_in_which_programs_write_shared_texts_are_known(item: str) -> None:
    found = plain_items(item * 3)
    assert found is not None
    assert len(found) == 3


# Texts beyond what is held
