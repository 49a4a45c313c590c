"""The demo's story: twelve weekly runs, and prompt changes that break things. Two of the datasets
were repaired since; in one the latest run is the first bad one.

Everything follows from names and week numbers, so every load makes the same outputs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from scoring.core.services import Reply

WEEKS = 12
REGRESSION = range(7, 9)  # weeks counted from 0: the eighth and ninth run
UNREPAIRED = range(WEEKS - 1, WEEKS)


@dataclass(frozen=True)
class DemoCase:
    """One case as a person would have written it into a file."""

    key: str
    input: str
    expected: Any
    tags: tuple[str, ...]
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class DemoScorer:
    """A scorer the demo team defined; the threshold is the one in its suite."""

    name: str
    type: str
    config: Mapping[str, Any]
    threshold: float


ScoredAnswer = Callable[[DemoCase, str], Reply]


@dataclass(frozen=True)
class DemoDataset:
    """Cases, the suite that scores them, and what was answered to a case in a week.

    `again` makes the further trials of the last week, where there are any. `judged` is the reply of
    the story's judge to an output: it must depend on nothing else, as one is kept for each output.
    """

    name: str
    suite: str
    series: str
    model: str
    cases: Sequence[DemoCase]
    scorers: Sequence[DemoScorer]
    answer: Callable[[DemoCase, int], str]
    again: Callable[[DemoCase], Sequence[str]] | None = None
    judged: ScoredAnswer | None = None
    bad_weeks: range = REGRESSION

    def outputs(self, case: DemoCase, week: int) -> list[str]:
        """What was answered that week, trial by trial."""
        more = self.again(case) if self.again and week == WEEKS - 1 else ()
        return [self.answer(case, week), *more]

    def prompt(self, week: int) -> str:
        """The version of the prompt; each of the later changes breaks or repairs something."""
        changes = (4, self.bad_weeks.start, self.bad_weeks.stop)
        return f"v{5 + sum(week >= change for change in changes)}"


def seeded_random(*names: object) -> random.Random:
    """A source of chance that depends on nothing but these names."""
    return random.Random("/".join(str(name) for name in names))  # noqa: S311  not for secrets


def is_wrong_answer(
    case: DemoCase,
    week: int,
    *,
    usual: float,
    broken: float,
    hit_tag: str,
    bad_weeks: range = REGRESSION,
) -> bool:
    """Whether the answer of this week goes wrong.

    A case is as hard as its key says, with a little weekly luck; so the same cases fail again and
    again, and in the bad weeks those with `hit_tag` fail at the rate `broken`.
    """
    hardness = seeded_random(case.key, "hardness").random()
    luck = seeded_random(case.key, week, "luck").uniform(-0.03, 0.03)
    is_hit = week in bad_weeks and hit_tag in case.tags
    return hardness + luck < (broken if is_hit else usual - 0.004 * week)


def latest_mondays(now: datetime) -> list[datetime]:
    """Nine in the morning on the last twelve Mondays up to `now`, oldest first."""
    last = now - timedelta(days=now.weekday())
    last = last.replace(hour=9, minute=0, second=0, microsecond=0)
    if last > now:
        last -= timedelta(weeks=1)
    return [last - timedelta(weeks=back) for back in reversed(range(WEEKS))]
