"""Undo: an action takes effect at once, and its message has a button that reverts it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest

MAX_FORM_CHARS: Final = 250_000  # characters of a form that a message carries to the next page
NO_UNDO: Final = (
    f"There is no Undo: what it would bring back is over {MAX_FORM_CHARS:,} characters."
)


class Undo(NamedTuple):
    """The form that reverts an action: the path it posts to, and its fields."""

    path: str
    fields: dict[str, str]


def add_undo_message(
    request: HttpRequest, text: str, path: str, fields: Mapping[str, Any] | None = None
) -> None:
    """Add a message whose Undo button posts these fields to this path.

    Fields too long for the message storage get no button, and the text says so.
    """
    written = {name: str(value) for name, value in (fields or {}).items()}
    kept = json.dumps([path, written])
    if len(kept) <= MAX_FORM_CHARS:
        messages.success(request, text, extra_tags=kept)
    else:
        messages.success(request, f"{text} {NO_UNDO}")


def undo_from_message(message: Message) -> Undo | None:
    """The Undo of the message; None without one."""
    try:
        path, fields = json.loads(message.extra_tags or "")
    except ValueError:
        return None
    return Undo(path, fields)
