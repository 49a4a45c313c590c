"""What people say of an output: the adjudicated verdict, else the most frequent one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, IntegerChoices, Q, QuerySet, Value, When

from scoring.models.reviews.review import ReviewQuerySet, ReviewVerdict
from scoring.models.runs.run import Output


class PeopleVerdict(IntegerChoices):
    """The adjudicated verdict on an output, else the most frequent verdict of its reviewers.

    The first four are those of `ReviewVerdict`.
    """

    PASS = 0, "pass"
    FAIL = 1, "fail"
    UNSURE = 2, "unsure"
    BAD_CASE = 3, "bad case"
    SPLIT = 4, "split"  # no verdict was given more often than every other

    @property
    def code(self) -> str:
        """Its name in addresses."""
        return self.name.lower()


class ReviewedOutput(NamedTuple):
    """An output with people's verdict, and how many of its reviews say pass and fail."""

    output: int
    verdict: PeopleVerdict
    passes: int
    fails: int


def reviewed_outputs(reviews: ReviewQuerySet) -> Iterator[ReviewedOutput]:
    """Each output of these reviews, by its id."""
    rows = _by_output(reviews).order_by("output")
    for output, verdict, passes, fails in rows.values_list("output", "people", "pass", "fail"):
        yield ReviewedOutput(output, PeopleVerdict(verdict), passes, fails)


@dataclass(frozen=True, eq=False)
class PeopleFilter:
    """The outputs of which people, by these reviews, say this."""

    reviews: ReviewQuerySet
    verdict: PeopleVerdict

    def condition(self, output: str = "output__") -> Q:
        """For rows from which `output` leads to their output."""
        return Q(**{f"{output}pk__in": self._output_ids()})

    def outputs(self) -> QuerySet[Output]:
        return Output.objects.filter(self.condition(""))

    def _output_ids(self) -> QuerySet[Any, Any]:
        return _by_output(self.reviews).filter(people=self.verdict).values("output")


def _by_output(reviews: ReviewQuerySet) -> QuerySet[Any, Any]:
    """A row for each output, with the number of its reviews of each verdict, and `people`."""
    counts = {verdict.code: Count("pk", filter=Q(verdict=verdict)) for verdict in ReviewVerdict}
    rows = reviews.order_by().values("output").annotate(**counts)
    adjudicated = "output__adjudication__verdict"
    is_adjudicated = When(**{f"{adjudicated}__isnull": False}, then=F(adjudicated))
    split = Value(PeopleVerdict.SPLIT.value)
    verdict = Case(is_adjudicated, *map(_when_most, ReviewVerdict), default=split)
    return rows.annotate(people=verdict)


def _when_most(verdict: ReviewVerdict) -> When:
    others = (other for other in ReviewVerdict if other != verdict)
    is_most = (Q(**{f"{verdict.code}__gt": F(other.code)}) for other in others)
    return When(reduce(and_, is_most), then=Value(verdict.value))
