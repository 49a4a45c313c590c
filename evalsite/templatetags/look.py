"""Filters that set numbers and times the way every page sets them.

Numbers stay exact until here. None, "no result", becomes an en dash and never a zero.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Final

from django import template
from django.contrib.messages.storage.base import Message
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evalsite.pages.undo import Undo, undo_of
from scoring.core.json_text import text_of
from scoring.core.number_text import MINUS, dollars_text, number_text, rounded, share_text
from scoring.core.shown import plainly

register = template.Library()

NOTHING = "\N{EN DASH}"
_CODED: Final = re.compile(r"`([^`]+)`")


@register.filter
def count(value: int | None) -> str:
    """1191 → "1,191"."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def score(value: float | None, decimals: int = 2) -> str:
    """0.8149 → "0.81"; 0.9987 → "0.999", since "1.00" would be all there is."""
    return NOTHING if value is None else number_text(value, decimals)


@register.filter
def score_beside(value: float | None, threshold: float | None) -> str:
    """A score with as many decimals, from 2 on, as show on which side of its threshold it lies.

    0.6996 beside 0.7 is "0.6996": set as "0.70" it would seem to have passed.
    """
    if value is None:
        return NOTHING
    return number_text(value, limit=1 if threshold is None else threshold)


@register.filter
def share(value: float | None, decimals: int = 1) -> str:
    """0.872 → "87.2 %"."""
    return NOTHING if value is None else share_text(value, decimals)


@register.filter
def dollars(value: float | None) -> str:
    """An amount in US dollars, as `dollars_text` says it."""
    return NOTHING if value is None else dollars_text(value)


@register.filter
def plain(value: float | None) -> str:
    """A threshold or a setting, whole: 0.7 → "0.7", 1.0 → "1"."""
    return NOTHING if value is None else text_of(value)


@register.filter
def as_json(value: Any) -> str:
    """A value as readable JSON: 3.0 is 3, short ones on a line, others indented."""
    value = plainly(value)
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= 80 else json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def coded(text: object) -> list[tuple[bool, str]]:
    """A help text in pieces, each with whether it stood between backticks; HTML stays whole."""
    whole = str(text)  # it may be lazy
    if isinstance(whole, SafeString):
        return [(False, whole)]
    return [(place % 2 == 1, piece) for place, piece in enumerate(_CODED.split(whole)) if piece]


@register.filter
def signed(value: float | None, decimals: int = 2) -> str:
    """A change with its sign, a true minus too; one that rounds to nothing has no sign."""
    if value is None:
        return NOTHING
    text = rounded(abs(value), decimals)
    if not float(text):
        return text
    return ("+" if value > 0 else MINUS) + number_text(abs(value), decimals)


@register.filter
def exact(when: datetime | None) -> str:
    """12 Nov 2026, 14:03 UTC."""
    return NOTHING if when is None else f"{_day(when)}, {when:%H:%M} UTC"


@register.filter
def ago(when: datetime | None) -> str:
    """How long ago, in one unit; the date itself after two weeks. app.js says the same."""
    if when is None:
        return NOTHING
    seconds = (timezone.now() - when).total_seconds()
    if abs(seconds) >= 14 * 86_400:
        return _day(when)
    length = _length(abs(seconds))
    if not length:
        return "just now"
    return f"{length} ago" if seconds > 0 else f"in {length}"


@register.filter
def lasting(seconds: float) -> str:
    """A time still to wait, in words: "under a minute", "5 min", "3 h"."""
    return _length(seconds) or "under a minute"


@register.filter
def left(seconds: int) -> str:
    """A time still to wait, below a minute in seconds: "about 5 s", "2 min"."""
    return f"about {seconds} s" if seconds < 60 else lasting(seconds)


@register.filter
def speed(per_second: float) -> str:
    """12.3 → "12 a second"; below one, by the minute: 0.2 → "12 a minute"."""
    if per_second >= 0.95:
        return f"{per_second:,.0f} a second"
    return f"{per_second * 60:.0f} a minute" if per_second >= 1 / 60 else "under one a minute"


def _length(seconds: float) -> str:
    """A length of time in its largest unit; "" under a minute."""
    if seconds < 60:
        return ""
    if seconds < 3_600:
        return f"{seconds // 60:.0f} min"
    if seconds < 86_400:
        return f"{seconds // 3_600:.0f} h"
    days = int(seconds // 86_400)
    return "1 day" if days == 1 else f"{days} days"


def _day(when: datetime) -> str:
    return f"{when.day} {when:%b %Y}"


@register.filter
def undo(message: Message) -> Undo | None:
    """The form that takes back what a message says was done."""
    return undo_of(message)


@register.simple_tag
def stays() -> SafeString:
    """Attributes of a form or of links after which this page is shown: htmx swaps what is on it.

    Where the page stood, the focus and what was typed stay, also if the request fails. Only for
    what leads to a page of the same scripts and styles.
    """
    swap = 'hx-boost="true" hx-target="{0}" hx-select="{0}" hx-swap="outerHTML show:none"'
    return format_html(swap, "#main")
