"""Texts in a given room: of a long one what differs, with a little around it, then its start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Final

from scoring.core.shown import Piece, Shown, Stretch

AROUND: Final = 120  # characters kept on either side of what differs
_TAGS: Final = 11  # bytes of <ins></ins>
_MARK: Final = 45  # bytes of the element around the name of what cannot be seen
_NOTHING: Final = Piece("")


def abridged(text: Shown, room: int) -> Shown:
    """The text in `room` bytes of HTML: whole, else without what is the same, else its start."""
    if _fits(text.stretches, room):
        return text
    stretches, hidden = _cut(_focused(text.stretches), room)
    return replace(text, stretches=stretches, hidden=text.hidden + hidden)


def _focused(stretches: Sequence[Stretch]) -> Sequence[Stretch]:
    """Without the middles of what is the same in both texts; a text by itself stays whole."""
    if len(stretches) < 2:
        return stretches
    return [part for each in stretches for part in _folded(each)]


def _folded(stretch: Stretch) -> Iterator[Stretch]:
    lengths = sum(len(piece.text) for piece in stretch.pieces)
    if stretch.tag or lengths <= 3 * AROUND:
        yield stretch
        return
    yield stretch._replace(pieces=list(_first(stretch.pieces, AROUND)))
    end = list(_first([_turned(piece) for piece in reversed(stretch.pieces)], AROUND))
    yield Stretch("", [_turned(piece) for piece in reversed(end)], lengths - 2 * AROUND)


def _first(pieces: Iterable[Piece], count: int) -> Iterator[Piece]:
    """The first so many characters."""
    for piece in pieces:
        if count <= 0:
            return
        yield piece._replace(text=piece.text[:count])
        count -= len(piece.text)


def _turned(piece: Piece) -> Piece:
    return piece._replace(text=piece.text[::-1])


def _cut(stretches: Sequence[Stretch], room: int) -> tuple[list[Stretch], int]:
    """What there is room for, and how many characters of the output are behind it."""
    kept: list[Stretch] = []
    hidden = 0
    for stretch in stretches:
        room -= _TAGS if stretch.tag else 0
        pieces: list[Piece] = []
        for piece in stretch.pieces:
            start = _fitting(piece, room)
            room -= _piece_size(piece) if room > 0 else 0
            pieces += [start] if start.text else []
            hidden += 0 if stretch.tag == "del" else len(piece.text) - len(start.text)
        if pieces:
            kept.append(stretch._replace(pieces=pieces))
        else:
            hidden += stretch.skipped
    return kept, hidden


def _fitting(piece: Piece, room: int) -> Piece:
    """The piece, or its start; a mark is left out whole."""
    if room <= 0:
        return _NOTHING
    if _piece_size(piece) <= room:
        return piece
    return _NOTHING if piece.code else Piece(_start(piece.text, room))


def _start(text: str, room: int) -> str:
    """As much of the beginning as takes up no more than this many bytes."""
    cut = text[:room]
    while (size := _written_size(cut)) > room:
        cut = cut[: len(cut) * room // size]
    return cut


def _fits(stretches: Iterable[Stretch], room: int) -> bool:
    for stretch in stretches:
        room -= _TAGS if stretch.tag else 0
        for piece in stretch.pieces:
            room -= _piece_size(piece)
            if room < 0:
                return False
    return room >= 0


def _piece_size(piece: Piece) -> int:
    if not piece.code:
        return _written_size(piece.text)
    return _mark_size(piece.code + piece.name) + piece.is_line_feed


@lru_cache(maxsize=1024)
def _mark_size(named: str) -> int:
    """One of few, and a text may have thousands of each."""
    return _MARK + len(named.encode())


def _written_size(text: str) -> int:
    """Bytes of the text as HTML."""
    return len(escape(text).encode("utf-8", "surrogatepass"))
