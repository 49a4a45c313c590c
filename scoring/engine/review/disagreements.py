"""Outputs whose reviewers disagree, and the verdict of a third person on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.core.cache import cache
from django.db.models import F, Max, Min, QuerySet

from scoring.engine.review.blind_outputs import find_blind_cases, list_outputs
from scoring.engine.review.review_state import ReviewState, read_review_state
from scoring.models import (
    Adjudication,
    Output,
    Review,
    ReviewQueue,
    ReviewVerdict,
    Role,
    Run,
    User,
)
from scoring.models.case_paging import CasePosition
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.adjudication import AdjudicationError

_OPPOSED = (ReviewVerdict.PASS, ReviewVerdict.FAIL)
_BATCH: Final = 5_000  # outputs that are looked up at once


class DisputedOutput(NamedTuple):
    """An output that some reviewers pass and others fail, or that has been adjudicated."""

    output: int
    position: int
    trial: int
    is_decided: bool

    @property
    def case_position(self) -> CasePosition:
        return CasePosition(self.position, self.trial)


class Disagreement(NamedTuple):
    """A disputed output with all its reviews, the oldest first, and its final verdict."""

    output: Output
    reviews: Sequence[Review]
    adjudication: Adjudication | None

    def reviews_saying(self, verdict: ReviewVerdict) -> list[Review]:
        return [review for review in self.reviews if review.verdict == verdict]

    @property
    def passing(self) -> list[Review]:
        return self.reviews_saying(ReviewVerdict.PASS)

    @property
    def failing(self) -> list[Review]:
        return self.reviews_saying(ReviewVerdict.FAIL)

    @property
    def others(self) -> list[Review]:
        """Those that say neither pass nor fail."""
        return [review for review in self.reviews if review.verdict not in _OPPOSED]

    def is_reviewer(self, person: User) -> bool:
        """Whether the person is one of the reviewers, who may not adjudicate."""
        return any(review.reviewer_id == person.pk for review in self.reviews)


@prepared_query
def _adjudicated_outputs(output_set: int) -> QuerySet[Adjudication, int]:
    rows = Adjudication.objects.filter(output_set=output_set).order_by()
    return rows.values_list("output", flat=True)


@dataclass(frozen=True)
class Disagreements:
    """The disputed outputs of a run, as a person of this role in the team may see them.

    Whoever still has to review an output themselves does not see what others said of it.
    """

    run: Run
    person: User
    role: int
    state: ReviewState | None = None  # of the run's reviews, where it is known

    @cached_property
    def all(self) -> list[DisputedOutput]:
        """In the order of the cases."""
        decided = set(_adjudicated_outputs(self.run.output_set_id))
        outputs = [*decided.union(_find_split(self.run, self.state or read_review_state(self.run)))]
        disputed = [
            DisputedOutput(output, position, trial, output in decided)
            for start in range(0, len(outputs), _BATCH)
            for output, position, trial in Output.objects.filter(
                pk__in=outputs[start : start + _BATCH]
            ).values_list("pk", "case__position", "trial")
        ]
        return sorted(disputed, key=lambda each: each.case_position)

    @cached_property
    def visible(self) -> list[DisputedOutput]:
        """Asks for the person's own tasks only where reviewers disagree."""
        return [each for each in self.all if each.output not in self._own_open]

    @property
    def hidden_count(self) -> int:
        """How many wait for the person's own review."""
        return len(self.all) - len(self.visible)

    @property
    def open(self) -> list[DisputedOutput]:
        return [each for each in self.visible if not each.is_decided]

    @property
    def decided(self) -> list[DisputedOutput]:
        return [each for each in self.visible if each.is_decided]

    def count_open_in(self, queue: ReviewQueue) -> int:
        """How many of those that wait for a final verdict are in the queue."""
        if queue.is_pairwise or not self.open:
            return 0
        in_queue = set(queue.tasks.values_list("output", flat=True))
        return len(in_queue.intersection(each.output for each in self.open))

    def find(self, output: Output) -> Disagreement | None:
        """The disagreement on an output that the person may see; None where there is none."""
        if all(each.output != output.pk for each in self.visible):
            return None
        return self.load([output.pk])[0]

    def next_open(self, after: CasePosition) -> DisputedOutput | None:
        """The next one that the person may decide, from the start again after the last one."""
        others = [each for each in self.open if each.case_position != after]
        own = Review.objects.filter(reviewer=self.person, output__in=[o.output for o in others])
        reviewed = set(own.values_list("output", flat=True))
        others = [each for each in others if each.output not in reviewed]
        later = [each for each in others if each.case_position > after]
        return next(iter(later or others), None)

    def load(self, outputs: Sequence[int]) -> list[Disagreement]:
        """The disagreements on these outputs, in the order of the cases."""
        rows = Output.objects.filter(pk__in=outputs).select_related("case", "adjudication")
        rows = rows.select_related("adjudication__decided_by")
        reviews: dict[int, list[Review]] = {}
        given = Review.objects.filter(output__in=outputs).select_related("reviewer")
        for review in given.order_by("pk"):
            reviews.setdefault(review.output_id, []).append(review)
        return [
            Disagreement(row, reviews.get(row.pk, []), getattr(row, "adjudication", None))
            for row in rows.order_by("case__position", "trial")
        ]

    @cached_property
    def _own_open(self) -> frozenset[int]:
        if self.role < Role.REVIEWER:
            return frozenset()
        own = self.run.output_set_id
        blind = find_blind_cases(self.person, self.run.output_set.version.dataset_id)
        return list_outputs({own: blind.get(own, {})})


def _find_split(run: Run, state: ReviewState) -> list[int]:
    """The ids of outputs that some reviewers pass and others fail.

    One query for as long as the reviews stay what they are, none without two of them.
    """
    if state.number < len(_OPPOSED):
        return []
    key = "split-outputs:" + ":".join(map(str, state))
    outputs: list[int] | None = cache.get(key)
    if outputs is None:
        reviews = Review.objects.of_run(run).filter(verdict__in=_OPPOSED).order_by()
        split = reviews.values("output").annotate(least=Min("verdict"), most=Max("verdict"))
        outputs = list(split.filter(least__lt=F("most")).values_list("output", flat=True))
        cache.set(key, outputs)
    return outputs


def adjudicate(
    run: Run, output: Output, verdict: ReviewVerdict, *, by: User, note: str, seen: int
) -> Adjudication:
    """See `Adjudication.objects.decide`.

    Raises AdjudicationError also where the reviewers do not disagree, and StaleAdjudicationError.
    """
    opposed = Review.objects.filter(output=output, verdict__in=_OPPOSED).order_by()
    is_decided = Adjudication.objects.filter(output=output).exists()
    if not is_decided and opposed.values("verdict").distinct().count() < len(_OPPOSED):
        raise AdjudicationError("The reviewers of this output no longer disagree.")
    return Adjudication.objects.decide(run, output, verdict, by=by, note=note, seen=seen)
