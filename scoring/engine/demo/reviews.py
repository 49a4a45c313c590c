"""The reviews of the demo team, written in bulk, and the queue of the person who looks at it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.utils import timezone

from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.opinions import (
    TAGS,
    Opinion,
    adjudicate_answer,
    compare_answers,
    review_answer,
)
from scoring.engine.demo.people import INES, MARA, TOMAS, DemoPerson
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.story import DemoCase, DemoDataset
from scoring.engine.demo.support import SUPPORT
from scoring.engine.review.informative_outputs import Candidate
from scoring.engine.review.pairwise import differing_outputs, is_swapped
from scoring.engine.review.queues import QueuePlan, create_queue, store_queue
from scoring.models import (
    Adjudication,
    AuditEntry,
    FailureTag,
    Output,
    Preference,
    QueueOrder,
    Review,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Role,
    Run,
    RunState,
    TaskReason,
    Team,
    User,
)

SAMPLE: Final = 90  # outputs, each reviewed by two people
WAITING: Final = 2  # disagreements that nobody has decided
PAIRS: Final = 20
OWN_CASES: Final = 10
#: A week with many failures, whose run nobody opens first: pages hide what is to be reviewed.
OWN_WEEKS_AGO: Final = 3
_SEED: Final = 4
_PAUSE: Final = timedelta(seconds=40)  # between two reviews of a person
_OPPOSED: Final = {ReviewVerdict.PASS, ReviewVerdict.FAIL}

Users = Mapping[DemoPerson, User]


class _Answer(NamedTuple):
    """An output of a demo run with its case."""

    output: int
    case: DemoCase
    text: str


def add_reviews(runs: Sequence[Run], users: Users) -> None:
    """A random sample of the last run of the questions, reviewed by two people, with their
    disagreements, all but a few of them decided.

    Verdicts come from the texts, so the runs need not be scored.
    """
    run = runs[-1]
    FailureTag.objects.bulk_create(
        FailureTag(team=run.team, name=name, help_text=text) for name, text in TAGS.items()
    )
    drawn = random.Random(_SEED).sample(_answers(run, QUESTIONS), SAMPLE)  # noqa: S311
    opinions = {
        person: [(answer, review_answer(answer.case, answer.text, person)) for answer in drawn]
        for person in (MARA, TOMAS)
    }
    _store_reviews(run, opinions, users)
    plan = QueuePlan(
        f"{QUESTIONS.name} {run.name}",
        [users[person] for person in opinions],
        SAMPLE,
        QueueOrder.RANDOM,
        reviewers_per_case=len(opinions),
        seed=_SEED,
    )
    drawn_tasks = [Candidate(answer.output, TaskReason.SAMPLED) for answer in drawn]
    store_queue(run, plan, drawn_tasks, users[INES])
    _adjudicate(run, list(opinions.values()), users[INES])


def add_preferences(runs: Sequence[Run], users: Users) -> None:
    """Pairs of the last two runs of the support answers; half of them are compared."""
    baseline, run = runs[-2:]
    answers = {each.output: each for each in _answers(run, SUPPORT)}
    shuffled = sorted(answers)
    random.Random(_SEED).shuffle(shuffled)  # noqa: S311
    drawn = list(differing_outputs(baseline, shuffled))[:PAIRS]
    plan = QueuePlan(
        f"{SUPPORT.name}: {baseline.name} or {run.name}",
        [users[MARA], users[TOMAS]],
        len(drawn),
        QueueOrder.RANDOM,
        baseline=baseline,
        seed=_SEED,
    )
    candidates = [Candidate(output, TaskReason.SAMPLED) for output in drawn]
    queue = store_queue(run, plan, candidates, users[INES])
    _store_preferences(queue, answers, users)


def draw_own_queue(team: Team) -> ReviewQueue | None:
    """The queue of the demo team's first administrator, once its run is scored.

    None where there is no such person yet, where the run is not finished, and where it has been
    drawn before.
    """
    series = Run.objects.filter(team=team, output_set__series=SUPPORT.series)
    run = series.order_by("-output_set__series_time")[OWN_WEEKS_AGO:].first()
    queues = ReviewQueue.objects.filter(team=team, order=QueueOrder.VALUE)
    if run is None or run.state != RunState.FINISHED or queues.exists():
        return None
    admins = User.objects.filter(memberships__team=team, memberships__role=Role.ADMIN)
    user = admins.filter(is_active=True).order_by("pk").first()
    if user is None:
        return None
    due_on = timezone.localdate() + timedelta(days=7)
    plan = QueuePlan(f"{SUPPORT.name} {run.name}", [user], OWN_CASES, due_on=due_on)
    return create_queue(run, plan, None)


def draw_queue_after_run(series: Sequence[Run]) -> None:
    """Draw the queue after the demo's run has been scored by the worker."""
    dataset = series[-1].output_set.version.dataset
    if dataset.team.slug == DEMO_SLUG and dataset.name == SUPPORT.name:
        draw_own_queue(dataset.team)


def _answers(run: Run, story: DemoDataset) -> list[_Answer]:
    """The run's outputs in the order of the cases."""
    cases = {case.key: case for case in story.cases}
    outputs = Output.objects.filter(output_set=run.output_set_id)
    rows = outputs.order_by("case__position", "trial").values_list("pk", "case__key", "text")
    return [_Answer(pk, cases[key], text or "") for pk, key, text in rows]


def _store_reviews(
    run: Run, opinions: Mapping[DemoPerson, Sequence[tuple[_Answer, Opinion]]], users: Users
) -> None:
    """In the order in which they were drawn, from an hour after the run's outputs on."""
    latest, start = timezone.now(), run.output_set.dated + timedelta(hours=1)
    reviews = [
        Review(
            output_id=answer.output,
            output_set_id=run.output_set_id,
            reviewer=users[person],
            verdict=opinion.verdict,
            note=opinion.note,
            failure_tags=list(opinion.failure_tags),
            changed_at=min(moment, latest),
        )
        for person, given in opinions.items()
        for moment, (answer, opinion) in zip(_moments(start), given, strict=True)
    ]
    Review.objects.bulk_create(reviews)
    new = {"created": len(reviews)}
    AuditEntry.objects.record(run.team, None, "reviews.imported", run, new=new)


def _moments(start: datetime) -> list[datetime]:
    return [start + _PAUSE * turn for turn in range(SAMPLE)]


def _adjudicate(
    run: Run, given: Sequence[Sequence[tuple[_Answer, Opinion]]], decider: User
) -> None:
    """Decide on the outputs that one person passes and the other fails, but for the last ones."""
    one, other = given
    disputed = [
        answer
        for (answer, first), (_, second) in zip(one, other, strict=True)
        if {first.verdict, second.verdict} == _OPPOSED
    ]
    outputs = Output.objects.in_bulk([answer.output for answer in disputed])
    for answer in disputed[:-WAITING]:
        opinion = adjudicate_answer(answer.case, answer.text)
        Adjudication.objects.decide(
            run, outputs[answer.output], opinion.verdict, by=decider, note=opinion.note, seen=0
        )


def _store_preferences(queue: ReviewQueue, answers: Mapping[int, _Answer], users: Users) -> None:
    """Those of the first half of the queue's tasks, which are done then."""
    assert queue.baseline is not None  # noqa: S101  it is pairwise
    others = {each.case.key: each for each in _answers(queue.baseline, SUPPORT)}
    people = {user.pk: person for person, user in users.items()}
    tasks = list(queue.tasks.order_by("position")[: queue.total // 2])
    preferences = []
    for task in tasks:
        assert task.reviewer_id is not None  # noqa: S101  it is assigned
        own = answers[task.output_id]
        other = others[own.case.key]
        choice = compare_answers(own.case, (own.text, other.text), people[task.reviewer_id])
        preferences.append(
            Preference(
                candidate_id=own.output,
                baseline_id=other.output,
                reviewer_id=task.reviewer_id,
                verdict=choice.verdict,
                note=choice.note,
                is_swapped=is_swapped(queue, task.output_id, task.reviewer_id),
            )
        )
    Preference.objects.bulk_create(preferences)
    done = ReviewTask.objects.filter(pk__in=[task.pk for task in tasks])
    done.update(done_at=timezone.now())
    new = {"created": len(preferences)}
    AuditEntry.objects.record(queue.team, None, "preferences.imported", queue, new=new)
