"""Which cases of a run to look at, as conditions on rows.

A condition that few cases meet is turned round: these cases are found first, by an index or by
one scan of the texts, and whatever lists them then reads only them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from scoring.models.case_labels import Labelled
from scoring.models.dataset import Case, CaseQuerySet
from scoring.models.pair_places import NOTHING_KEPT, KeptList
from scoring.models.queries import named
from scoring.models.review import Review
from scoring.models.run import Output, Run, RunScorer
from scoring.models.score import CaseVerdict, Score, Status, Verdict

if TYPE_CHECKING:
    from scoring.models.case_changes import Change  # which joins whole runs

FEW: Final = 2_000

_Query = tuple[str, dict[str, Any]]  # SQL of one column of positions, and its values


@dataclass(frozen=True)
class CaseFilters:
    """What is asked of a case; it must meet everything.

    With a `scorer`, `verdict` is that scorer's, else the case's. `minimum`, `maximum` (both
    included), `below` (excluded) and `code` speak of the scorer's row and need one. `unsteady`
    cases are those of which some trials pass and others fail, by the scorer where there is one.
    `change` is that of the case's verdict, `reviewed` whether anybody has reviewed the output.
    `places` are single cases, each a position with a trial; without any, every case may pass.
    `labelled` are the cases of a cell of a confusion matrix.
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
    change: Change | None = None
    reviewed: bool | None = None
    places: frozenset[tuple[int, int]] = frozenset()
    labelled: Labelled | None = None

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

    @property
    def is_verdict_alone(self) -> bool:
        """Whether nothing is asked but the case's verdict."""
        return self.case_verdict is not None and replace(self, verdict=None) == NO_FILTERS


NO_FILTERS: Final = CaseFilters()


@dataclass
class Selection:
    """The filters over one run. Conditions are put on rows with an `output`."""

    run: Run
    filters: CaseFilters

    def of_verdicts(self) -> QuerySet[CaseVerdict]:
        """The case verdicts that pass."""
        rows = self._own_verdicts()
        if not self.filters.is_verdict_alone and self.positions is not None:
            rows = rows.filter(position__in=self.positions)
        if self.filters.asks_scores:
            rows = rows.filter(self._asked_of_scores())
        return rows.filter(self._asked_of_texts(), self._asked_of_outputs())

    def by_score(self, scorer: RunScorer) -> QuerySet[Any]:
        """The rows that pass, with the attribute `score`: what this scorer gave."""
        if self.positions is not None:
            given = Score.objects.filter(scorer=scorer, output=OuterRef("output"))
            return self.of_verdicts().annotate(score=Subquery(given.values("score")))
        rows = Score.objects.filter(scorer=scorer)
        if self.filters.case_verdict is not None or self.filters.change:
            place = {
                "position": OuterRef("output__case__position"),
                "trial": OuterRef("output__trial"),
            }
            rows = rows.filter(Exists(self._own_verdicts().filter(**place)))
        if self.filters.asks_scores:
            rows = rows.filter(self._asked_of_scores(scorer))
        return rows.filter(self._asked_of_texts(), self._asked_of_outputs())

    def _own_verdicts(self) -> QuerySet[CaseVerdict]:
        """The run's case verdicts of the wanted verdict and change."""
        rows, filters = self._every_verdict(), self.filters
        if filters.case_verdict is not None:
            rows = rows.filter(verdict=filters.case_verdict)
        if filters.places:
            rows = rows.filter(_at(filters.places))
        return rows.filter(filters.change.condition(self.run)) if filters.change else rows

    @cached_property
    def positions(self) -> list[int] | None:
        """The positions of all cases that may pass, where some filter finds them to be few."""
        if self.filters.places:
            return sorted({position for position, _ in self.filters.places})
        if self._kept_positions is not None:
            return sorted(set(self._kept_positions))
        for stage in self._stages():
            few = [set(found) for found in _found(list(stage)) if len(found) <= FEW]
            if few:
                return sorted(set.intersection(*few))
        return None

    def _stages(self) -> list[Iterable[list[_Query]]]:
        """A search through the texts takes the longest, and so it may take the rest along."""
        if self.filters.text:
            return [chain(self._by_index(), self._by_reading(), self._by_searching())]
        return [self._by_index(), self._by_reading()]

    # What each filter finds by itself: queries whose positions together are its cases. The stages
    # go from the quick to the slow; a later one is left out where an earlier one finds few cases.

    def _by_index(self) -> Iterator[list[_Query]]:
        filters = self.filters
        if filters.case_verdict is not None and not self._is_known_to_be_many(filters.case_verdict):
            yield [_query(self._case_verdicts(), "position")]
        if filters.asks_scores:
            yield self._scores_asked()
        if filters.change and filters.change.verdict is not None:
            yield from self._changed(filters.change)
        if filters.reviewed:
            yield [_query(Review.objects.of_run(self.run), "output__case__position")]

    def _is_known_to_be_many(self, verdict: Verdict) -> bool:
        return (self.run.verdict_counts[verdict.label] or 0) > FEW

    @cached_property
    def _kept(self) -> KeptList:
        change = self.filters.change
        return change.kept(self.run) if change and change.is_rare else NOTHING_KEPT

    @property
    def _kept_positions(self) -> Sequence[int] | None:
        """Where the wanted change stands, where that is kept and few."""
        found = self._kept.positions
        return None if found is None or len(found) > FEW else found

    def _changed(self, change: Change) -> Iterator[list[_Query]]:
        """Nothing where the change is known to be frequent."""
        if self._kept.total is None and change.is_rare:
            places = change.places(self.run)
            yield [places] if places else []

    def _by_reading(self) -> Iterator[list[_Query]]:
        change = self.filters.change
        if change and change.verdict is None:
            yield from self._changed(change)
        if self.filters.unsteady:
            yield [_query(self._unsteady_positions())]
        if self.filters.labelled:
            yield [_query(self.filters.labelled.outputs(self.run), "case__position")]
        if self.filters.tag:
            yield [_query(self._cases().tagged(self.filters.tag), "position")]

    def _by_searching(self) -> Iterator[list[_Query]]:
        if text := self.filters.text:
            outputs = Output.objects.filter(output_set=self.run.output_set_id, text__icontains=text)
            cases = self._cases().matching(text)
            yield [_query(outputs, "case__position"), _query(cases, "position")]

    def _scores_asked(self) -> list[_Query]:
        scores = self._scores()
        # A problem left no score or 0. SQLite uses its index for each of the two, not for both.
        parts = [scores.filter(score=None), scores.filter(score=0)]
        wanted = parts if self.filters.code else [scores]
        return [_query(part, "output__case__position") for part in wanted]

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

    def _asked_of_outputs(self) -> Q:
        asked = self.straddling() if self.filters.unsteady else Q()
        if self.filters.labelled:
            asked &= self.filters.labelled.condition()
        if self.filters.reviewed is None:
            return asked
        is_reviewed = Q(Exists(Review.objects.filter(output=OuterRef("output"))))
        return asked & (is_reviewed if self.filters.reviewed else ~is_reviewed)

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


def _at(places: Collection[tuple[int, int]]) -> Q:
    """Case verdicts at these positions and trials."""
    by_trial: dict[int, list[int]] = {}
    for position, trial in places:
        by_trial.setdefault(trial, []).append(position)
    parts = (Q(trial=trial, position__in=found) for trial, found in by_trial.items())
    return reduce(or_, parts, Q())


def _query(rows: QuerySet[Any], column: str = "") -> _Query:
    return named(rows.order_by().values_list(column) if column else rows, "")


def _found(filters: Sequence[Sequence[_Query]]) -> list[list[int]]:
    """The positions that each filter's queries find, cut beyond FEW each; one query in all."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for number, queries in enumerate(filters):
        for sql, given in queries:
            name = f"f{len(parts)}"
            names = {key: f"{name}_{key}" for key in given}
            values |= {names[key]: value for key, value in given.items()}
            renamed = sql % {key: f"%({new})s" for key, new in names.items()}
            parts.append(f"SELECT {number}, {name}.* FROM ({renamed} LIMIT {FEW + 1}) {name}")  # noqa: S608
    found: list[list[int]] = [[] for _ in filters]
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), values)
            for number, position in cursor.fetchall():
                found[number].append(position)
    return found


def _judged(verdict: Verdict, threshold: float) -> Q:
    """Score rows of that verdict. What is said of the score follows, but lets an index help."""
    if verdict == Verdict.PASS:
        return Q(verdict=verdict, score__gte=threshold)
    if verdict == Verdict.FAIL:
        below = Q(score__lt=threshold) if threshold else Q(score=0)
        return Q(verdict=verdict) & below
    status = Status.ERROR if verdict == Verdict.ERROR else Status.SKIPPED
    return Q(status=status, score=None)
