"""The cases of a run that pass its filters, as query conditions.

A condition that few cases meet is turned round: their positions are read first, by an index or by
one scan of the texts, and whatever lists the cases then reads only these. Where every case of the
run has one row, such a condition need not be asked of the rows again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from scoring.models.case_list.filters import CaseFilters, Part
from scoring.models.case_list.tag_index import UNKNOWN, TaggedPositions, TagIndex
from scoring.models.data.dataset import Case, CaseQuerySet
from scoring.models.pairs.pair_index import NOT_INDEXED, IndexedList
from scoring.models.queries import first_positions
from scoring.models.reviews.review import Review
from scoring.models.runs.run import Output, Run, RunScorer, text_condition
from scoring.models.runs.score import CaseVerdict, Score, Status, Verdict

if TYPE_CHECKING:
    from scoring.models.case_list.change_filter import ChangeFilter  # which joins whole runs

MAX_POSITIONS: Final = 2_000
_JUDGED: Final = (Verdict.PASS, Verdict.FAIL)
MAX_EXCLUDED: Final = 100_000  # rows that a database holds in memory to leave them out

Search = tuple[
    Part, list[int]
]  # the positions of the cases of a part, at most MAX_POSITIONS and one


class SelectedCases(NamedTuple):
    """The sorted positions of all cases that may pass, and the parts that chose them."""

    positions: list[int]
    parts: frozenset[Part]


@dataclass
class Selection:
    """The filters over one run. Conditions are put on rows with an `output`.

    `has_one_each` says that every case of the dataset version has just one output in the run.
    `without` are outputs that never pass.
    """

    run: Run
    filters: CaseFilters
    has_one_each: bool = False
    without: frozenset[int] = frozenset()

    def of_verdicts(self) -> QuerySet[CaseVerdict]:
        """The case verdicts that pass."""
        rows = self._own_verdicts()
        if not self.filters.is_verdict_alone and self.few is not None:
            rows = rows.filter(position__in=self.few.positions)
        if Part.SCORES in self._unsettled:
            rows = rows.filter(self._score_filter())
        return self._left(rows.filter(self._text_filter(), self._output_filter()))

    def by_score(self, scorer: RunScorer, *, best_first: bool = False) -> QuerySet[Any]:
        """The rows that pass, with the attribute `score`: what this scorer gave.

        `best_first` tells the order in which they will be walked, which changes how, not what.
        """
        if self.few is not None and not self._is_range_of(scorer):
            scores = Score.objects.filter(scorer=scorer, output=OuterRef("output"))
            return self.of_verdicts().annotate(score=Subquery(scores.values("score")))
        rows = Score.objects.filter(scorer=scorer)
        verdict = self.filters.case_verdict
        if self.filters.change or verdict == (Verdict.PASS if best_first else Verdict.FAIL):
            same_case = self._own_verdicts().filter(
                position=OuterRef("output__case__position"), trial=OuterRef("output__trial")
            )
            rows = rows.filter(Exists(same_case))
        elif verdict is not None:
            rows = rows.filter(self._case_verdict_filter(verdict))
        if self.filters.asks_scores:
            rows = rows.filter(self._score_filter(scorer))
        return self._left(rows.filter(self._text_filter(), self._output_filter()))

    def least_score(self, scorer: RunScorer) -> float:
        """The lowest score that a case which passes can have of this scorer."""
        return scorer.threshold if self.filters.case_verdict == Verdict.PASS else 0.0

    def unsteady(self, output: str = "output__") -> Q:
        """That some trials of the same case pass and others fail.

        `output` leads from the rows this is put on to their output.
        """
        return Q(
            Exists(self._trials(Verdict.PASS, output)), Exists(self._trials(Verdict.FAIL, output))
        )

    @property
    def is_exact(self) -> bool:
        """Whether the few positions are just those of the rows that pass."""
        return self.few is not None and not self._unsettled and not self.without

    @property
    def kept_total(self) -> int | None:
        """How many cases changed so, where that is stored and nothing else is asked."""
        is_whole = self.filters.parts == {Part.CHANGE} and not self.without
        return self._kept.total if is_whole else None

    @cached_property
    def few(self) -> SelectedCases | None:
        """The cases that may pass, where some filter finds them to be few."""
        if self.filters.places:
            positions = {position for position, _ in self.filters.places}
            return SelectedCases(sorted(positions), frozenset())
        if self.filters.unsteady and self.has_one_each:
            return SelectedCases([], frozenset())
        if (few := _selected(Part.CHANGE, self._kept.positions)) is not None:
            return few
        tagged = _selected(Part.TAG, self._tagged.positions)
        if tagged is not None and (self.filters.text or not self.filters.change):
            return tagged
        if self.filters.text:
            return _intersect(chain(self._by_index(), self._by_reading(), self._by_searching()))
        return _intersect(self._by_index()) or tagged or _intersect(self._by_reading())

    @cached_property
    def _unsettled(self) -> frozenset[Part]:
        """What is to be asked of rows; of several trials the position tells nothing."""
        parts = self.filters.parts
        if not self.has_one_each or self.filters.is_verdict_alone or self.few is None:
            return parts
        return parts - self.few.parts

    @cached_property
    def _kept(self) -> IndexedList:
        change = self.filters.change
        return change.kept(self.run) if change and change.is_rare else NOT_INDEXED

    @cached_property
    def _tagged(self) -> TaggedPositions:
        tag = self.filters.tag
        return TagIndex.objects.of(self.run.output_set.version_id, tag) if tag else UNKNOWN

    def _is_range_of(self, scorer: RunScorer) -> bool:
        """Whether the rows that pass lie side by side in the order of this scorer's scores."""
        filters = self.filters
        return filters.parts == {Part.SCORES} and filters.scorer == scorer and not filters.code

    # What each filter finds by itself. The slower ones are left out where a quicker one finds
    # few cases.

    def _by_index(self) -> Iterator[Search]:
        filters = self.filters
        verdict = filters.case_verdict
        if verdict is not None and (self.run.output_counts[verdict.label] or 0) <= MAX_POSITIONS:
            yield Part.VERDICT, _positions(self._every_verdict().filter(verdict__in=[verdict]))
        if filters.asks_scores:
            scores = Score.objects.filter(self._score_condition(), scorer=filters.scorer)
            # A problem left no score or 0. SQLite uses its index for each of the two, not for both.
            parts = (
                [scores.filter(score=None), scores.filter(score=0)] if filters.code else [scores]
            )
            yield Part.SCORES, _positions(*parts, column="output__case__position")
        if filters.change and filters.change.verdict is not None:
            yield from self._by_change(filters.change)
        if filters.reviewed:
            reviews = Review.objects.of_run(self.run)
            yield Part.REVIEWED, _positions(reviews, column="output__case__position")
        if filters.people:
            yield Part.PEOPLE, _positions(filters.people.outputs(), column="case__position")

    def _by_reading(self) -> Iterator[Search]:
        filters = self.filters
        if filters.change and filters.change.verdict is None:
            yield from self._by_change(filters.change)
        if filters.unsteady:
            yield Part.UNSTEADY, first_positions([self._unsteady_positions()], MAX_POSITIONS + 1)
        if filters.labelled:
            outputs = filters.labelled.outputs(self.run)
            yield Part.LABELLED, _positions(outputs, column="case__position")
        if filters.tag and not self._tagged.is_known:
            yield Part.TAG, _positions(self._cases().tagged(filters.tag))

    def _by_searching(self) -> Iterator[Search]:
        text = self.filters.text
        outputs = Output.objects.filter(output_set=self.run.output_set_id).matching(text)
        queries = [
            outputs.values_list("case__position", flat=True),
            self._cases().matching(text).values_list("position", flat=True),
        ]
        yield Part.TEXT, first_positions(queries, MAX_POSITIONS + 1)

    def _by_change(self, change: ChangeFilter) -> Iterator[Search]:
        """Nothing where the change is known to be frequent."""
        if self._kept.total is None and change.is_rare:
            yield Part.CHANGE, change.first_positions(self.run, MAX_POSITIONS + 1)

    def _unsteady_positions(self) -> QuerySet[Any, int]:
        """The positions of the cases of which some trials pass and others fail."""
        positions: QuerySet[Any, int]
        if scorer := self.filters.scorer:
            position = "output__case__position"
            scores = Score.objects.filter(scorer=scorer, verdict__in=_JUDGED).order_by()
            cases = scores.values(position).annotate(verdicts=Count("verdict", distinct=True))
            positions = cases.filter(verdicts=2).values_list(position, flat=True)
            return positions
        counts, rows = self.run.output_counts, self._every_verdict()
        rarer, other = sorted(_JUDGED, key=lambda verdict: counts[verdict.label] or 0)
        same_case = Exists(rows.filter(verdict=other, position=OuterRef("position")))
        unsteady = rows.filter(same_case, verdict=rarer)
        positions = unsteady.values_list("position", flat=True).distinct()
        return positions

    # Conditions on rows.

    def _left(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows but those of outputs that never pass."""
        return rows.exclude(output__in=self.without) if self.without else rows

    def _own_verdicts(self) -> QuerySet[CaseVerdict]:
        """The run's case verdicts of the wanted verdict and change."""
        rows, filters, unsettled = self._every_verdict(), self.filters, self._unsettled
        if filters.case_verdict is not None and Part.VERDICT in unsettled:
            rows = rows.filter(verdict=filters.case_verdict)
        if filters.places:
            rows = rows.filter(_at_places(filters.places))
        if filters.change and Part.CHANGE in unsettled:
            rows = rows.filter(filters.change.condition(self.run))
        return rows

    def _case_verdict_filter(self, verdict: Verdict) -> Q:
        """For score rows walked from the end where their case's verdict is rare: the fewer, those
        of this verdict or those of the others, are looked up at once.
        """
        counts = self.run.output_counts
        others = [other for other in Verdict if other != verdict]
        other_count = sum(counts[other.label] or 0 for other in others)
        rows = self._every_verdict().values("output")
        if other_count < min(counts[verdict.label] or 0, MAX_EXCLUDED):
            return ~Q(output__in=rows.filter(verdict__in=others))
        return Q(output__in=rows.filter(verdict__in=[verdict]))

    def _score_filter(self, sorted_by: RunScorer | None = None) -> Q | Exists:
        """The condition on the named scorer's row, which is at hand when it is sorted by."""
        condition, scorer = self._score_condition(), self.filters.scorer
        if sorted_by == scorer:
            return condition
        return Exists(Score.objects.filter(condition, scorer=scorer, output=OuterRef("output")))

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
            wanted &= _score_verdict(filters.verdict, scorer.threshold)
        return wanted

    def _output_filter(self) -> Q:
        unsettled = self._unsettled
        wanted = self.unsteady() if Part.UNSTEADY in unsettled else Q()
        if self.filters.labelled and Part.LABELLED in unsettled:
            wanted &= self.filters.labelled.condition()
        if self.filters.people and Part.PEOPLE in unsettled:
            wanted &= self.filters.people.condition()
        if Part.REVIEWED in unsettled:
            is_reviewed = Q(Exists(Review.objects.filter(output=OuterRef("output"))))
            wanted &= is_reviewed if self.filters.reviewed else ~is_reviewed
        return wanted

    def _text_filter(self) -> Q:
        wanted, case = Q(), Case.objects.filter(pk=OuterRef("output__case")).order_by()
        if Part.TAG in self._unsettled:
            wanted &= Q(Exists(case.tagged(self.filters.tag)))
        if Part.TEXT in self._unsettled:
            text = self.filters.text
            wanted &= text_condition(text, "output__") | Q(Exists(case.matching(text)))
        return wanted

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
        return Case.objects.filter(version=self.run.output_set.version_id)


def _positions(*queries: QuerySet[Any], column: str = "position") -> list[int]:
    """The positions in this column of the rows, cut where they are more than MAX_POSITIONS."""
    return first_positions(
        (rows.values_list(column, flat=True) for rows in queries), MAX_POSITIONS + 1
    )


def _selected(part: Part, positions: Collection[int] | None) -> SelectedCases | None:
    """The cases of one part, if their positions are known and few."""
    return None if positions is None else _intersect([(part, list(positions))])


def _intersect(searches: Iterable[Search]) -> SelectedCases | None:
    """The cases that these searches leave; None where each finds many."""
    few = {part: set(positions) for part, positions in searches if len(positions) <= MAX_POSITIONS}
    return SelectedCases(sorted(set.intersection(*few.values())), frozenset(few)) if few else None


def _at_places(places: Collection[tuple[int, int]]) -> Q:
    """Case verdicts at these positions and trials."""
    by_trial: dict[int, list[int]] = {}
    for position, trial in places:
        by_trial.setdefault(trial, []).append(position)
    parts = (Q(trial=trial, position__in=positions) for trial, positions in by_trial.items())
    return reduce(or_, parts, Q())


def _score_verdict(verdict: Verdict, threshold: float) -> Q:
    """Score rows of that verdict. What is said of the score follows, but lets an index help."""
    if verdict == Verdict.PASS:
        return Q(verdict=verdict, score__gte=threshold)
    if verdict == Verdict.FAIL:
        below = Q(score__lt=threshold) if threshold else Q(score=0)
        return Q(verdict=verdict) & below
    status = Status.ERROR if verdict == Verdict.ERROR else Status.SKIPPED
    return Q(status=status, score=None)
