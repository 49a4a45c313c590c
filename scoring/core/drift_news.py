"""What of a line of means is news: whether it drifts, has drifted, or rose. For lists of lines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from scoring.core.drift import LATEST, Change, change_points, control_limits
from scoring.core.number_text import number_text

MOST_NAMED = 3


class Weight(IntEnum):
    """How much a piece of news asks for a look."""

    ROSE = 1
    PAST = 2
    DRIFTS = 3


class News(NamedTuple):
    """`text` goes on from the scorer's name, `texts` from several names."""

    weight: Weight
    text: str
    texts: str


def news_of(labels: Sequence[str], means: Sequence[float]) -> News | None:
    """Of the runs since the last break, oldest first; None below FEWEST runs or without news."""
    return _news(tuple(labels), tuple(means))


@lru_cache(maxsize=2_048)
def _news(labels: tuple[str, ...], means: tuple[float, ...]) -> News | None:
    """Permuting takes milliseconds, and the same runs are looked at again and again."""
    limits = control_limits(means)
    if limits is None:
        return None
    changes = [each for each in change_points(means) if each.place >= len(means) - LATEST]
    first = len(means) - limits.n
    below = [place for place in range(first, len(means)) if means[place] < limits.low]
    level, outside = _level(labels, changes), _outside(labels, below)
    # A change of level says why runs on its other side lie below the limits.
    if level and outside and outside.weight == Weight.DRIFTS:
        return level if level.weight == Weight.DRIFTS else _wide(outside, labels, changes)
    return level or outside


def _wide(outside: News, labels: Sequence[str], changes: Sequence[Change]) -> News:
    """Limits over two levels are wide, and a run below them is all the more so."""
    wide = f", though these span the change of level with {labels[changes[-1].place]}"
    return outside._replace(text=outside.text + wide, texts=outside.texts + wide)


def _level(labels: Sequence[str], changes: Sequence[Change]) -> News | None:
    """The latest change of level; a fall that was made good is past."""
    if not changes:
        return None
    change = changes[-1]
    before, after = number_text(change.before, 3), number_text(change.after, 3)
    text = f"with {labels[change.place]}: {before} → {after}"
    if change.after < change.before:
        return News(Weight.DRIFTS, f"fell {text}", f"fell {text}")
    if len(changes) > 1 and changes[-2].after < changes[-2].before:
        fell = f"fell with {labels[changes[-2].place]} and rose again {text}"
        return News(Weight.PAST, fell, fell)
    return News(Weight.ROSE, f"rose {text}", f"rose {text}")


def _outside(labels: Sequence[str], below: Sequence[int]) -> News | None:
    if not below:
        return None
    names = listed([labels[place] for place in below])
    if below[-1] == len(labels) - 1:
        text = f"below {{}} control limits in {names}"
        return News(Weight.DRIFTS, f"is {text.format('its')}", f"are {text.format('their')}")
    text = f"below {{}} control limits in {names}, inside again since {labels[below[-1] + 1]}"
    return News(Weight.PAST, f"was {text.format('its')}", f"were {text.format('their')}")


def listed(names: Sequence[str]) -> str:
    """In a sentence: "a", "a and b", "a, b and c", "a, b and 2 more"."""
    shown = list(names if len(names) <= MOST_NAMED else names[: MOST_NAMED - 1])
    more = len(names) - len(shown)
    last = f"{more:,} more" if more else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last
