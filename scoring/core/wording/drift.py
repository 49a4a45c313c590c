"""The sentences of a drift line: its level, its changes, and unusual flips."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import ROUND_UP, Decimal
from typing import Final, NamedTuple, Protocol

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


class RunOnLine(Protocol):
    """What is known of every run of a line; None is a figure that is not there."""

    @property
    def label(self) -> str: ...
    @property
    def mean(self) -> float | None: ...
    @property
    def distinct_share(self) -> float | None: ...
    @property
    def sampled(self) -> int | None: ...

    @property
    def commonest(self) -> int | None:
        """Of `sampled` outputs, those with the text that most have."""

    @property
    def churn_p(self) -> float | None:
        """Corrected; None where flips are as many as usual."""

    @property
    def mcnemar_p(self) -> float | None:
        """Corrected; None where flips go both ways."""


class RunFigures(Protocol):
    """What is known besides of the runs that sentences dwell on. The first are of `n` outputs, the
    next three of the scorer's own verdicts against the run before.
    """

    @property
    def n(self) -> int: ...
    @property
    def similarity(self) -> float | None: ...
    @property
    def pairs(self) -> int | None: ...
    @property
    def fixed(self) -> int | None: ...
    @property
    def broke(self) -> int | None: ...


class Level(NamedTuple):
    """The decisions on the newest runs. Places are indexes of the line's runs; `newest` is None
    while the newest run is not tested, `tested` counts the runs it was tested against.
    """

    newest: DecidedRun | None
    tested: int
    period: LevelPeriod
    changes: Sequence[ChangePoint]
    limits: ControlLimits | None
    detectable: float | None = None
    step: Step | None = None  # of the newest run


def drift_sentences(
    scorer: str,
    runs: Sequence[RunOnLine],
    figures: Mapping[int, RunFigures],
    level: Level,
    reference: str,
    *,
    parted: Collection[int] = (),
    flipped: Sequence[int] = (),
) -> list[str]:
    """In order of weight. Means on the two sides of a place in `parted` are not compared; at those
    in `flipped`, in order, unusually many verdicts flipped, or more one way than the other, since
    the run before.

    `figures` are by place: those of the newest run and of the last MAX_CHANGES_SHOWN flipped ones.
    """
    return [
        *_mean_sentence(scorer, runs, figures, parted),
        *_test_sentence(runs, level),
        *_change_sentences(runs, level),
        *_return_sentences(runs, level),
        *_limit_sentences(runs, figures, level),
        *_flip_sentences(scorer, runs, figures, flipped),
        *_text_sentences(runs, figures, reference),
    ]


def same_text(sampled: int, commonest: int) -> str:
    """Which share of the outputs is one text, where that is nearly all of them; else empty."""
    if sampled < MIN_SAME or commonest < MOSTLY_SAME * sampled:
        return ""
    count = f"all {sampled:,}" if commonest == sampled else f"{commonest:,} of {sampled:,}"
    return f"{count} outputs looked at are the same text"


def _mean_sentence(
    scorer: str,
    runs: Sequence[RunOnLine],
    figures: Mapping[int, RunFigures],
    parted: Collection[int],
) -> Iterator[str]:
    last = len(runs) - 1
    run = runs[last]
    if run.mean is None:
        yield f"{scorer} has scored nothing in {run.label}."
        return
    n = figures[last].n
    text = f"{scorer} is at {number_text(run.mean, 3)} in {run.label} (n = {n:,})"
    before = runs[last - 1] if last and last not in parted else None
    if before and before.mean is not None:
        size = round_half_up(abs(run.mean - before.mean), 3)
        way = f"{size} {'more' if run.mean > before.mean else 'less'} than in"
        text += f", {way if float(size) else 'the same as in'} {before.label}"
    yield f"{text}."


def _test_sentence(runs: Sequence[RunOnLine], level: Level) -> Iterator[str]:
    """What the test of the newest run says, unless its level changed."""
    last = runs[-1].label
    if runs[-1].mean is None or not level.period.runs:
        return
    if level.newest is None:
        yield f"{last} is not tested against earlier runs yet."
    elif level.newest.outcome == Outcome.STEADY and level.newest.p_corrected is None:
        yield f"{last} has too few cases in common with earlier runs to test for a change."
    elif level.newest.outcome == Outcome.STEADY:
        first = runs[level.period.runs[0]].label
        earlier = first if level.tested == 1 else f"the {level.tested:,} runs since {first}"
        yield _steady_sentence(last, earlier, level.newest)


def _steady_sentence(last: str, runs: str, newest: DecidedRun) -> str:
    p, corrected = newest.p or 0.0, newest.p_corrected or 0.0
    if p <= LINE_LEVEL and corrected <= PAGE_LEVEL:
        return (
            f"{last} differs from {runs} ({p_text(corrected)}), "
            "but by no more than these vary among themselves."
        )
    needed = f"; the level is {LINE_LEVEL:g}" if corrected <= ALPHA else ""
    return f"No significant change against {runs} ({p_text(corrected)}{needed})."


def _change_sentences(runs: Sequence[RunOnLine], level: Level) -> Iterator[str]:
    """The latest first."""
    for change in list(level.changes)[-MAX_CHANGES_SHOWN:][::-1]:
        verb = "decreased" if change.after < change.before else "increased"
        yield (
            f"The level {verb} with {runs[change.place].label}: "
            f"from {number_text(change.before, 3)} to {number_text(change.after, 3)} "
            f"({p_text(change.p)})."
        )
    earlier = len(level.changes) - MAX_CHANGES_SHOWN
    if earlier > 0:
        yield f"It changed {earlier:,} {'time' if earlier == 1 else 'times'} before."


def _return_sentences(runs: Sequence[RunOnLine], level: Level) -> Iterator[str]:
    """Runs at another level between runs of this one."""
    stretch = level.period
    if stretch.is_varied:
        yield (
            "The level changed and came back more than once, so that all runs since "
            f"{runs[stretch.runs[0]].label} count as its usual variation."
        )
    shown = stretch.left[-MAX_CHANGES_SHOWN:]
    first = (runs[stretch.runs[0]].mean or 0.0) if shown else 0.0
    for is_below in (True, False):
        names = [
            runs[place].label for place in shown if ((runs[place].mean or 0.0) < first) == is_below
        ]
        if names:
            back = min(place for place in stretch.runs if place > stretch.left[-1])
            was = f"{'was' if len(names) == 1 else 'were'} {'below' if is_below else 'above'}"
            yield f"{join_names(names)} {was} this level; back at it since {runs[back].label}."


def _limit_sentences(
    runs: Sequence[RunOnLine], figures: Mapping[int, RunFigures], level: Level
) -> Iterator[str]:
    """The limits of what is usual; without them the step from the run before, case by case."""
    limits = level.limits
    if limits:
        span = f"{number_text(limits.low, 3)} to {number_text(limits.high, 3)}"
        since = runs[level.period.runs[0]].label
        yield f"Control limits of the latest {limits.n} runs since {since}: {span}."
    elif level.step and runs[-1].mean is not None:
        yield _step_sentence(figures[len(runs) - 1], level.step)
    if level.detectable is not None:
        size = Decimal(repr(level.detectable)).quantize(Decimal("0.001"), ROUND_UP)
        yield f"A decrease of {size} in the next run is detectable with 80{PER_CENT} power."


def _step_sentence(last: RunFigures, step: Step) -> str:
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
    scorer: str,
    runs: Sequence[RunOnLine],
    figures: Mapping[int, RunFigures],
    flipped: Sequence[int],
) -> Iterator[str]:
    """The latest steps with unusual flips."""
    for place in flipped[-MAX_CHANGES_SHOWN:]:
        yield _flip_sentence(scorer, runs[place - 1], runs[place], figures[place])
    earlier = len(flipped) - MAX_CHANGES_SHOWN
    if earlier > 0:
        yield f"The same is true of {earlier:,} earlier {'step' if earlier == 1 else 'steps'}."


def _flip_sentence(scorer: str, before: RunOnLine, after: RunOnLine, figures: RunFigures) -> str:
    one, other = before.mean or 0.0, after.mean or 0.0
    is_flat = abs(other - one) < NEGLIGIBLE_CHANGE
    means = f"{number_text(one, 3)} to {number_text(other, 3)}"
    moved = f"the mean hardly moved ({means}), but" if is_flat else f"the mean moved ({means}), and"
    fixed, broke = figures.fixed or 0, figures.broke or 0
    why = []
    if after.churn_p is not None:
        why.append(f"more than usual, {p_text(after.churn_p)}")
    if after.mcnemar_p is not None:
        more = "fixed than broke" if fixed > broke else "broke than were fixed"
        why.append(f"significantly more {more}, {p_text(after.mcnemar_p)}")
    return (
        f"From {before.label} to {after.label} {moved} {fixed + broke:,} of {figures.pairs or 0:,} "
        f"cases changed their verdict by {scorer}: {fixed:,} fixed, {broke:,} broke "
        f"({'; '.join(why)})."
    )


def _text_sentences(
    runs: Sequence[RunOnLine], figures: Mapping[int, RunFigures], reference: str
) -> Iterator[str]:
    last, similarity = runs[-1], figures[len(runs) - 1].similarity
    if similarity is not None and last.label != reference:
        told = number_text(similarity)
        yield f"The similarity of its outputs to those of {reference} is {told}."
    first = next((run for run in runs[:-1] if run.distinct_share is not None), last)
    was, now = first.distinct_share, last.distinct_share
    if was is not None and now is not None and was - now >= DISTINCT_DROP:
        yield (
            f"Outputs are more alike: {share_text(now, 0)} are unique, {share_text(was, 0)} in "
            f"{first.label}."
        )
    same = [
        (run.label, text)
        for run in runs
        if (text := same_text(run.sampled or 0, run.commonest or 0))
    ]
    for label, text in same[-MAX_CHANGES_SHOWN:]:
        yield f"In {label} {text}."
    if len(same) > MAX_CHANGES_SHOWN:
        names = join_names([label for label, _ in same[:-MAX_CHANGES_SHOWN]])
        yield f"The same is true of {names}."
