"""Chats for fine-tuning: lists of messages, the last of which is the right answer.

Such a list is two columns: `messages[:-1]`, the messages before, and `messages[-1].content`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.files.rows import Row
from scoring.core.json_path import parse_path

Steps = tuple[str | int | slice, ...]

_END: Final = re.compile(r"\[(:?-1)\]")
_BEFORE: Final = slice(None, -1)


class _Form(NamedTuple):
    """The key of a message's speaker, the names of the model there, and the key of the text."""

    speaker: str
    model: tuple[str, ...]
    text: str


_FORMS: Final = (
    _Form("role", ("assistant", "model"), "content"),
    _Form("from", ("gpt", "assistant"), "value"),
)


def split_steps(column: str) -> Steps:
    """The steps of a path, in which `[-1]` is the last of a list and `[:-1]` all before it.

    Raises ValueError where it cannot be read.
    """
    with suppress(ValueError):
        return parse_path(column)
    first, *pieces = _END.split(column)
    if not pieces:
        return parse_path(column)
    steps: list[str | int | slice] = [*parse_path(first)] if first else []
    for end, rest in zip(pieces[::2], pieces[1::2], strict=True):
        steps.append(-1 if end == "-1" else _BEFORE)
        if rest:
            steps.extend(parse_path(rest.removeprefix(".")))
    return tuple(steps)


def split_chat(column: str, rows: Sequence[Row]) -> tuple[str, str] | None:
    """The columns of the messages before and of the answer, if every chat ends with an answer."""
    chats = [row.fields[column] for row in rows if column in row.fields]
    for form in _FORMS:
        if chats and all(_is_answered(chat, form) for chat in chats):
            return f"{column}[:-1]", f"{column}[-1].{form.text}"
    return None


def _is_answered(chat: Json, form: _Form) -> bool:
    if not isinstance(chat, list) or len(chat) < 2 or not isinstance(chat[-1], dict):
        return False
    last = chat[-1]
    return last.get(form.speaker) in form.model and isinstance(last.get(form.text), str)


def drop_chat(cells: dict[str, Json], paths: Sequence[Steps]) -> dict[str, Json]:
    """The cells without chats of which both parts are mapped; other keys of their last messages
    are kept.
    """
    for name in {path[0] for path in paths if path[1:] == (_BEFORE,)}:
        form = next((form for form in _FORMS if (name, -1, form.text) in paths), None)
        if form and isinstance(cells.get(str(name)), list):
            cells = _drop_chat(cells, str(name), form)
    return cells


def _drop_chat(cells: dict[str, Any], name: str, form: _Form) -> dict[str, Json]:
    rest = {key: value for key, value in cells.items() if key != name}
    last = cells[name][-1] if cells[name] else {}
    if not isinstance(last, dict):
        return rest
    more = {key: value for key, value in last.items() if key not in (form.speaker, form.text)}
    return {**rest, name: more} if more else rest
