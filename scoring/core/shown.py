"""Texts as a page shows them: marked, cut to a readable length, written alike, compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from json.encoder import encode_basestring
from typing import Final, Literal, NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.diff import MAX_CHARS, Segment, mark_invisible
from scoring.core.json_text import parse

LONG: Final = 20_000  # characters that a page shows of one text
TALL: Final = 4_000  # characters from which a text scrolls in a window of its own
TALL_FOLDED: Final = 8_000  # the same of one that is folded: what is left of it is what matters
EXACT: Final = 2**53  # below it every whole number has its own float
_SHORT: Final = {"\r": "CR", "\n": "↵ LF"}  # what a mark shows where it is not the code point
_LINE_FEED: Final = "U+000A line feed"
_encoded: Final = json.JSONEncoder(ensure_ascii=False).encode

Tag = Literal["", "ins", "del", "mark"]


class Piece(NamedTuple):
    """A stretch of text, or one invisible character with its short mark and its name."""

    text: str
    code: str = ""
    name: str = ""

    @property
    def is_line_feed(self) -> bool:
        """A mark after which the line ends all the same."""
        return self.text == "\n"


class Stretch(NamedTuple):
    """Pieces of text that are in both texts (no tag), only in the output, or only expected.

    `skipped` characters before them, the same in both texts, are left out. `folded` names what
    stands in their place until a reader opens it, and `name` what a match was found by. The
    `empty_lines` that come first keep it level with the other text.
    """

    tag: Tag
    pieces: list[Piece]
    skipped: int = 0
    folded: str = ""
    name: str = ""
    empty_lines: int = 0

    @property
    def text(self) -> str:
        pieces = self.pieces
        return pieces[0].text if len(pieces) == 1 else "".join([piece.text for piece in pieces])


@dataclass(frozen=True)
class Shown:
    """What a page shows of a text.

    `hidden` characters of its end are left out, and `before` that are the same in both texts.
    A `note` says why it is not shown in the way that was asked for.
    """

    stretches: list[Stretch]
    hidden: int = 0
    before: int = 0
    note: str = ""

    @property
    def is_tall(self) -> bool:
        in_sight = [stretch for stretch in self.stretches if not stretch.folded]
        most = TALL if len(in_sight) == len(self.stretches) else TALL_FOLDED
        return sum(len(piece.text) for stretch in in_sight for piece in stretch.pieces) > most

    @property
    def is_empty(self) -> bool:
        return not any(stretch.pieces for stretch in self.stretches)


def shown(text: str) -> Shown:
    """The text, or the start of a long one, with what cannot be seen marked."""
    cut = text[:LONG]
    return Shown([Stretch("", marked(cut))], len(text) - len(cut))


def written(value: Json) -> str:
    """A text as it is, any other value as indented JSON."""
    return value if isinstance(value, str) else _indented(value, "\n")


def scalar_text(value: Json) -> str:
    """A value as JSON on a line; the usual texts and numbers without the way through `json`."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    return int.__repr__(value) if kind is int else _encoded(value)


def _indented(value: Json, line_start: str) -> str:
    """As `json.dumps` with an indent of 2, which takes three times as long."""
    if not (value and isinstance(value, dict | list)):
        return scalar_text(value)
    inner = f"{line_start}  "
    if isinstance(value, list):
        return f"[{','.join([inner + _indented(part, inner) for part in value])}{line_start}]"
    pairs = [
        f"{inner}{encode_basestring(key)}: {_indented(part, inner)}" for key, part in value.items()
    ]
    return f"{{{','.join(pairs)}{line_start}}}"


def written_alike(expected: Json, output: Json) -> tuple[str, str] | None:
    """Both as indented JSON, so that only what they say differs and not how they are written.

    Shared keys stand in the order of the expected value, and 880.0 is 880. None where one of them
    is no object or array, nor a text that holds one.
    """
    wanted, found = structure(expected), structure(output)
    return None if wanted is None or found is None else laid_out_alike(wanted, found)


def laid_out_alike(wanted: Json, found: Json) -> tuple[str, str]:
    """Two objects or arrays as `written_alike` writes them."""
    return written(_ordered(wanted, wanted)), written(_ordered(found, wanted))


def readable(json_text: str) -> Json:
    """The value of a JSON text. Of a long object or array the text itself: no page lays it out."""
    is_long = len(json_text) > MAX_CHARS and json_text.startswith(("{", "["))
    return json_text if is_long else json.loads(json_text)


def structure(value: Json) -> Json:
    """The object or array that a value is, or that its text holds; else None."""
    if isinstance(value, str):
        if len(value) > MAX_CHARS or not value.lstrip().startswith(("{", "[")):
            return None
        try:
            value = parse(value)
        except CaseProblem:
            return None
    return value if isinstance(value, dict | list) else None


def plain_number(value: Json) -> Json:
    """A whole number without decimals, as far as floats are exact; anything else as it is."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT
    return int(value) if is_whole else value


def plainly(value: Json) -> Json:
    """The value with every number in it written plainly: a weight of 3.0 is 3."""
    return _ordered(value, value)


def marked(text: str, *, with_ends: bool = False) -> list[Piece]:
    """The text in pieces, every character that cannot be seen on its own.

    `with_ends` names the line feeds too: one that alone differs would show as nothing.
    """
    if text.isascii() and text.isprintable():  # most of the thousands of pieces of a diff
        return [Piece(text)] if text else []
    return [
        piece
        for found in mark_invisible(text)
        for piece in ([_named(*found)] if found.label or not with_ends else _by_lines(found.text))
    ]


def _named(text: str, label: str | None) -> Piece:
    return _mark(text, label) if label else Piece(text)


@lru_cache(maxsize=1024)  # as for the labels
def _mark(char: str, label: str) -> Piece:
    return Piece(char, _SHORT.get(char) or label.partition(" ")[0], label)


def _by_lines(text: str) -> Iterator[Piece]:
    """The lines of a text between the line feeds, which are pieces of their own."""
    for part in re.findall(r"\n|[^\n]+", text):
        yield _named(part, _LINE_FEED if part == "\n" else None)


def _ordered(value: Json, model: Json) -> Json:
    """The value with the model's keys first and in its order; items are paired by position."""
    if isinstance(value, dict):
        known = model if isinstance(model, dict) else {}
        keys = [key for key in known if key in value] + [key for key in value if key not in known]
        return {key: _ordered(value[key], known.get(key)) for key in keys}
    if isinstance(value, list):
        models = model if isinstance(model, list) else []
        return [_ordered(part, like) for part, like in zip_longest(value, models[: len(value)])]
    return plain_number(value)


def tagged(segments: Iterable[Segment]) -> Iterator[tuple[Tag, str, bool]]:
    """Tag, text, and whether line feeds are to be marked: where nothing but white space differs."""
    for segment in segments:
        if segment.parts:
            yield from tagged(segment.parts)
        elif segment.op == "equal":
            yield "", segment.left, False
        else:
            is_blank = segment.left.split() == segment.right.split()
            yield from (("del", segment.left, is_blank),) if segment.left else ()
            yield from (("ins", segment.right, is_blank),) if segment.right else ()
