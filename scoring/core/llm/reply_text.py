"""A judge's JSON object without what models write around it, and what else a reply holds.

Models that reason write their thoughts first, between tags or with the closing tag alone, and many
models fence their answer. One block of thoughts and one fence around all that is left are taken
off. Text of any other kind stays: it may quote a verdict that is not the judge's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Final

_THOUGHTS: Final = r"(?:think|thinking|thought|thoughts|reasoning)"
_OPENING: Final = re.compile(rf"<{_THOUGHTS}>|\[{_THOUGHTS}\]", re.IGNORECASE)
_CLOSING: Final = re.compile(rf"</{_THOUGHTS}>|\[/{_THOUGHTS}\]", re.IGNORECASE)
_FENCE_MARKS: Final = ("```", "~~~")
_LANGUAGE: Final = re.compile(r"[ \t]*[A-Za-z][\w+.-]*(?=[\s{])")
_DECODER: Final = json.JSONDecoder()
_MOST_BRACES: Final = 200  # tried as the start of an object
MAX_QUOTED: Final = 80


def unwrap(text: str) -> str:
    """The reply without one leading block of thoughts and one fence around the rest."""
    return _without_fence(_without_thoughts(text.strip()))


def count_objects(text: str, fields: Collection[str]) -> int:
    """How many JSON objects with one of these fields the text holds, in prose or without."""
    count, position = 0, 0
    for _ in range(_MOST_BRACES):
        position = text.find("{", position)
        if position < 0:
            break
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        count += any(name in value for name in fields)
    return count


def describe_unparsable(text: str, fields: Collection[str], problem: str) -> str:
    """What the unwrapped reply holds instead of one JSON object, and what helps.

    `problem` says where the text stops being JSON.
    """
    if _OPENING.match(text):
        return "the reply holds thoughts without an end; allow more tokens, or turn thinking off"
    if count_objects(text, fields):
        start = text.find("{")
        around = text[:start].strip() or text[text.rfind("}") + 1 :].strip()
        return (
            f"text stands around the JSON object: {quote(around)}; "
            "a verdict counts only alone, so retry, or choose a model that keeps to JSON"
        )
    if text.startswith("{"):
        return f"the reply is not one JSON object: {problem}; retry, or choose another model"
    return (
        f"the reply holds no JSON object, but {quote(text)}; "
        "retry, or choose a model that keeps to JSON"
    )


def quote(text: str) -> str:
    """The text in quotes, cut."""
    return json.dumps(cut(text), ensure_ascii=False)


def cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…"


def _without_thoughts(text: str) -> str:
    """Without an opening tag, what leads up to a closing one is thoughts, unless it is JSON."""
    if not _OPENING.match(text) and text.startswith(("{", "[{", *_FENCE_MARKS)):
        return text
    end = _CLOSING.search(text)
    return text[end.end() :].strip() if end else text


def _without_fence(text: str) -> str:
    """A fence is three or more marks, closed by at least as many; a word may name the language."""
    if not text.startswith(_FENCE_MARKS):
        return text
    mark = text[0]
    opened = len(text) - len(text.lstrip(mark))
    closed = len(text) - len(text.rstrip(mark))
    if not opened <= closed < len(text):
        return text
    return _LANGUAGE.sub("", text[opened:-closed], count=1).strip()
