"""What became worse since a baseline, and of how many cases that cannot be told."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from scoring.engine.compare_scores import scorers_of
from scoring.engine.compare_warnings import warnings_of
from scoring.models import Case, CaseVerdict, Run
from scoring.models.pairs import Pairs


class Regressions(NamedTuple):
    """A run beside its baseline, counted by case and trial.

    `broke` passed and fail now. Nothing can be said of `unclear` pairs, which have an error or a
    skip in one run at least, and of `alone`: outputs of cases that both dataset versions have and
    that only one of the runs has outputs for. `n` counts all pairs and these.
    """

    broke: int
    n: int
    unclear: int = 0
    alone: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def unknown(self) -> int:
        return self.unclear + self.alone

    @property
    def note(self) -> str:
        """Of how many cases nothing can be said, and why; empty where of all something can."""
        counts = {
            "with an error or a skip": self.unclear,
            "with an output in one run only": self.alone,
        }
        parts = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
        return parts and f"nothing can be said of {self.unknown:,} of {self.n:,} cases ({parts})"

    def as_json(self) -> dict[str, int]:
        counts = {"unclear": self.unclear, "only_in_one_run": self.alone}
        return {"unknown": self.unknown, "of": self.n, **counts}


def regressions_of(run: Run, baseline: Run) -> Regressions:
    """Of the cases of both runs, matched by key and trial; with what makes them less alike."""
    pairs = Pairs(baseline, run)
    counts = pairs.counts()
    alone = _alone(baseline, run) if counts.only_baseline else 0
    alone += _alone(run, baseline) if counts.only_candidate else 0
    return Regressions(
        broke=counts.broke,
        n=counts.pairs + alone,
        unclear=counts.pairs - counts.judged,
        alone=alone,
        warnings=tuple(warnings_of(pairs, scorers_of(baseline, run), counts.edited)),
    )


def _alone(run: Run, other: Run) -> int:
    """Outputs of cases that the other's dataset version has and the other has no output for."""
    there: Any = OuterRef("position")
    rows: QuerySet[CaseVerdict] = CaseVerdict.objects.filter(run=run)
    version = other.output_set.version_id
    if version != run.output_set.version_id:
        same = Case.objects.filter(version=version, key=OuterRef("output__case__key")).order_by()
        rows = rows.annotate(there=Subquery(same.values("position")[:1])).exclude(there=None)
        there = OuterRef("there")
    return rows.exclude(Exists(CaseVerdict.objects.filter(run=other, position=there))).count()
