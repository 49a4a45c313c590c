"""The sentences of a drift line: its level, its changes, and unusual flips."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import ROUND_UP, Decimal
from typing import Final, NamedTuple

from scoring.core.stats.change_points import (
    LINE_LEVEL,
    PAGE_LEVEL,
    ChangePoint,
    ControlLimits,
    DecidedRun,
    LevelPeriod,
    Outcome,
)
from scoring.core.wording.comparison import ALPHA, p_text
from scoring.core.wording.drift_status import join_names
from scoring.core.wording.numbers import MINUS, PER_CENT, number_text, round_half_up, share_text

NEGLIGIBLE_CHANGE: Final = 0.02  # a mean that moves by less has hardly moved
DISTINCT_DROP: Final = 0.2
MAX_CHANGES_SHOWN: Final = 3
MIN_SAME: Final = 20  # outputs from which a common text is reported
MOSTLY_SAME: Final = 0.9


class Step(NamedTuple):
    """A run against the one `before`, case by case, over `n` outputs; the interval holds 95 %."""

    before: str
    n: int
    mean: float
    low: float
    high: float
    p: float


class DescribedRun(NamedTuple):
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
    sampled: int = 0
    commonest: int = 0  # of `sampled` outputs, those with the text that most have
    step: Step | None = None
    churn_p: float | None = None  # corrected; None where flips are as many as usual
    mcnemar_p: float | None = None  # corrected; None where they go both ways


class Level(NamedTuple):
    """The decisions on the newest runs. Places are indexes of the line's points; `newest` is None
    while the newest run is not tested, `tested` counts the runs it was tested against.
    """

    newest: DecidedRun | None
    tested: int
    period: LevelPeriod
    changes: Sequence[ChangePoint]
    limits: ControlLimits | None
    detectable: float | None = None


def drift_sentences(
    scorer: str,
    points: Sequence[DescribedRun],
    level: Level,
    reference: str,
    *,
    parted: Collection[int] = (),
) -> list[str]:
    """In order of weight. Means on the two sides of a place in `parted` are not compared."""
    return [
        *_mean_sentence(scorer, points, parted),
        *_test_sentence(points, level),
        *_change_sentences(points, level),
        *_return_sentences(points, level),
        *_limit_sentences(points, level),
        *_flip_sentences(scorer, points, parted),
        *_text_sentences(points, reference),
    ]


def same_text(sampled: int, commonest: int) -> str:
    """Which share of the outputs is one text, where that is nearly all of them; else empty."""
    if sampled < MIN_SAME or commonest < MOSTLY_SAME * sampled:
        return ""
    count = f"all {sampled:,}" if commonest == sampled else f"{commonest:,} of {sampled:,}"
    return f"{count} outputs looked at are the same text"


def _mean_sentence(
    scorer: str, points: Sequence[DescribedRun], parted: Collection[int]
) -> Iterator[str]:
    last = len(points) - 1
    point = points[last]
    if point.mean is None:
        yield f"{scorer} has scored nothing in {point.label}."
        return
    text = f"{scorer} is at {number_text(point.mean, 3)} in {point.label} (n = {point.n:,})"
    before = points[last - 1] if last and last not in parted else None
    if before and before.mean is not None:
        size = round_half_up(abs(point.mean - before.mean), 3)
        way = f"{size} {'more' if point.mean > before.mean else 'less'} than in"
        text += f", {way if float(size) else 'the same as in'} {before.label}"
    yield f"{text}."


def _test_sentence(points: Sequence[DescribedRun], level: Level) -> Iterator[str]:
    """What the test of the newest run says, unless its level changed."""
    last = points[-1].label
    if points[-1].mean is None or not level.period.runs:
        return
    if level.newest is None:
        yield f"{last} is not tested against earlier runs yet."
    elif level.newest.outcome == Outcome.STEADY and level.newest.p_corrected is None:
        yield f"{last} has too few cases in common with earlier runs to test for a change."
    elif level.newest.outcome == Outcome.STEADY:
        first = points[level.period.runs[0]].label
        runs = first if level.tested == 1 else f"the {level.tested:,} runs since {first}"
        yield _steady_sentence(last, runs, level.newest)


def _steady_sentence(last: str, runs: str, newest: DecidedRun) -> str:
    p, corrected = newest.p or 0.0, newest.p_corrected or 0.0
    if p <= LINE_LEVEL and corrected <= PAGE_LEVEL:
        return (
            f"{last} differs from {runs} ({p_text(corrected)}), "
            "but by no more than these vary among themselves."
        )
    needed = f"; the level is {LINE_LEVEL:g}" if corrected <= ALPHA else ""
    return f"No significant change against {runs} ({p_text(corrected)}{needed})."


def _change_sentences(points: Sequence[DescribedRun], level: Level) -> Iterator[str]:
    """The latest first."""
    for change in list(level.changes)[-MAX_CHANGES_SHOWN:][::-1]:
        verb = "decreased" if change.after < change.before else "increased"
        yield (
            f"The level {verb} with {points[change.place].label}: "
            f"from {number_text(change.before, 3)} to {number_text(change.after, 3)} "
            f"({p_text(change.p)})."
        )
    earlier = len(level.changes) - MAX_CHANGES_SHOWN
    if earlier > 0:
        yield f"It changed {earlier:,} {'time' if earlier == 1 else 'times'} before."


def _return_sentences(points: Sequence[DescribedRun], level: Level) -> Iterator[str]:
    """Runs at another level between runs of this one."""
    stretch = level.period
    if stretch.is_varied:
        yield (
            "The level changed and came back more than once, so that all runs since "
            f"{points[stretch.runs[0]].label} count as its usual variation."
        )
    shown = stretch.left[-MAX_CHANGES_SHOWN:]
    first = (points[stretch.runs[0]].mean or 0.0) if shown else 0.0
    for is_below in (True, False):
        names = [
            points[place].label
            for place in shown
            if ((points[place].mean or 0.0) < first) == is_below
        ]
        if names:
            back = min(place for place in stretch.runs if place > stretch.left[-1])
            was = f"{'was' if len(names) == 1 else 'were'} {'below' if is_below else 'above'}"
            yield f"{join_names(names)} {was} this level; back at it since {points[back].label}."


def _limit_sentences(points: Sequence[DescribedRun], level: Level) -> Iterator[str]:
    """The limits of what is usual; without them the step from the run before, case by case."""
    limits, last = level.limits, points[-1]
    if limits:
        span = f"{number_text(limits.low, 3)} to {number_text(limits.high, 3)}"
        since = points[level.period.runs[0]].label
        yield f"Control limits of the latest {limits.n} runs since {since}: {span}."
    elif last.step and last.mean is not None:
        yield _step_sentence(last, last.step)
    if level.detectable is not None:
        size = Decimal(repr(level.detectable)).quantize(Decimal("0.001"), ROUND_UP)
        yield f"A decrease of {size} in the next run is detectable with 80{PER_CENT} power."


def _step_sentence(last: DescribedRun, step: Step) -> str:
    low, high = (_signed_text(end) for end in (step.low, step.high))
    flips = ""
    if last.fixed is not None and last.broke is not None:
        flips = f"; {last.fixed:,} fixed, {last.broke:,} broke"
    return (
        f"Against {step.before} alone, over the same {step.n:,} outputs: {_signed_text(step.mean)} "
        f"[{low}, {high}] ({p_text(step.p)}){flips}."
    )


def _signed_text(value: float) -> str:
    size = round_half_up(abs(value), 3)
    return size if not float(size) else f"{'+' if value > 0 else MINUS}{size}"


def _flip_sentences(
    scorer: str, points: Sequence[DescribedRun], parted: Collection[int]
) -> Iterator[str]:
    """The latest steps with unusual flips."""
    places = [
        place
        for place in range(1, len(points))
        if place not in parted and has_unusual_flips(points[place])
    ]
    for place in places[-MAX_CHANGES_SHOWN:]:
        yield _flip_sentence(scorer, points[place - 1], points[place])
    if len(places) > MAX_CHANGES_SHOWN:
        yield f"The same is true of {len(places) - MAX_CHANGES_SHOWN:,} earlier steps."


def has_unusual_flips(point: DescribedRun) -> bool:
    """Whether more verdicts flipped than usual, or significantly more one way than the other."""
    return point.churn_p is not None or point.mcnemar_p is not None


def _flip_sentence(scorer: str, before: DescribedRun, after: DescribedRun) -> str:
    one, other = before.mean or 0.0, after.mean or 0.0
    is_flat = abs(other - one) < NEGLIGIBLE_CHANGE
    means = f"{number_text(one, 3)} to {number_text(other, 3)}"
    moved = f"the mean hardly moved ({means}), but" if is_flat else f"the mean moved ({means}), and"
    fixed, broke = after.fixed or 0, after.broke or 0
    why = []
    if after.churn_p is not None:
        why.append(f"more than usual, {p_text(after.churn_p)}")
    if after.mcnemar_p is not None:
        more = "fixed than broke" if fixed > broke else "broke than were fixed"
        why.append(f"significantly more {more}, {p_text(after.mcnemar_p)}")
    return (
        f"From {before.label} to {after.label} {moved} {fixed + broke:,} of {after.pairs or 0:,} "
        f"cases changed their verdict by {scorer}: {fixed:,} fixed, {broke:,} broke "
        f"({'; '.join(why)})."
    )


def _text_sentences(points: Sequence[DescribedRun], reference: str) -> Iterator[str]:
    last = points[-1]
    if last.similarity is not None and last.label != reference:
        similarity = number_text(last.similarity)
        yield f"The similarity of its outputs to those of {reference} is {similarity}."
    earlier = [point.distinct for point in points[:-1] if point.distinct is not None]
    if earlier and last.distinct is not None and earlier[0] - last.distinct >= DISTINCT_DROP:
        were, now = share_text(earlier[0], 0), share_text(last.distinct, 0)
        yield f"Outputs are more alike: {now} are unique, {were} in {points[0].label}."
    same = [
        (point.label, text)
        for point in points
        if (text := same_text(point.sampled, point.commonest))
    ]
    for label, text in same[-MAX_CHANGES_SHOWN:]:
        yield f"In {label} {text}."
    if len(same) > MAX_CHANGES_SHOWN:
        names = join_names([label for label, _ in same[:-MAX_CHANGES_SHOWN]])
        yield f"The same is true of {names}."
