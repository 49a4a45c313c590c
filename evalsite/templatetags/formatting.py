"""Filters that format numbers and times the same way on every page.

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

from evalsite.pages.web.undo import Undo, undo_from_message
from scoring.core.json_text import to_text
from scoring.core.textdiff.text_layout import plain_numbers
from scoring.core.wording.numbers import MINUS, dollars_text, number_text, round_half_up, share_text

register = template.Library()

NOTHING = "\N{EN DASH}"
VERDICT_MARKS: Final = {"pass": "✓", "fail": "✕", "error": "!", "unsure": "?", "bad_case": "∅"}
_CODE: Final = re.compile(r"`([^`]+)`")


@register.filter
def count(value: float | None) -> str:
    """1191 → "1,191". A case with several trials may count in part: 2.3333 → "2.33"."""
    if value is None or isinstance(value, int):
        return NOTHING if value is None else f"{value:,}"
    return f"{value:,.2f}".rstrip("0").removesuffix(".")


@register.filter
def verdict_mark(verdict: str) -> str:
    """The sign beside the word of a scorer's or a person's verdict."""
    return VERDICT_MARKS.get(verdict, NOTHING)


@register.filter
def score(value: float | None, decimals: int = 2) -> str:
    """0.8149 → "0.81"; 0.9987 → "0.999", since "1.00" would be all there is."""
    return NOTHING if value is None else number_text(value, decimals)


@register.filter
def score_near_threshold(value: float | None, threshold: float | None) -> str:
    """A score with as many decimals, from 2 on, as show on which side of its threshold it lies.

    0.6996 beside 0.7 is "0.6996": set as "0.70" it would seem to have passed.
    """
    if value is None:
        return NOTHING
    return number_text(value, limit=1 if threshold is None else threshold)


@register.filter
def cut(text: str, length: int) -> str:
    """The opening of a text, with "…" in place of what is beyond so many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


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
    return NOTHING if value is None else to_text(value)


@register.filter
def as_json(value: Any) -> str:
    """A value as readable JSON: 3.0 is 3, short ones on a line, others indented."""
    value = plain_numbers(value)
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= 80 else json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def split_code(text: object) -> list[tuple[bool, str]]:
    """The parts of a help text, each with whether it is code in backticks; HTML is one part."""
    whole = str(text)  # it may be lazy
    if isinstance(whole, SafeString):
        return [(False, whole)]
    return [(index % 2 == 1, part) for index, part in enumerate(_CODE.split(whole)) if part]


@register.filter
def signed(value: float | None, decimals: int = 2) -> str:
    """A change with its sign and a true minus; one that rounds to zero has no sign."""
    if value is None:
        return NOTHING
    text = round_half_up(abs(value), decimals)
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
def duration(seconds: float) -> str:
    """A length of time in words: "under a minute", "5 min", "3 h"."""
    return _length(seconds) or "under a minute"


@register.filter
def time_left(seconds: int) -> str:
    """A remaining time, in seconds below a minute: "about 5 s", "2 min"."""
    return f"about {seconds} s" if seconds < 60 else duration(seconds)


@register.filter
def pace(seconds: float) -> str:
    """The time that one thing takes: "4 s", "38 s", "3 min"."""
    return f"{max(1, round(seconds))} s" if seconds < 120 else duration(seconds)


@register.filter
def times(number: int) -> str:
    """How often: "once", "twice", "3 times"."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


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
    return undo_from_message(message)


@register.simple_tag
def boost() -> SafeString:
    """Attributes of a form or link that leads to this page again: htmx swaps its main part.

    Scroll position, focus and typed text are kept, also if the request fails. Only for what leads
    to a page with the same scripts and styles.
    """
    swap = 'hx-boost="true" hx-target="{0}" hx-select="{0}" hx-swap="outerHTML show:none"'
    return format_html(swap, "#main")
