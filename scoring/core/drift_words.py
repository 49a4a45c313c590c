"""A drift line in sentences: where it is, what changed, and what a flat mean hides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from scoring.core.drift import Change, Limits
from scoring.core.drift_news import listed
from scoring.core.number_text import number_text, rounded, share_text
from scoring.core.sentences import p_text

HARDLY: Final = 0.02  # a mean that moves by less has hardly moved
FEWEST_FLIPS: Final = 5
FLIPPED_SHARE: Final = 0.02  # of the pairs
LESS_DISTINCT: Final = 0.2
LATEST_SHOWN: Final = 3


class Told(NamedTuple):
    """A point as far as sentences speak of it; None is a figure that is not there."""

    label: str
    n: int
    mean: float | None
    pass_rate: float | None
    pairs: int | None  # this and the next two of the scorer's own verdicts
    fixed: int | None
    broke: int | None
    similarity: float | None
    distinct: float | None
    are_same: bool = False  # all outputs


def sentences(
    scorer: str,
    points: Sequence[Told],
    limits: Limits | None,
    outside: Sequence[tuple[int, bool]],  # place, whether below
    changes: Sequence[Change],
    reference: str,
    *,
    parted: Collection[int] = (),
    spanned: Sequence[int] = (),
) -> list[str]:
    """In order of weight. Means on the two sides of a place in `parted` are not compared; at those
    in `spanned` the level changed among the runs of the limits.
    """
    return [
        *_now(scorer, points, parted),
        *_levels(points, changes),
        *_limits(points, limits, outside, spanned),
        *_hidden(scorer, points, parted),
        *_texts(points, reference),
    ]


def hides_flips(before: Told, after: Told) -> bool:
    """Whether the mean hardly moved while many of the scorer's verdicts flipped."""
    if before.mean is None or after.mean is None or after.fixed is None or not after.pairs:
        return False
    flips = after.fixed + (after.broke or 0)
    is_flat = abs(after.mean - before.mean) < HARDLY
    return is_flat and flips >= max(FEWEST_FLIPS, FLIPPED_SHARE * after.pairs)


def _now(scorer: str, points: Sequence[Told], parted: Collection[int]) -> Iterator[str]:
    last = len(points) - 1
    point = points[last]
    if point.mean is None:
        yield f"{scorer} has scored nothing in {point.label}."
        return
    text = f"{scorer} is at {number_text(point.mean, 3)} in {point.label} (n = {point.n:,})"
    before = points[last - 1] if last and last not in parted else None
    if before and before.mean is not None:
        text += f", {_moved(point.mean - before.mean)} {before.label}"
    yield f"{text}."


def _moved(by: float) -> str:
    size = rounded(abs(by), 3)
    if not float(size):
        return "the same as in"
    return f"{size} {'more' if by > 0 else 'less'} than in"


def _levels(points: Sequence[Told], changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        verb = "fell" if change.after < change.before else "rose"
        yield (
            f"The level {verb} with {points[change.place].label}: "
            f"from {number_text(change.before, 3)} to {number_text(change.after, 3)} "
            f"({p_text(change.p)})."
        )


def _limits(
    points: Sequence[Told],
    limits: Limits | None,
    outside: Sequence[tuple[int, bool]],
    spanned: Sequence[int],
) -> Iterator[str]:
    if limits is None:
        return
    span = _span(limits)
    if spanned:
        fit = "fit neither level" if outside else "are wide: to lie inside them says little"
        yield _spanning(limits, [points[place].label for place in spanned], fit)
    elif not outside:
        yield f"The last {limits.n} runs lie inside their control limits, {span}."
    yield from _beyond(points, f"{span}, from {limits.n} runs", outside)


def _span(limits: Limits) -> str:
    return f"{number_text(limits.low, 3)} to {number_text(limits.high, 3)}"


def _spanning(limits: Limits, names: Sequence[str], fit: str) -> str:
    """Limits over two levels judge neither."""
    change = "change" if len(names) == 1 else "changes"
    return (
        f"The control limits, {_span(limits)}, span the {change} of level "
        f"with {listed(names)}, so they {fit}."
    )


def _beyond(
    points: Sequence[Told], span: str, outside: Sequence[tuple[int, bool]]
) -> Iterator[str]:
    for is_below, side in ((True, "below"), (False, "above")):
        names = [points[place].label for place, low in outside if low == is_below]
        if names:
            lies = "lies" if len(names) == 1 else "lie"
            yield f"{_listed(names)} {lies} {side} the control limits ({span})."
    back = outside[-1][0] + 1 if outside else len(points)
    if back < len(points):
        yield f"Inside the limits again since {points[back].label}."


def _hidden(scorer: str, points: Sequence[Told], parted: Collection[int]) -> Iterator[str]:
    """The latest steps whose flips the means hide."""
    places = [
        place
        for place in range(1, len(points))
        if place not in parted and hides_flips(points[place - 1], points[place])
    ]
    for place in places[-LATEST_SHOWN:]:
        before, after = points[place - 1], points[place]
        fixed, broke = after.fixed or 0, after.broke or 0
        means = " to ".join(number_text(each.mean or 0.0, 3) for each in (before, after))
        yield (
            f"From {before.label} to {after.label} the mean hardly moved "
            f"({means}), but {fixed + broke:,} of {after.pairs:,} "
            f"cases changed their verdict by {scorer}: {fixed:,} fixed, {broke:,} broke."
        )
    if len(places) > LATEST_SHOWN:
        yield f"The same is true of {len(places) - LATEST_SHOWN:,} earlier steps."


def _texts(points: Sequence[Told], reference: str) -> Iterator[str]:
    last = points[-1]
    if last.similarity is not None and last.label != reference:
        yield f"Its outputs are {number_text(last.similarity)} similar to those of {reference}."
    earlier = [point.distinct for point in points[:-1] if point.distinct is not None]
    if earlier and last.distinct is not None and earlier[0] - last.distinct >= LESS_DISTINCT:
        were, first = share_text(earlier[0], 0), points[0].label
        now = f"{share_text(last.distinct, 0)} of them are distinct, {were} in {first}"
        same = f"all are the same, {were} were distinct in {first}"
        yield f"Outputs are more alike: {same if last.are_same else now}."


def _listed(names: Sequence[str]) -> str:
    shown = list(names[-LATEST_SHOWN:])
    more = len(names) - len(shown)
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{text}, and {more:,} earlier ones," if more else text
