"""Brings the demo's story into the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Final

from django.db import transaction

from scoring.core.embed import local
from scoring.core.services import Reply
from scoring.engine import plan
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.plot import WEEKS, DemoCase, DemoDataset, Judged, mondays
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.stored import connect, store_replies
from scoring.engine.demo.support import SUPPORT
from scoring.engine.dispatch import work_on
from scoring.engine.loading import close_outputs, store_cases, store_outputs
from scoring.engine.needs import families, families_of
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

    With `scores` the runs are scored here and now, but for those that embed texts: loading the
    model takes longer than all the rest, so they wait for `finish` or the worker, as all do without
    `scores`. `now` only sets the runs' dates: the last twelve Mondays. `on_run` is called after
    each run that is scored.
    """
    team, is_new = Team.objects.get_or_create(slug=DEMO_SLUG, defaults={"name": "Demo team"})
    if is_new:
        Member.objects.bulk_create(Member(team=team, user=p, role=Role.ADMIN) for p in admins)
        AuditEntry.objects.record(team, by, "team.created", team, new={"name": team.name})
        connect(team, by)
        told = [_tell(story, team, mondays(now), by) for story in STORIES]
        for run in chain.from_iterable(zip(*told, strict=True)):  # week by week, as it would be
            if scores and "embedding" not in families_of(run):
                work_on(run, Inline())
                on_run()
    return team


def finish(team: Team, on_run: Callable[[], None] = lambda: None) -> None:
    """Score the runs that wait, here and now; one that a worker has begun is waited for."""
    for run in team.runs.unfinished().order_by("pk"):
        work_on(run, Inline())
        on_run()


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
        run = plan.new_run(outputs, suite=suite, name=f"{dated:%G-w%V}", by=by)
        if story.judged:
            store_replies(run, partial(_reply, story.judged, {c.key: c for c in story.cases}))
        yield run


def _reply(judged: Judged, cases: Mapping[str, DemoCase], key: str, output: str) -> Reply:
    return judged(cases[key], output)


def _suite(story: DemoDataset, team: Team, by: User | None) -> Suite:
    scorers = [
        (Scorer.objects.define(team, s.name, s.type, s.config, s.threshold, by), s.threshold)
        for s in story.scorers
        if local.is_installed() or "embedding" not in families(s.type, s.config)
    ]
    return Suite.objects.define(team, story.suite, scorers, by)


def _outputs(story: DemoDataset, version: DatasetVersion, week: int, dated: datetime) -> OutputSet:
    outputs = OutputSet.objects.create(
        version=version,
        name=f"{story.series} {dated:%G-w%V}",
        series=story.series,
        dated=dated,
        labels={"model": story.model, "prompt": story.prompt(week)},
    )
    answers = [
        {"key": case.key, "trial": trial, "output": output}
        for case in story.cases
        for trial, output in enumerate(story.outputs(case, week))
    ]
    store_outputs(outputs, answers)
    close_outputs(outputs)
    return outputs
