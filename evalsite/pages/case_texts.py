"""The texts of one case as a page shows them: marked, cut to a readable length, compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal, NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.diff import MAX_CHARS, Mode, Segment, diff, mark_invisible
from scoring.core.json_text import parse

LONG: Final = 20_000  # characters that a page shows of one text
TALL: Final = 4_000  # characters from which a text scrolls in a window of its own
EXACT: Final = 2**53  # below it every whole number has its own float

Tag = Literal["", "ins", "del"]


class Piece(NamedTuple):
    """A stretch of text, or one invisible character with its code point and its name."""

    text: str
    code: str = ""
    name: str = ""


class Stretch(NamedTuple):
    """Pieces of text that are in both texts (no tag), only in the output, or only expected."""

    tag: Tag
    pieces: list[Piece]


@dataclass(frozen=True)
class Shown:
    """What a page shows of a text.

    `hidden` characters of its end are left out, and `before` that are the same in both texts.
    """

    stretches: list[Stretch]
    hidden: int = 0
    before: int = 0

    @property
    def is_tall(self) -> bool:
        pieces = (piece for stretch in self.stretches for piece in stretch.pieces)
        return sum(len(piece.text) for piece in pieces) > TALL

    @property
    def is_empty(self) -> bool:
        return not any(stretch.pieces for stretch in self.stretches)


def shown(text: str) -> Shown:
    """The text, or the start of a long one, with what cannot be seen marked."""
    cut = text[:LONG]
    return Shown([Stretch("", marked(cut))], len(text) - len(cut))


def compared(expected: str, output: str, mode: Mode) -> Shown:
    """One text that holds both, with what is missing and what is new marked."""
    found = diff(expected, output, mode)
    stretches: list[Stretch] = []
    room, hidden = LONG, len(output) - found.start
    for tag, text in _tagged(found.segments):
        cut = text[:room]
        stretches.append(Stretch(tag, marked(cut)))
        room -= len(cut)
        hidden -= 0 if tag == "del" else len(cut)
        if not room:
            break
    return Shown(stretches, hidden, found.start)


def written(value: Json) -> str:
    """A text as it is, any other value as indented JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def written_alike(expected: Json, output: Json) -> tuple[str, str] | None:
    """Both as indented JSON, so that only what they say differs and not how they are written.

    Shared keys stand in the order of the expected value, and 880.0 is 880. None where one of them
    is no object or array, nor a text that holds one.
    """
    wanted, found = _structure(expected), _structure(output)
    if wanted is None or found is None:
        return None
    return written(_ordered(wanted, wanted)), written(_ordered(found, wanted))


def marked(text: str) -> list[Piece]:
    """The text in pieces, every character that cannot be seen on its own."""
    return [
        Piece(piece.text, piece.label.partition(" ")[0], piece.label)
        if piece.label
        else Piece(piece.text)
        for piece in mark_invisible(text)
    ]


def _structure(value: Json) -> Json:
    """The object or array that a value is, or that its text holds; else None."""
    if isinstance(value, str):
        if len(value) > MAX_CHARS or not value.lstrip().startswith(("{", "[")):
            return None
        try:
            value = parse(value)
        except CaseProblem:
            return None
    return value if isinstance(value, dict | list) else None


def _ordered(value: Json, model: Json) -> Json:
    """The value with the model's keys first and in its order; items are paired by position."""
    if isinstance(value, dict):
        known = model if isinstance(model, dict) else {}
        keys = [key for key in known if key in value] + [key for key in value if key not in known]
        return {key: _ordered(value[key], known.get(key)) for key in keys}
    if isinstance(value, list):
        models = model if isinstance(model, list) else []
        return [_ordered(part, like) for part, like in zip_longest(value, models[: len(value)])]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT
    return int(value) if is_whole else value


def _tagged(segments: Iterable[Segment]) -> Iterator[tuple[Tag, str]]:
    for segment in segments:
        if segment.parts:
            yield from _tagged(segment.parts)
        elif segment.op == "equal":
            yield "", segment.left
        else:
            yield from (("del", segment.left),) if segment.left else ()
            yield from (("ins", segment.right),) if segment.right else ()
