"""One case through the runs of a series: what its verdict was each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Subquery

from scoring.models.dataset import Case
from scoring.models.run import Run, RunState
from scoring.models.score import CaseVerdict, Verdict


class Seen(NamedTuple):
    """The case in one run. `position` is its place in that run's dataset version."""

    run: UUID
    name: str
    dated: datetime
    position: int
    verdict: Verdict


@dataclass(frozen=True)
class CaseHistory:
    """The runs of a series that have the case, oldest first."""

    seen: Sequence[Seen]

    @property
    def flips(self) -> int:
        """How often it passed after it had failed, or failed after it had passed; errors and
        skips between are passed over.
        """
        judged = [each.verdict for each in self.seen if each.verdict <= Verdict.FAIL]
        return sum(one != other for one, other in pairwise(judged))

    @cached_property
    def first_bad(self) -> Seen | None:
        """Where it began to fail the latest time; None where it never failed, or never passed."""
        judged = [each for each in self.seen if each.verdict <= Verdict.FAIL]
        found = None
        for before, each in zip([None, *judged], judged, strict=False):
            if each.verdict == Verdict.FAIL and (not before or before.verdict == Verdict.PASS):
                found = each
        return found if self.flips else None

    @cached_property
    def passed_again(self) -> Seen | None:
        """Where it passed first after its latest failure; None where it did not since, or never
        failed.
        """
        found = None
        for each in reversed(self.seen):
            if each.verdict == Verdict.FAIL:
                return found
            found = each if each.verdict == Verdict.PASS else found
        return None


def history_of(run: Run, key: str, trial: int = 0) -> CaseHistory:
    """The case's verdicts over the finished runs of the run's dataset and series; one query."""
    outputs = run.output_set
    places = Case.objects.filter(version=OuterRef("output_set__version"), key=key)
    verdicts = CaseVerdict.objects.filter(
        run=OuterRef("pk"), position=OuterRef("place"), trial=trial
    )
    runs = (
        Run.objects.of_dataset(outputs.version.dataset)
        .filter(output_set__series=outputs.series, state=RunState.FINISHED)
        .annotate(place=Subquery(places.values("position")))
        .annotate(seen=Subquery(verdicts.values("verdict")))
        .filter(seen__isnull=False)
        .order_by("output_set__dated", "pk")
    )
    columns = ("uuid", "name", "output_set__dated", "place", "seen")
    return CaseHistory(
        [
            Seen(uuid, name, dated, place, Verdict(seen))
            for uuid, name, dated, place, seen in runs.values_list(*columns)
        ]
    )
