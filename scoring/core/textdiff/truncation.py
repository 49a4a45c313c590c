"""Truncation of compared texts: differences with some context first, then the beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Final

from scoring.core.textdiff.text_layout import Block, Span, TextLayout

CONTEXT_CHARS: Final = 120  # characters kept on either side of what differs
_TAGS: Final = 11  # bytes of <ins></ins>
_MARK: Final = 45  # bytes of the element around the name of what cannot be seen
_NOTHING: Final = Span("")


def truncate_layout(text: TextLayout, room: int) -> TextLayout:
    """The text in `room` bytes of HTML: whole, else without what is the same, else its start."""
    if _fits(text.blocks, room):
        return text
    blocks: Sequence[Block] = text.blocks
    if len(blocks) > 1:  # a single text, compared with nothing, has no middles to leave out
        blocks = [part for block in blocks for part in _skip_middle(block)]
    shown, hidden = _cut(blocks, room)
    return replace(text, blocks=shown, hidden=text.hidden + hidden)


def _skip_middle(block: Block) -> Iterator[Block]:
    """The block, without the middle of a long one that is the same in both texts."""
    length = sum(len(span.text) for span in block.spans)
    if block.tag or length <= 3 * CONTEXT_CHARS:
        yield block
        return
    yield block._replace(spans=_slice_spans(block.spans, 0, CONTEXT_CHARS))
    yield Block(
        "", _slice_spans(block.spans, length - CONTEXT_CHARS, length), length - 2 * CONTEXT_CHARS
    )


def _slice_spans(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """The spans of the characters from `start` to `end`."""
    cut, offset = [], 0
    for span in spans:
        text = span.text[max(0, start - offset) : max(0, end - offset)]
        if text:
            cut.append(span._replace(text=text))
        offset += len(span.text)
    return cut


def _cut(blocks: Sequence[Block], room: int) -> tuple[list[Block], int]:
    """The blocks that fit, and how many characters of the output are left out."""
    shown: list[Block] = []
    hidden = 0
    for block in blocks:
        room -= _TAGS if block.tag else 0
        spans: list[Span] = []
        for span in block.spans:
            start = _fit(span, room)
            room -= _span_size(span) if room > 0 else 0
            spans += [start] if start.text else []
            hidden += 0 if block.tag == "del" else len(span.text) - len(start.text)
        if spans:
            shown.append(block._replace(spans=spans))
        else:
            hidden += block.skipped
    return shown, hidden


def _fit(span: Span, room: int) -> Span:
    """The span, or its start; a mark is left out whole."""
    if room <= 0:
        return _NOTHING
    if _span_size(span) <= room:
        return span
    return _NOTHING if span.code else Span(_start(span.text, room))


def _start(text: str, room: int) -> str:
    """As much of the beginning as takes up no more than this many bytes."""
    cut = text[:room]
    while (size := _written_size(cut)) > room:
        cut = cut[: len(cut) * room // size]
    return cut


def _fits(blocks: Iterable[Block], room: int) -> bool:
    for block in blocks:
        room -= _TAGS if block.tag else 0
        for span in block.spans:
            room -= _span_size(span)
            if room < 0:
                return False
    return room >= 0


def _span_size(span: Span) -> int:
    if not span.code:
        return _written_size(span.text)
    return _mark_size(span.code + span.name) + span.is_line_feed


@lru_cache(maxsize=1024)
def _mark_size(named: str) -> int:
    """Cached: a text has few kinds of marks, and may have thousands of each."""
    return _MARK + len(named.encode())


def _written_size(text: str) -> int:
    """Bytes of the text as HTML."""
    return len(escape(text).encode("utf-8", "surrogatepass"))
