"""What Excel shows of a day or a time, in English."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from scoring.core.files.xlsx.format_parts import Part
from scoring.core.files.xlsx.number_formats import Moment, moment_of

_SECONDS: Final = {"h": 3_600, "m": 60, "s": 1}
_EXACT: Final = Context(prec=400)
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def show_days(parts: Sequence[Part]) -> Callable[[Decimal], str | None] | None:
    """What shows a number of days by these parts; None where they hold digits of their own."""
    pieces = _pieces(parts)
    if pieces is None:
        return None
    is_halved = any(piece in ("am/pm", "a/p") for piece, is_day in pieces if is_day)
    decimals = max(
        (len(piece) - 1 for piece, is_day in pieces if is_day and piece[0] == "."), default=0
    )

    def show(number: Decimal) -> str | None:
        step = Decimal(1).scaleb(-decimals)
        seconds = (number * 86_400).quantize(step, ROUND_HALF_UP, _EXACT)
        moment = moment_of(seconds)
        if moment is None:
            return None
        return "".join(
            _show_piece(piece, moment, seconds, is_halved=is_halved) if is_day else piece
            for piece, is_day in pieces
        )

    return show


def _pieces(parts: Sequence[Part]) -> list[tuple[str, bool]] | None:
    """Each part's text, and whether it stands for something of the day.

    Minutes are `n`, decimals of a second `.0`.
    """
    pieces: list[tuple[str, bool]] = []
    letters: list[int] = []  # places of what stands for something
    for part in parts:
        if part.kind == "digit":
            if part.text != "0" or not pieces or pieces[-1][0][0] != ".":
                return None
            pieces[-1] = (f"{pieces[-1][0]}0", True)
            continue
        if part.kind == "day":
            letters.append(len(pieces))
        if part.text:
            pieces.append((part.text, part.kind == "day"))
    for index, place in enumerate(letters):
        before = pieces[letters[index - 1]][0] if index else ""
        behind = pieces[letters[index + 1]][0] if index + 1 < len(letters) else ""
        text = pieces[place][0]
        if text in ("m", "mm") and (before.strip("[]")[:1] == "h" or behind[:1] == "s"):
            pieces[place] = ("n" * len(text), True)
    return pieces


def _show_piece(piece: str, moment: Moment, seconds: Decimal, *, is_halved: bool) -> str:
    if piece[0] == "[":
        return f"{int(seconds) // _SECONDS[piece[1]]:0{len(piece) - 2}d}"
    if piece in ("am/pm", "a/p"):
        half = "AM" if moment.hour < 12 else "PM"
        return half if piece == "am/pm" else half[0]
    if piece[0] == ".":
        return "." + f"{seconds % 1:f}".partition(".")[2].ljust(len(piece) - 1, "0")
    width = len(piece)
    if piece[0] == "y":
        return f"{moment.year:04d}" if width > 2 else f"{moment.year % 100:02d}"
    if piece[0] in "dm" and width > 2:
        name = _DAYS[moment.weekday] if piece[0] == "d" else _MONTHS[moment.month - 1]
        return {3: name[:3], 5: name[:1]}.get(width, name)
    hour = (moment.hour % 12 or 12) if is_halved else moment.hour
    numbers = {
        "d": moment.day,
        "m": moment.month,
        "h": hour,
        "n": moment.minute,
        "s": moment.second,
    }
    return f"{numbers[piece[0]]:0{min(width, 2)}d}"
