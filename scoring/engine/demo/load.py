"""Loads the demo team into the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from django.db import transaction

from scoring.core.embeddings import local as embedding_local
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.decisions import decide_broken, propose_correction
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.people import create_people
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.reviews import add_preferences, add_reviews, draw_own_queue
from scoring.engine.demo.stored_replies import add_connection, store_replies
from scoring.engine.demo.story import WEEKS, DemoDataset, latest_mondays
from scoring.engine.demo.support import SUPPORT
from scoring.engine.imports import close_outputs, store_cases, store_outputs
from scoring.engine.jobs import job_queue
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.runs.requirements import run_families, scorer_families
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    AuditEntry,
    DatasetVersion,
    JobKind,
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
def create_demo(
    now: datetime,
    *,
    admins: Iterable[User] = (),
    by: User | None = None,
    scores: bool = True,
    on_run: Callable[[], None] = lambda: None,
) -> Team:
    """The demo team, created whole or not at all; a team of that address is left as it is.

    With `scores` the runs are scored here and now, but for those that embed texts: loading the
    model takes longer than all the rest, so they wait for `score_demo_runs` or the worker, as all
    do without `scores`. `now` only sets the runs' dates: the last twelve Mondays. `on_run` is
    called after each run that is scored.
    """
    team, is_new = Team.objects.get_or_create(slug=DEMO_SLUG, defaults={"name": "Demo team"})
    if is_new:
        Member.objects.bulk_create(Member(team=team, user=p, role=Role.ADMIN) for p in admins)
        AuditEntry.objects.record(team, by, "team.created", team, new={"name": team.name})
        add_connection(team, by)
        stories = [_create_runs(story, team, latest_mondays(now), by) for story in STORIES]
        weeks = list[tuple[Run, ...]]()
        for week in zip(*stories, strict=True):  # week by week, as it would be
            weeks.append(week)
            for run in week:
                if scores and "embedding" not in run_families(run):
                    run_to_end(run, InlineExecutor())
                    on_run()
        if weeks:
            _add_reviews(team, weeks, by)
    return team


def _add_reviews(team: Team, weeks: Sequence[Sequence[Run]], by: User | None) -> None:
    users = create_people(team, by)
    support, extraction, questions = zip(*weeks[-2:], strict=True)
    add_reviews(questions, users)
    add_preferences(support, users)
    propose_correction(support, users)
    decide_broken(extraction, users)
    draw_own_queue(team)


def score_demo_runs(team: Team, on_run: Callable[[], None] = lambda: None) -> None:
    """Score the waiting runs in this process, or wait for the worker that has begun one. Then
    measure what the home page shows of them.
    """
    for run in team.runs.unfinished().order_by("pk"):
        run_to_end(run, InlineExecutor())
        on_run()
    job_queue.run_waiting(team, JobKind.FOLLOW_UP, JobKind.MEASURE_DRIFT)


def _create_runs(
    story: DemoDataset, team: Team, dates: list[datetime], by: User | None
) -> Iterable[Run]:
    cases = [
        asdict(case) | {"references": list(case.references), "tags": list(case.tags)}
        for case in story.cases
    ]
    version = store_cases(team, story.name, cases, by=by).version
    suite = _suite(story, team, by)
    suite.assign_to(version.dataset, by=by)
    for week, dated in enumerate(dates):
        outputs = _outputs(story, version, week, dated, by)
        run = planning.create_run(outputs, suite=suite, name=f"{dated:%G-w%V}", by=by)
        if story.judged:
            store_replies(run, story.cases, story.judged)
        yield run


def _suite(story: DemoDataset, team: Team, by: User | None) -> Suite:
    scorers = [
        (Scorer.objects.define(team, s.name, s.type, s.config, s.threshold, by), s.threshold)
        for s in story.scorers
        if embedding_local.is_installed() or "embedding" not in scorer_families(s.type, s.config)
    ]
    return Suite.objects.define(team, story.suite, scorers, by)


def _outputs(
    story: DemoDataset, version: DatasetVersion, week: int, dated: datetime, by: User | None
) -> OutputSet:
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
    close_outputs(outputs, by)
    return outputs
