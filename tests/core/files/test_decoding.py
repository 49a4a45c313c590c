"""Bytes to lines: byte order marks, other encodings, and the place of a byte that is none."""

from __future__ import annotations

import codecs
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Source, decoding, detect_format, read_rows
from scoring.core.files.binary_detection import refuse_binary
from scoring.core.files.decoding import Lines, Text, line_ends, split_lines


def lines_of(content: bytes, encoding: str = "") -> list[str]:
    return list(Lines(Source(io.BytesIO(content)), encoding))


def detect_and_read(source: Source) -> None:
    list(read_rows(source, detect_format(source)))


def problem(content: bytes, encoding: str = "") -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        lines_of(content, encoding)
    return caught.value


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("é\nb".encode(), ""),
        (codecs.BOM_UTF8 + "é\nb".encode(), ""),
        (codecs.BOM_UTF16_LE + "é\nb".encode("utf-16-le"), ""),
        (codecs.BOM_UTF16_BE + "é\nb".encode("utf-16-be"), ""),
        (codecs.BOM_UTF32_LE + "é\nb".encode("utf-32-le"), ""),
        (codecs.BOM_UTF32_BE + "é\nb".encode("utf-32-be"), ""),
        (codecs.BOM_UTF16_LE + "é\nb".encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF16_LE + "é\nb".encode("utf-16-le"), "utf-8"),
        ("é\nb".encode("utf-16-le"), "utf-16-le"),
        (b"\xe9\nb", "cp1252"),
        (b"\xe9\nb", "Latin-1"),
        (codecs.BOM_UTF8 + b"\xe9\nb", "cp1252"),
    ],
)
def test_marks_are_stripped_and_encodings_found(content: bytes, wanted: str) -> None:
    assert lines_of(content, wanted) == ["é\n", "b"]


def test_a_mark_within_the_text_is_text() -> None:
    assert lines_of("a\ufeffb".encode()) == ["a\ufeffb"]


def test_a_byte_that_is_not_utf8_is_placed() -> None:
    found = problem(b"first\r\nsecond\rcaf\xe9\n")
    assert (found.code, found.line) == ("encoding", 3)
    assert "Byte 17 (line 3), 0xE9" in found.text


BOTH = "Save the file as UTF-8, or choose the encoding cp1252 (Windows, Western Europe) or latin-1."
LATIN = "Save the file as UTF-8, or choose the encoding latin-1."


@pytest.mark.parametrize(
    ("rest", "advice"),
    [
        (b"3,d\n", BOTH),
        (b"3,\x9d\n", LATIN),  # no character in cp1252
        (b"3,d\n" * 400_000 + b"4,\x81\n", LATIN),  # far behind what is looked at first
    ],
)
@pytest.mark.parametrize("name", ["cases.csv", "cases.csv.gz"])
def test_only_an_encoding_of_the_whole_file_is_recommended(
    rest: bytes, advice: str, name: str
) -> None:
    content = b"id,input\n1,caf\xe9\n" + rest
    packed = gzip.compress(content) if name.endswith(".gz") else content
    with pytest.raises(FileProblem) as caught:
        detect_and_read(Source(io.BytesIO(packed), name))
    assert caught.value.text == f"Byte 14 (line 2), 0xE9, is not UTF-8. {advice}"


def test_a_byte_behind_the_sample_has_its_advice_too() -> None:
    source = Source(io.BytesIO(b"id,input\n" + b"1,a\n" * 400_000 + b"2,\x81\n"), "cases.csv")
    found = detect_format(source)
    with pytest.raises(FileProblem) as caught:
        list(read_rows(source, found))
    assert caught.value.text.endswith(LATIN)


def test_no_order_of_bytes_is_recommended_that_fails_later() -> None:
    content = "id,input\n1,a\n".encode("utf-16-le") * 100 + b"\x00\xd8,\0"
    with pytest.raises(FileProblem) as caught:
        detect_format(Source(io.BytesIO(content), "cases.csv"))
    assert caught.value.text.endswith("without a byte order mark. Save the file as UTF-8.")


def test_the_byte_is_counted_from_the_start_of_the_file_with_its_mark() -> None:
    assert "Byte 4 " in problem(codecs.BOM_UTF8 + b"a\xff").text


@pytest.mark.parametrize("before", [0, 1, 255, 256 * 1024 - 1, 256 * 1024, 600_001])
def test_the_place_is_right_across_chunks(before: int) -> None:
    content = ("x" * 99 + "\n").encode() * (before // 100 + 1)
    content = content[:before] + "€".encode()[:2] + b"\n"
    found = problem(content)
    assert f"Byte {before:,} " in found.text
    assert found.line == before // 100 + 1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_line_end_across_two_chunks_counts_once(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(decoding, "CHUNK", size)
    monkeypatch.setattr(Source, "peek", lambda self, _: self._head)
    content = b"a\r\nb\r\n\xff"
    assert problem(content).line == 3
    with pytest.raises(FileProblem) as unsplit:
        list(Text(Source(io.BytesIO(content))).chunks())
    assert unsplit.value.line == 3
    assert problem(b"a\rb\r\xff").line == 3
    assert problem(b"a\r\nb\xff").line == 2


def test_lines_before_the_fault_are_given_first() -> None:
    given_lines = iter(Lines(Source(io.BytesIO(b"one\ntwo\nthr\xff"))))
    assert [next(given_lines), next(given_lines)] == ["one\n", "two\n"]
    with pytest.raises(FileProblem):
        next(given_lines)


@pytest.mark.parametrize(
    "content",
    [
        "a\ud800b".encode("utf-8", "surrogatepass"),
        codecs.BOM_UTF16_LE + "a\ud800b".encode("utf-16-le", "surrogatepass"),
        codecs.BOM_UTF32_BE + "a\ud800b".encode("utf-32-be", "surrogatepass"),
    ],
)
def test_half_a_character_is_named_as_such(content: bytes) -> None:
    assert problem(content).code == "invalid_unicode"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    [
        "id,text\n1,hello\n",
        "ид,вопрос\n1,привет\n",
        '{"id": 1, "问题": "你好世界今天天气怎么样"}\n',
        "आईडी,सवाल\n1,भारत की राजधानी क्या है?\n" * 3,
        "id,text\n1,a bell \x07 and \x1b[31mred\n" * 9,
    ],
)
def test_text_without_the_mark_it_needs_is_recognised_and_can_be_read(
    text: str, encoding: str
) -> None:
    content = text.encode(encoding)
    refuse_binary(content, "cases.csv")
    found = problem(content)
    assert found.code == "encoding"
    with pytest.raises(FileProblem) as advised:
        detect_format(Source(io.BytesIO(content), "cases"))
    assert f"or choose the encoding {encoding}." in advised.value.text
    assert "".join(lines_of(content, encoding)) == text


@pytest.mark.parametrize("name", ["utf-16", "U16", "utf_16"])
@pytest.mark.parametrize("content", ["id\n1\n".encode("utf-16-le"), b"id\n1\n", b"i"])
def test_utf16_wanted_of_a_file_without_a_mark_asks_for_the_order(
    name: str, content: bytes
) -> None:
    found = problem(content, name)
    assert (found.code, found.line) == ("encoding", 1)
    assert "utf-16-le or utf-16-be" in found.text


def test_a_codec_that_names_no_place_is_refused_as_well() -> None:
    found = problem(b"a\n{-{,", "punycode")
    assert (found.code, found.text[:25]) == ("encoding", "The file is not PUNYCODE.")


def test_cut_utf16_advises_no_code_page() -> None:
    found = problem(codecs.BOM_UTF16_LE + b"a\0b")
    assert (found.code, "cp1252" in found.text) == ("encoding", False)


def test_only_three_signs_end_a_line() -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\nh\r\ni\rj"
    assert split_lines(text) == ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\n", "h\r\n", "i\r", "j"]
    assert line_ends(text) == 3


@given(st.text(st.sampled_from("ab\r\né😀"), max_size=60), st.integers(1, 7))
def test_chunks_never_show_in_the_lines(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(decoding, "CHUNK", size)
        patched.setattr(Source, "peek", lambda self, _: self._head)
        assert lines_of(text.encode()) == split_lines(text)


def test_a_nul_is_noticed() -> None:
    lines = Lines(Source(io.BytesIO(b"some words before\nx\0y\n")))
    assert list(lines) == ["some words before\n", "x\0y\n"]
    assert lines.has_nul
