"""Chats as models are taught by them: a list of messages, the last of which is the right answer.

Such a list is two columns: `messages[:-1]`, what was said before, and `messages[-1].content`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.files.rows import Row
from scoring.core.json_path import parse_path

Steps = tuple[str | int | slice, ...]

_END: Final = re.compile(r"\[(:?-1)\]")
_BEFORE: Final = slice(None, -1)


class _Form(NamedTuple):
    """What a message calls who speaks, how it calls the model, and where the text is."""

    speaker: str
    model: tuple[str, ...]
    text: str


_FORMS: Final = (
    _Form("role", ("assistant", "model"), "content"),
    _Form("from", ("gpt", "assistant"), "value"),
)


def steps_of(column: str) -> Steps:
    """The steps of a path, in which `[-1]` is the last of a list and `[:-1]` all before it.

    Raises ValueError where it cannot be read.
    """
    try:
        return parse_path(column)
    except ValueError:
        return _steps_from_the_end(column)


def _steps_from_the_end(column: str) -> Steps:
    pieces = _END.split(column)
    if len(pieces) == 1:
        return parse_path(column)
    steps: list[str | int | slice] = []
    for place, piece in enumerate(pieces):
        if place % 2:
            steps.append(-1 if piece == "-1" else _BEFORE)
        elif piece:
            steps.extend(parse_path(piece.removeprefix(".") if place else piece))
    return tuple(steps)


def halves(column: str, rows: Sequence[Row]) -> tuple[str, str] | None:
    """The column as what was said before and the answer, where every chat ends with a text of a
    model that answers something.
    """
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


def without_halves(cells: dict[str, Json], paths: Sequence[Steps]) -> dict[str, Json]:
    """The cells without the chats of which both halves are mapped, but for what more the last
    message holds.
    """
    for name in {path[0] for path in paths if path[1:] == (_BEFORE,)}:
        form = next((form for form in _FORMS if (name, -1, form.text) in paths), None)
        if form is not None and isinstance(cells.get(str(name)), list):
            cells = _left(cells, str(name), form)
    return cells


def _left(cells: dict[str, Any], name: str, form: _Form) -> dict[str, Json]:
    rest = {key: value for key, value in cells.items() if key != name}
    last = cells[name][-1] if cells[name] else {}
    if not isinstance(last, dict):
        return rest
    more = {key: value for key, value in last.items() if key not in (form.speaker, form.text)}
    return {**rest, name: more} if more else rest
