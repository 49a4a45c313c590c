"""Brings the demo's story into the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import chain
from typing import Final

from django.db import transaction

from scoring.engine import plan
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.plot import PROMPTS, WEEKS, DemoDataset, mondays
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.support import SUPPORT
from scoring.engine.dispatch import work_on
from scoring.engine.loading import close_outputs, store_cases, store_outputs
from scoring.engine.pool import Inline
from scoring.models import (
    AuditEntry,
    DatasetVersion,
    Member,
    OutputSet,
    Role,
    Run,
    Scorer,
    Suite,
    Team,
    User,
)

STORIES: Final = (SUPPORT, EXTRACTION, QUESTIONS)
RUNS: Final = WEEKS * len(STORIES)


@transaction.atomic
def load(
    now: datetime,
    *,
    admins: Iterable[User] = (),
    by: User | None = None,
    scores: bool = True,
    on_run: Callable[[], None] = lambda: None,
) -> Team:
    """The demo team, made whole or not at all; a team of that address is left as it is.

    With `scores` the runs are scored here and now, else they wait for the worker. `now` only sets
    the runs' dates: the last twelve Mondays. `on_run` is called after each run.
    """
    team, is_new = Team.objects.get_or_create(slug=DEMO_SLUG, defaults={"name": "Demo team"})
    if is_new:
        Member.objects.bulk_create(Member(team=team, user=p, role=Role.ADMIN) for p in admins)
        AuditEntry.objects.record(team, by, "team.created", team, new={"name": team.name})
        told = [_tell(story, team, mondays(now), by) for story in STORIES]
        for run in chain.from_iterable(zip(*told, strict=True)):  # week by week, as it would be
            if scores:
                work_on(run, Inline())
            on_run()
    return team


def _tell(story: DemoDataset, team: Team, dates: list[datetime], by: User | None) -> Iterable[Run]:
    cases = [
        {
            "key": case.key,
            "input": case.input,
            "expected": case.expected,
            "references": list(case.references),
            "tags": list(case.tags),
        }
        for case in story.cases
    ]
    version = store_cases(team, story.name, cases, by=by).version
    suite = _suite(story, team, by)
    version.dataset.suite = suite
    version.dataset.save(update_fields=["suite"])
    for week, dated in enumerate(dates):
        outputs = _outputs(story, version, week, dated)
        yield plan.new_run(outputs, suite=suite, name=f"{dated:%G-w%V}", by=by)


def _suite(story: DemoDataset, team: Team, by: User | None) -> Suite:
    scorers = [
        (Scorer.objects.define(team, s.name, s.type, s.config, s.threshold, by), s.threshold)
        for s in story.scorers
    ]
    return Suite.objects.define(team, story.suite, scorers, by)


def _outputs(story: DemoDataset, version: DatasetVersion, week: int, dated: datetime) -> OutputSet:
    outputs = OutputSet.objects.create(
        version=version,
        name=f"{story.series} {dated:%G-w%V}",
        series=story.series,
        dated=dated,
        labels={"model": story.model, "prompt": PROMPTS[week]},
    )
    answers = [{"key": case.key, "output": story.answer(case, week)} for case in story.cases]
    store_outputs(outputs, answers)
    close_outputs(outputs)
    return outputs
