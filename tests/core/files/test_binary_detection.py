"""Which first bytes are refused, and which are taken for text."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scoring.core.files import FileProblem
from scoring.core.files.binary_detection import refuse_binary


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_no_text_of_utf8_with_few_controls_is_taken_for_binary(text: str) -> None:
    controls = sum(sign < " " for sign in text)
    assume(controls * 10 <= len(text))
    refuse_binary(f"id,text\n1,{text}\n".encode(), "cases.csv")


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
        refuse_binary(content, "cases.csv")
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
    refuse_binary(content, "")
