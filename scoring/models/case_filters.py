"""Which cases of a run to look at, as conditions on rows.

A condition that few cases meet is turned round: these cases are found first, by an index or by
one scan of the texts, and whatever lists them then reads only them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from scoring.models.dataset import Case, CaseQuerySet
from scoring.models.run import Output, Run, RunScorer
from scoring.models.score import CaseVerdict, Score, Status, Verdict

FEW: Final = 2_000


@dataclass(frozen=True)
class CaseFilters:
    """What is asked of a case; it must meet everything.

    With a `scorer`, `verdict` is that scorer's, else the case's. `minimum`, `maximum` (both
    included), `below` (excluded) and `code` speak of the scorer's row and need one. `unsteady`
    cases are those of which some trials pass and others fail, by the scorer where there is one.
    """

    verdict: Verdict | None = None
    scorer: RunScorer | None = None
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    code: str = ""
    tag: str = ""
    text: str = ""
    unsteady: bool = False

    @property
    def case_verdict(self) -> Verdict | None:
        return None if self.scorer else self.verdict

    @property
    def asks_scores(self) -> bool:
        asked = (self.verdict, self.minimum, self.maximum, self.below, self.code or None)
        return self.scorer is not None and any(part is not None for part in asked)

    @property
    def reads_texts(self) -> bool:
        return bool(self.text or self.tag)


NO_FILTERS: Final = CaseFilters()


@dataclass
class Selection:
    """The filters over one run. Conditions are put on rows with an `output`."""

    run: Run
    filters: CaseFilters

    def of_verdicts(self) -> QuerySet[CaseVerdict]:
        """The case verdicts that pass."""
        rows = CaseVerdict.objects.filter(run=self.run)
        if self.filters.case_verdict is not None:
            rows = rows.filter(verdict=self.filters.case_verdict)
        elif self.positions is not None:
            rows = rows.filter(position__in=self.positions)
        if self.filters.asks_scores:
            rows = rows.filter(self._asked_of_scores())
        return rows.filter(self._asked_of_texts(), self._asked_of_trials())

    def by_score(self, scorer: RunScorer) -> QuerySet[Any]:
        """The rows that pass, with the attribute `score`: what this scorer gave."""
        if self.positions is not None:
            given = Score.objects.filter(scorer=scorer, output=OuterRef("output"))
            return self.of_verdicts().annotate(score=Subquery(given.values("score")))
        rows = Score.objects.filter(scorer=scorer)
        if self.filters.case_verdict is not None:
            place = {
                "position": OuterRef("output__case__position"),
                "trial": OuterRef("output__trial"),
            }
            rows = rows.filter(Exists(self._case_verdicts().filter(**place)))
        if self.filters.asks_scores:
            rows = rows.filter(self._asked_of_scores(scorer))
        return rows.filter(self._asked_of_texts(), self._asked_of_trials())

    @cached_property
    def positions(self) -> list[int] | None:
        """The positions of all cases that may pass, where some filter finds them to be few."""
        few = (found for found in self._findings() if len(found) <= FEW)
        found = next(few, None)
        return None if found is None else sorted(set(found))

    @cached_property
    def score_count(self) -> int | None:
        """How many rows pass what is asked of the scorer, where they are few."""
        count = len(self._score_positions)
        return count if count <= FEW else None

    @cached_property
    def _score_positions(self) -> list[int]:
        scores = self._scores()
        # A problem left no score or 0. SQLite uses its index for each of the two, not for both.
        parts = [scores.filter(score=None), scores.filter(score=0)]
        return [
            position
            for part in (parts if self.filters.code else [scores])
            for position in _first(part.values_list("output__case__position", flat=True))
        ]

    def _findings(self) -> Iterator[list[int]]:
        """The positions each filter finds by itself, cut beyond FEW; the quickest first."""
        filters = self.filters
        if filters.case_verdict is not None:
            yield _first(self._case_verdicts().values_list("position", flat=True))
        if filters.asks_scores:
            yield self._score_positions
        if filters.unsteady:
            yield _first(self._unsteady_positions())
        if filters.tag:
            yield _first(self._cases().tagged(filters.tag).values_list("position", flat=True))
        if filters.text:
            yield self._find_text(filters.text)

    def _unsteady_positions(self) -> QuerySet[Any, int]:
        """The positions of the cases of which some trials pass and others fail."""
        scorer, passed = self.filters.scorer, (Verdict.PASS, Verdict.FAIL)
        place = "output__case__position" if scorer else "position"
        rows = Score.objects.filter(scorer=scorer) if scorer else self._every_verdict()
        judged = rows.filter(verdict__in=passed).order_by(place).values(place)
        both = judged.annotate(ways=Count("verdict", distinct=True)).filter(ways=2)
        positions: QuerySet[Any, int] = both.values_list(place, flat=True)
        return positions

    def straddling(self, output: str = "output__") -> Q:
        """That some trials of the same case pass and others fail.

        `output` leads from the rows this is put on to their output.
        """
        passed, failed = (self._trials(verdict, output) for verdict in (Verdict.PASS, Verdict.FAIL))
        return Q(Exists(passed)) & Q(Exists(failed))

    def _asked_of_trials(self) -> Q:
        return self.straddling() if self.filters.unsteady else Q()

    def _trials(self, verdict: Verdict, output: str) -> QuerySet[Any]:
        """The rows of that verdict for any trial of the same case."""
        if self.filters.scorer is None:
            position = OuterRef(f"{output}case__position")
            return self._every_verdict().filter(verdict=verdict, position=position)
        return Score.objects.filter(
            scorer=self.filters.scorer,
            verdict=verdict,
            output__output_set=self.run.output_set_id,
            output__case=OuterRef(f"{output}case"),
        )

    def _every_verdict(self) -> QuerySet[CaseVerdict]:
        return CaseVerdict.objects.filter(run=self.run)

    def _find_text(self, text: str) -> list[int]:
        outputs = Output.objects.filter(output_set=self.run.output_set_id, text__icontains=text)
        found = _first(outputs.values_list("case__position", flat=True))
        if len(found) <= FEW:
            found += _first(self._cases().matching(text).values_list("position", flat=True))
        return found

    def _cases(self) -> CaseQuerySet:
        return Case.objects.filter(version=self.run.output_set.version_id).order_by()

    def _case_verdicts(self) -> QuerySet[CaseVerdict]:
        verdict = self.filters.case_verdict
        return CaseVerdict.objects.filter(run=self.run, verdict__in=[verdict])

    def _scores(self) -> QuerySet[Score]:
        return Score.objects.filter(self._score_condition(), scorer=self.filters.scorer)

    def _score_condition(self) -> Q:
        filters, scorer = self.filters, self.filters.scorer
        limits = {
            "score__gte": filters.minimum,
            "score__lte": filters.maximum,
            "score__lt": filters.below,
        }
        wanted = Q(**{name: limit for name, limit in limits.items() if limit is not None})
        if filters.code:
            wanted &= Q(code=filters.code) & (Q(score=None) | Q(score=0))
        if scorer and filters.verdict is not None:
            wanted &= _judged(filters.verdict, scorer.threshold)
        return wanted

    def _asked_of_scores(self, sorted_by: RunScorer | None = None) -> Q | Exists:
        """The condition on the named scorer's row, which is at hand when it is sorted by."""
        if sorted_by == self.filters.scorer:
            return self._score_condition()
        return Exists(self._scores().filter(output=OuterRef("output")))

    def _asked_of_texts(self) -> Q:
        asked, case = Q(), Case.objects.filter(pk=OuterRef("output__case")).order_by()
        if self.filters.tag:
            asked &= Q(Exists(case.tagged(self.filters.tag)))
        if text := self.filters.text:
            asked &= Q(output__text__icontains=text) | Q(Exists(case.matching(text)))
        return asked


def _first(positions: QuerySet[Any, int]) -> list[int]:
    return list(positions[: FEW + 1])


def _judged(verdict: Verdict, threshold: float) -> Q:
    """Score rows of that verdict. What is said of the score follows, but lets an index help."""
    if verdict == Verdict.PASS:
        return Q(verdict=verdict, score__gte=threshold)
    if verdict == Verdict.FAIL:
        below = Q(score__lt=threshold) if threshold else Q(score=0)
        return Q(verdict=verdict) & below
    status = Status.ERROR if verdict == Verdict.ERROR else Status.SKIPPED
    return Q(status=status, score=None)
