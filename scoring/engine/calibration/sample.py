"""Pass rates corrected by people's reviews of outputs that were drawn at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final

from django.core.cache import cache
from django.db.models import Count, Exists, Max, Min, OuterRef, Sum

from scoring.core.stats.calibration import VerdictTable, table_from_counts
from scoring.core.stats.corrected_rate import (
    CorrectedRate,
    corrected_rate,
    labels_for_margin,
    lacking_labels,
)
from scoring.engine.calibration.people import DECIDED
from scoring.engine.review.review_state import ReviewState
from scoring.models import Adjudication, Review, ReviewQueue, ReviewTask, Run, RunScorer, Score
from scoring.models.reviews.people_verdict import PeopleFilter, PeopleVerdict
from scoring.models.reviews.queue import ReviewTaskQuerySet
from scoring.models.reviews.review import ReviewQuerySet

TARGET_MARGIN: Final = 0.05  # how precisely a pass rate should be known: ± 5 points


@dataclass(frozen=True)
class CorrectedPassRate:
    """A scorer's pass rate corrected by people's reviews, from the outputs drawn at random.

    `labelled` counts those that people passed or failed, `others` all other scored outputs by the
    scorer's verdict.
    """

    labelled: VerdictTable
    others: tuple[int, int]

    @cached_property
    def rate(self) -> CorrectedRate | None:
        """None while labels are lacking."""
        return corrected_rate(self.labelled, self.others)

    @property
    def lacking(self) -> int:
        """How many labels it lacks at least."""
        return lacking_labels(self.labelled)

    @cached_property
    def more(self) -> int | None:
        """How many more labels it takes to know it within ± TARGET_MARGIN.

        None where no number does, and while labels are lacking.
        """
        if self.lacking:
            return None
        return labels_for_margin(self.labelled, self.others, TARGET_MARGIN)


def calibrate_sample(
    run: Run, scorers: Iterable[RunScorer], state: ReviewState
) -> dict[int, CorrectedPassRate]:
    """The corrected pass rates of a run's scorers by their ids; empty without a random sample.

    For the page of a run: the database counts the labels, once for as long as the reviews, in this
    state, and adjudications of the run's outputs stay what they are.
    """
    queues = list(ReviewQueue.objects.random_of(run).order_by("pk").values_list("pk", flat=True))
    if not queues:
        return {}
    scorers = [scorer for scorer in scorers if getattr(scorer, "summary", None)]
    facts = (run.uuid, run.finished_at, queues, state, _adjudications_of(run))
    key = "sample-labels:" + sha256(repr(facts).encode()).hexdigest()
    tables: dict[int, VerdictTable] | None = cache.get(key)
    if tables is None:
        in_turn = tasks_in_turn(queues).values("output")
        tables = _count_labels(scorers, Review.objects.of_run(run).filter(output__in=in_turn))
        cache.set(key, tables)
    return {each.pk: corrected_pass_rate(each, tables[each.pk]) for each in scorers}


def corrected_pass_rate(scorer: RunScorer, labelled: VerdictTable) -> CorrectedPassRate:
    """From the labelled outputs and the figures of the scorer, which has a summary."""
    summary = scorer.summary
    passed = summary.outputs_passed - labelled.both_pass - labelled.only_scorer_passes
    return CorrectedPassRate(labelled, (passed, summary.outputs_scored - labelled.n - passed))


def tasks_in_turn(queues: Sequence[int]) -> ReviewTaskQuerySet:
    """The tasks of random samples up to each reviewer's first output that nobody has reviewed.

    A pool is one sequence for all of its reviewers. These are drawn at random like the whole. What
    is reviewed beyond may be chosen: another queue or a file had it, or others were skipped.
    """
    tasks = ReviewTask.objects.filter(queue__in=queues)
    reviewed = Review.objects.filter(output=OuterRef("output"))
    gaps = tasks.filter(~Exists(reviewed)).order_by().values_list("queue", "reviewer")
    assigned = gaps.filter(queue__is_pooled=False).annotate(first=Min("position"))
    for queue, reviewer, first in assigned:
        tasks = tasks.exclude(queue=queue, reviewer=reviewer, position__gte=first)
    pooled = gaps.filter(queue__is_pooled=True).values_list("queue").annotate(first=Min("position"))
    for queue, first in pooled:
        tasks = tasks.exclude(queue=queue, position__gte=first)
    return tasks


def _adjudications_of(run: Run) -> dict[str, int | None]:
    """Differs after each change of the adjudications of the run's outputs, see `ReviewState`."""
    columns = {"number": Count("*"), "newest": Max("pk"), "revisions": Sum("revision")}
    return Adjudication.objects.of_run(run).aggregate(**columns)


def _count_labels(
    scorers: Collection[RunScorer], reviews: ReviewQuerySet
) -> dict[int, VerdictTable]:
    """By the scorers' ids their scored outputs that people pass or fail by these reviews."""
    counts: dict[int, Counter[tuple[bool, bool]]] = {each.pk: Counter() for each in scorers}
    for people in DECIDED:
        rows = Score.objects.filter(PeopleFilter(reviews, people).condition(), scorer__in=counts)
        # Counts what is scored: a filter for that would have SQLite walk all scores of the run.
        columns = rows.order_by().values_list("scorer", "verdict").annotate(number=Count("score"))
        for scorer, verdict, number in columns:
            counts[scorer][verdict == PeopleVerdict.PASS, people == PeopleVerdict.PASS] += number
    return {scorer: table_from_counts(each) for scorer, each in counts.items()}
