"""Cases with several trials, of which the mean score is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db.models import Avg, Count, Exists, OuterRef, Q

from scoring.core.stats.trials import MEAN_DIGITS
from scoring.models import RunScorer, Score

_ROUNDING: Final = 10.0**-MEAN_DIGITS


class CaseMean(NamedTuple):
    """The mean score of a case's trials; where it `always_fails` no threshold lets it pass."""

    mean: float
    case: int
    always_fails: bool = False


def read_case_means(scorer: RunScorer, low: float, high: float) -> list[CaseMean]:
    """The cases whose mean is at least `low` and below `high`, the lowest mean first.

    One query over all scores of the scorer.
    """
    scores = Score.objects.filter(scorer=scorer, score__isnull=False).order_by()
    rows = scores.values_list("output__case").annotate(
        mean=Avg("score"), free=Count("pk", filter=Q(code="") | Q(score__gt=0))
    )
    near = rows.filter(mean__gte=low - _ROUNDING, mean__lt=high + _ROUNDING)
    means = (CaseMean(round(mean, MEAN_DIGITS), case, free == 0) for case, mean, free in near)
    return sorted(each for each in means if low <= each.mean < high)


def count_always_failing(scorers: Sequence[RunScorer]) -> dict[int, int]:
    """By the scorer's id how many cases no threshold lets pass: each scored trial has a fault."""
    faults = Score.objects.filter(scorer__in=scorers, score=0).exclude(code="").order_by()
    others = Score.objects.filter(
        Q(score__gt=0) | Q(code=""),
        scorer=OuterRef("scorer"),
        output__case=OuterRef("output__case"),
        score__isnull=False,
    )
    rows = faults.filter(~Exists(others)).values_list("scorer")
    return dict(rows.annotate(Count("output__case", distinct=True)))
