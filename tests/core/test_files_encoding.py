"""Bytes to lines: byte order marks, other encodings, and the place of a byte that is none."""

from __future__ import annotations

import codecs
import io
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scoring.core.files import FileProblem, Source
from scoring.core.files import lines as lines_module
from scoring.core.files.foreign import refuse_foreign
from scoring.core.files.lines import Lines, line_ends, split_lines
from scoring.core.files.source import encoding_of


def lines_of(content: bytes, encoding: str = "") -> list[str]:
    return list(Lines(Source(io.BytesIO(content)), encoding))


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


def test_a_byte_that_is_not_utf8_is_placed_and_the_way_out_named() -> None:
    found = problem(b"first\r\nsecond\rcaf\xe9\n")
    assert (found.code, found.line) == ("encoding", 3)
    assert "Byte 17 (line 3), 0xE9" in found.text
    assert "cp1252" in found.text
    assert "latin-1" in found.text


def test_the_byte_is_counted_from_the_start_of_the_file_with_its_mark() -> None:
    assert "Byte 4 " in problem(codecs.BOM_UTF8 + b"a\xff").text


@pytest.mark.parametrize("before", [0, 1, 255, 256 * 1024 - 1, 256 * 1024, 600_001])
def test_the_place_is_right_across_chunks(before: int) -> None:
    content = ("x" * 99 + "\n").encode() * (before // 100 + 1)
    content = content[:before] + "€".encode()[:2] + b"\n"
    found = problem(content)
    assert f"Byte {before:,} " in found.text
    assert found.line == before // 100 + 1


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
    refuse_foreign(content, "cases.csv")
    found = problem(content)
    assert found.code == "encoding"
    assert f"Choose the encoding {encoding}" in found.text
    assert "".join(lines_of(content, encoding)) == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_no_text_of_utf8_with_few_controls_is_taken_for_binary(text: str) -> None:
    controls = sum(sign < " " for sign in text)
    assume(controls * 10 <= len(text))
    refuse_foreign(f"id,text\n1,{text}\n".encode(), "cases.csv")


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


@pytest.mark.parametrize("name", ["no-such-code", "base64", "rot13", "x\0y"])
def test_an_unknown_encoding_is_refused(name: str) -> None:
    with pytest.raises(FileProblem) as caught:
        encoding_of(b"abc", name)
    assert caught.value.code == "encoding"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04....", "Excel"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0>\0\x01\0\0\0", "a program"),
        (b"notes.txt" + bytes(248) + b"ustar\x0000", "a tar archive"),
        (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8" + bytes(300), "a binary file, not text"),
        (random.Random(1).randbytes(3_000), "a binary file, not text"),
        (bytes(400), "a binary file, not text"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"%PDF-1.7", "PDF"),
        (b"\n <!DOCTYPE html>", "web page"),
        (b"\xef\xbb\xbf<?xml version", "XML"),
    ],
)
def test_other_kinds_of_files_are_named(content: bytes, kind: str) -> None:
    with pytest.raises(FileProblem) as caught:
        refuse_foreign(content, "cases.csv")
    assert caught.value.code == "type_mismatch"
    assert kind in caught.value.text
    assert "cases.csv" in caught.value.text


@pytest.mark.parametrize(
    "content",
    [
        *(b"id,input\n", b"", b"{}", b"PK,name\n", b"PAR1,PAR2\n", "<é>".encode()),
        *(b"id,input\n1,a\x00b\n", b"id,caf\xe9\n1,\x07\n", b"MZ,\x7fELF\n1,2\n"),
        b"id,log\n" + b"1,\x1b[31mred\x1b[0m\n" * 99,
    ],
)
def test_texts_are_not_taken_for_other_kinds(content: bytes) -> None:
    refuse_foreign(content, "")


def test_only_three_signs_end_a_line() -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\nh\r\ni\rj"
    assert split_lines(text) == ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\n", "h\r\n", "i\r", "j"]
    assert line_ends(text) == 3


@given(st.text(st.sampled_from("ab\r\né😀"), max_size=60), st.integers(1, 7))
def test_chunks_never_show_in_the_lines(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines_module, "CHUNK", size)
        patched.setattr(Source, "peek", lambda self, _: self._head)
        assert lines_of(text.encode()) == split_lines(text)


def test_a_nul_is_noticed() -> None:
    lines = Lines(Source(io.BytesIO(b"some words before\nx\0y\n")))
    assert list(lines) == ["some words before\n", "x\0y\n"]
    assert lines.has_nul


class Pipe(io.BytesIO):
    """Gives one prepared chunk at a time, as a terminal or a pipe does."""

    def __init__(self, chunks: list[bytes]) -> None:
        super().__init__()
        self.chunks = chunks
        self.reads = 0

    def seekable(self) -> bool:
        return False

    def read1(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return self.chunks.pop(0) if self.chunks else b""


def test_a_pipe_is_answered_line_by_line() -> None:
    pipe = Pipe([b"one\n", b"two\n", b"three"])
    source = Source(pipe)
    assert source.peek(1000) == b"one\n"
    lines = iter(Lines(source))
    assert next(lines) == "one\n"
    assert pipe.reads == 1
    assert list(lines) == ["two\n", "three"]


def test_a_pipe_can_be_waited_for() -> None:
    source = Source(Pipe([b"one\n", b"two\n"]))
    assert source.peek(1000, waits=True) == b"one\ntwo\n"
    assert source.is_whole
