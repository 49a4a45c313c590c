"""Where a value lies inside a JSON value: `result.items[0].name`, `["odd key"].x`, `[2]`.

One syntax serves problems, target keys, ignored paths and the leaf table, so that a path copied
from a page works in a config.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.encoder import encode_basestring
from typing import Any, Final

Step = str | int
Path = tuple[Step, ...]

ANY: Final = "*"  # as a key or inside brackets: every key, every position
NO_VALUE: Final[Any] = object()  # a key that is not there, unlike one that holds null

_PLAIN_KEY = re.compile(r"(?!\$\Z)[^.\[\]\"\s*\x00-\x1f]+")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_STEP = re.compile(rf"\[(?P<index>\d{{1,9}}|\*)\]|\[(?P<quoted>{_QUOTED})\]|(?P<key>[^.\[\]]+)")


def path_text(path: Sequence[Step]) -> str:
    """The path as people write it; the whole value is `$`."""
    return whole_path("".join(map(step_text, path)))


def step_text(step: Step) -> str:
    """A step as it follows others: `.name`, `["odd key"]`, `[2]`."""
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{encode_basestring(step)}]"


def whole_path(steps: str) -> str:
    """The path of the joined texts of its steps."""
    return steps.removeprefix(".") or "$"


class StepTexts(dict[Step, str]):
    """The texts of steps, cached: a thousand objects of a list share a handful of keys."""

    def __missing__(self, step: Step) -> str:
        text = self[step] = step_text(step)
        return text


def parse_path(text: str) -> Path:
    """The steps of a path as people write it. Raises ValueError, which says where."""
    if text == "$":
        return ()
    steps: list[Step] = []
    position = 0
    while position < len(text) or not steps:
        if steps and text[position] == ".":
            position += 1
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"cannot read the path {text[:80]!r} at character {position + 1}")
        steps.append(_read_step(match))
        position = match.end()
    return tuple(steps)


def find_key(value: Any, key: str) -> Any:
    """The value at a literal key, else at a path; `NO_VALUE` when neither is there."""
    if isinstance(value, dict) and key in value:
        return value[key]
    try:
        steps = parse_path(key)
    except ValueError:
        return NO_VALUE
    for step in steps:
        if isinstance(step, int):
            is_there = isinstance(value, list) and step < len(value)
        else:
            is_there = isinstance(value, dict) and step in value
        if not is_there:
            return NO_VALUE
        value = value[step]
    return value


def _read_step(match: re.Match[str]) -> Step:
    if (index := match["index"]) is not None:
        return ANY if index == ANY else int(index)
    if (quoted := match["quoted"]) is not None:
        return str(json.loads(quoted))
    return match["key"]
