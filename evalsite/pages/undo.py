"""Undo: an act is done at once, and the message that says so takes it back by one button."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest

MOST_KEPT: Final = 250_000  # characters of a form that a message carries to the next page
NO_UNDO: Final = f"There is no Undo: what it would bring back is over {MOST_KEPT:,} characters."


class Undo(NamedTuple):
    """The form that takes an act back: where it is sent, and what it holds by field."""

    path: str
    fields: dict[str, str]


def say_done(
    request: HttpRequest, text: str, path: str, fields: Mapping[str, Any] | None = None
) -> None:
    """Say what was done on the next page, beside a button that posts these fields to this path.

    Where the fields are too long to be kept until then there is no button, and the text says so.
    """
    written = {name: str(value) for name, value in (fields or {}).items()}
    kept = json.dumps([path, written])
    if len(kept) <= MOST_KEPT:
        messages.success(request, text, extra_tags=kept)
    else:
        messages.success(request, f"{text} {NO_UNDO}")


def undo_of(message: Message) -> Undo | None:
    """What takes back what the message says; None where nothing does."""
    try:
        path, fields = json.loads(message.extra_tags or "")
    except ValueError:
        return None
    return Undo(path, fields)
