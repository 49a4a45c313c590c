"""The layout of texts on a page: marked, limited in length, normalized for comparison."""

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
from scoring.core.json_text import parse
from scoring.core.textdiff.diff import MAX_CHARS, Segment, mark_invisible

SHOWN_CHARS: Final = 20_000  # characters that a page shows of one text
TALL_CHARS: Final = 4_000  # characters from which a text scrolls in a window of its own
#: The same of a text that is folded: what is left of it is what matters.
TALL_CHARS_FOLDED: Final = 8_000
EXACT: Final = 2**53  # below it every whole number has its own float
_SHORT: Final = {"\r": "CR", "\n": "↵ LF"}  # what a mark shows where it is not the code point
_LINE_FEED: Final = "U+000A line feed"
_encoded: Final = json.JSONEncoder(ensure_ascii=False).encode

Tag = Literal["", "ins", "del", "mark"]


class Span(NamedTuple):
    """A block of text, or one invisible character with its short mark and its name."""

    text: str
    code: str = ""
    name: str = ""

    @property
    def is_line_feed(self) -> bool:
        """A mark after which the line ends all the same."""
        return self.text == "\n"


class Block(NamedTuple):
    """Pieces of text that are in both texts (no tag), only in the output, or only expected.

    `skipped` characters before them, the same in both texts, are left out. `folded` names what
    stands in their place until a reader opens it, and `name` what a match was found by. The
    `empty_lines` that come first keep it level with the other text.
    """

    tag: Tag
    spans: list[Span]
    skipped: int = 0
    folded: str = ""
    name: str = ""
    empty_lines: int = 0

    @property
    def text(self) -> str:
        spans = self.spans
        return spans[0].text if len(spans) == 1 else "".join([span.text for span in spans])


@dataclass(frozen=True)
class TextLayout:
    """What a page shows of a text.

    `hidden` characters of its end are left out, and `before` that are the same in both texts.
    A `note` says why it is not shown in the way that was asked for.
    """

    blocks: list[Block]
    hidden: int = 0
    before: int = 0
    note: str = ""

    @property
    def is_tall(self) -> bool:
        in_sight = [block for block in self.blocks if not block.folded]
        most = TALL_CHARS if len(in_sight) == len(self.blocks) else TALL_CHARS_FOLDED
        return sum(len(span.text) for block in in_sight for span in block.spans) > most

    @property
    def is_empty(self) -> bool:
        return not any(block.spans for block in self.blocks)


def layout_text(text: str) -> TextLayout:
    """The text, or the start of a long one, with what cannot be seen marked."""
    cut = text[:SHOWN_CHARS]
    return TextLayout([Block("", mark_spans(cut))], len(text) - len(cut))


def display_text(value: Json) -> str:
    """A text as it is, any other value as indented JSON."""
    return value if isinstance(value, str) else _indent(value, "\n")


def format_scalar(value: Json) -> str:
    """A value as JSON on a line; the usual texts and numbers without the way through `json`."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    return int.__repr__(value) if kind is int else _encoded(value)


def _indent(value: Json, line_start: str) -> str:
    """As `json.dumps` with an indent of 2, which takes three times as long."""
    if not (value and isinstance(value, dict | list)):
        return format_scalar(value)
    inner = f"{line_start}  "
    if isinstance(value, list):
        return f"[{','.join([inner + _indent(part, inner) for part in value])}{line_start}]"
    pairs = [
        f"{inner}{encode_basestring(key)}: {_indent(part, inner)}" for key, part in value.items()
    ]
    return f"{{{','.join(pairs)}{line_start}}}"


def normalize_pair(expected: Json, output: Json) -> tuple[str, str] | None:
    """Both as indented JSON, so that only what they say differs and not how they are written.

    Shared keys stand in the order of the expected value, and 880.0 is 880. None where one of them
    is no object or array, nor a text that holds one.
    """
    one, other = find_structure(expected), find_structure(output)
    return None if one is None or other is None else normalize_structures(one, other)


def normalize_structures(expected: Json, output: Json) -> tuple[str, str]:
    """Two objects or arrays as `normalize_pair` writes them."""
    return display_text(_order(expected, expected)), display_text(_order(output, expected))


def parse_for_display(json_text: str) -> Json:
    """The value of a JSON text. Of a long object or array the text itself: no page lays it out."""
    is_long = len(json_text) > MAX_CHARS and json_text.startswith(("{", "["))
    return json_text if is_long else json.loads(json_text)


def find_structure(value: Json) -> Json:
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


def plain_numbers(value: Json) -> Json:
    """The value with every number in it written plainly: a weight of 3.0 is 3."""
    return _order(value, value)


def mark_spans(text: str, *, with_ends: bool = False) -> list[Span]:
    """The text in spans, every character that cannot be seen on its own.

    `with_ends` names the line feeds too: one that alone differs would show as nothing.
    """
    if text.isascii() and text.isprintable():  # most of the thousands of spans of a diff
        return [Span(text)] if text else []
    return [
        span
        for piece, label in mark_invisible(text)
        for span in (
            [_mark(piece, label)] if label else _line_spans(piece) if with_ends else [Span(piece)]
        )
    ]


@lru_cache(maxsize=1024)  # a text has few kinds of marks, and may have thousands of each
def _mark(char: str, label: str) -> Span:
    return Span(char, _SHORT.get(char) or label.partition(" ")[0], label)


def _line_spans(text: str) -> Iterator[Span]:
    """The lines of a text, with each line feed as a mark."""
    for part in re.findall(r"\n|[^\n]+", text):
        yield _mark(part, _LINE_FEED) if part == "\n" else Span(part)


def _order(value: Json, model: Json) -> Json:
    """The value with the model's keys first and in its order; items are paired by position."""
    if isinstance(value, dict):
        known = model if isinstance(model, dict) else {}
        keys = [key for key in known if key in value] + [key for key in value if key not in known]
        return {key: _order(value[key], known.get(key)) for key in keys}
    if isinstance(value, list):
        models = model if isinstance(model, list) else []
        return [_order(part, like) for part, like in zip_longest(value, models[: len(value)])]
    return plain_number(value)


def tag_segments(segments: Iterable[Segment]) -> Iterator[tuple[Tag, str, bool]]:
    """Tag, text, and whether line feeds are to be marked: where nothing but white space differs."""
    for segment in segments:
        if segment.parts:
            yield from tag_segments(segment.parts)
        elif segment.op == "equal":
            yield "", segment.left, False
        else:
            is_blank = segment.left.split() == segment.right.split()
            yield from (("del", segment.left, is_blank),) if segment.left else ()
            yield from (("ins", segment.right, is_blank),) if segment.right else ()
