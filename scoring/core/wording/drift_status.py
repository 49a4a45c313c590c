"""The status of a drift line, for pages, lists, alerts and commands alike."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple

from scoring.core.stats.change_points import (
    MIN_RUNS,
    ChangePoint,
    DecidedRun,
    LevelPeriod,
    find_changes,
    find_periods,
)
from scoring.core.wording.numbers import number_text

MAX_NAMED = 3


class Status(StrEnum):
    """Of a line's newest run. A changed level counts as such until MIN_RUNS runs made it usual."""

    UNTESTED = "untested"
    STEADY = "steady"
    INCREASED = "increased"
    DECREASED = "decreased"


class Severity(IntEnum):
    """How much attention a piece of news needs."""

    ROSE = 1
    PAST = 2
    DRIFTS = 3


class DriftStatus(NamedTuple):
    """`text` continues a sentence that begins with the names of the scorers."""

    severity: Severity
    text: str


class LineStatus(NamedTuple):
    """`period` is that of the newest run; `changes` are those of level, oldest first."""

    status: Status
    period: LevelPeriod
    changes: Sequence[ChangePoint]

    @property
    def change(self) -> ChangePoint | None:
        """What the status follows from."""
        has_moved = self.status in (Status.INCREASED, Status.DECREASED)
        return self.changes[-1] if has_moved else None


def find_line_status(runs: Sequence[DecidedRun], count: int) -> LineStatus:
    """The status of a line with `count` comparable runs, of which `runs` are decided."""
    stretches = find_periods(runs)
    stretch = stretches[-1] if stretches else LevelPeriod()
    changes = find_changes(runs, stretches)
    if len(runs) < count or count < 2:
        return LineStatus(Status.UNTESTED, stretch, changes)
    if not changes or stretch.is_usual:
        return LineStatus(Status.STEADY, stretch, changes)
    is_down = changes[-1].after < changes[-1].before
    return LineStatus(Status.DECREASED if is_down else Status.INCREASED, stretch, changes)


def find_drift_status(labels: Sequence[str], runs: Sequence[DecidedRun]) -> DriftStatus | None:
    """Of the comparable runs with these names, oldest first; None without news."""
    line = find_line_status(runs, len(labels))
    if change := line.change:
        before, after = number_text(change.before, 3), number_text(change.after, 3)
        text = f"{line.status} with {labels[change.place]}: {before} → {after}"
        return DriftStatus(
            Severity.DRIFTS if line.status == Status.DECREASED else Severity.ROSE, text
        )
    return _find_return(labels, runs, line.period) if line.status == Status.STEADY else None


def _find_return(
    labels: Sequence[str], runs: Sequence[DecidedRun], stretch: LevelPeriod
) -> DriftStatus | None:
    """The latest runs below the level, which was reached again less than MIN_RUNS runs ago."""
    back = max((place for place in stretch.runs if place - 1 in stretch.left), default=0)
    if not back or len(runs) - back >= MIN_RUNS:
        return None
    left = [place for place in stretch.left if back - MIN_RUNS < place < back]
    names = [labels[place] for place in left if runs[place].mean < runs[back].mean]
    if not names:
        return None
    return DriftStatus(
        Severity.PAST, f"decreased in {join_names(names)}, back since {labels[back]}"
    )


def join_names(names: Sequence[str]) -> str:
    """In a sentence: "a", "a and b", "a, b and c", "a, b and 2 more"."""
    shown = list(names if len(names) <= MAX_NAMED else names[: MAX_NAMED - 1])
    more = len(names) - len(shown)
    last = f"{more:,} more" if more else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last
