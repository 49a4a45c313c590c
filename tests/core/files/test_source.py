"""Sources: reading ahead, pipes and the names of encodings."""

from __future__ import annotations

import io

import pytest

from scoring.core.files import FileProblem, Row, Source, detect_format, read_rows
from scoring.core.files.decoding import Lines
from scoring.core.files.source import detect_encoding


@pytest.mark.parametrize("name", ["no-such-code", "base64", "rot13", "x\0y"])
def test_an_unknown_encoding_is_refused(name: str) -> None:
    with pytest.raises(FileProblem) as caught:
        detect_encoding(b"abc", name)
    assert caught.value.code == "encoding"


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


def test_json_lines_from_a_pipe_come_as_they_arrive() -> None:
    pipe = Pipe([b'{"id": 1}\n', b'{"id": 2}\n'])
    stream = Source(pipe)
    found = detect_format(stream)
    rows = read_rows(stream, found)
    assert (found.format, len(pipe.chunks)) == ("jsonl", 1)
    assert next(rows) == Row(1, {"id": 1})
    assert len(pipe.chunks) == 1
    assert list(rows) == [Row(2, {"id": 2})]


def test_a_table_from_a_pipe_is_waited_for() -> None:
    stream = Source(Pipe([b"a;b\n", b"1;2\n", b"3;4\n"]))
    found = detect_format(stream)
    assert (found.delimiter, found.columns, len(found.sample)) == (";", ("a", "b"), 2)
    assert len(list(read_rows(stream, found))) == 2
