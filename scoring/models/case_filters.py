"""Which cases of a run to look at, as conditions on rows.

A condition that few cases meet is turned round: these cases are found first, by an index or by
one scan of the texts, and whatever lists them then reads only them. Where every case of the run
has one row, a condition that was turned round need not be asked of the rows again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import or_
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from scoring.models.case_labels import Labelled
from scoring.models.dataset import Case, CaseQuerySet
from scoring.models.few_cases import Few, Part, Query, Search, found_by, of_all, positions_of
from scoring.models.pair_places import NOTHING_KEPT, KeptList
from scoring.models.queries import among
from scoring.models.review import Review
from scoring.models.run import Output, Run, RunScorer
from scoring.models.score import CaseVerdict, Score, Status, Verdict
from scoring.models.tag_places import UNKNOWN, TaggedPlaces, TagPlaces

if TYPE_CHECKING:
    from scoring.models.case_changes import Change  # which joins whole runs

FEW: Final = 2_000
_JUDGED: Final = (Verdict.PASS, Verdict.FAIL)
MOST_LEFT_OUT: Final = 100_000  # rows that a database holds in memory to leave them out


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
    def parts(self) -> frozenset[Part]:
        """What is asked."""
        asked = {
            Part.PLACES: bool(self.places),
            Part.VERDICT: self.case_verdict is not None,
            Part.SCORES: self.asks_scores,
            Part.CHANGE: self.change is not None,
            Part.REVIEWED: self.reviewed is not None,
            Part.UNSTEADY: self.unsteady,
            Part.LABELLED: self.labelled is not None,
            Part.TAG: bool(self.tag),
            Part.TEXT: bool(self.text),
        }
        return frozenset(part for part, is_asked in asked.items() if is_asked)

    @property
    def is_verdict_alone(self) -> bool:
        """Whether nothing is asked but the case's verdict."""
        return self.parts == {Part.VERDICT}


NO_FILTERS: Final = CaseFilters()


@dataclass
class Selection:
    """The filters over one run. Conditions are put on rows with an `output`.

    `has_one_each` says that every case of the dataset version has just one output in the run;
    `tagged` is where the cases with the tag stand, if that is at hand.
    """

    run: Run
    filters: CaseFilters
    has_one_each: bool = False
    tagged: TaggedPlaces | None = None

    def of_verdicts(self) -> QuerySet[CaseVerdict]:
        """The case verdicts that pass."""
        rows = self._own_verdicts()
        if not self.filters.is_verdict_alone and self.few is not None:
            rows = rows.filter(position__in=among(self.few.positions))
        if Part.SCORES in self._unsettled:
            rows = rows.filter(self._asked_of_scores())
        return rows.filter(self._asked_of_texts(), self._asked_of_outputs())

    def by_score(self, scorer: RunScorer, *, best_first: bool = False) -> QuerySet[Any]:
        """The rows that pass, with the attribute `score`: what this scorer gave.

        `best_first` tells the order in which they will be walked, which changes how, not what.
        """
        if self.few is not None and not self._is_stretch_of(scorer):
            given = Score.objects.filter(scorer=scorer, output=OuterRef("output"))
            return self.of_verdicts().annotate(score=Subquery(given.values("score")))
        rows = Score.objects.filter(scorer=scorer)
        verdict = self.filters.case_verdict
        if self.filters.change or verdict == (Verdict.PASS if best_first else Verdict.FAIL):
            place = {
                "position": OuterRef("output__case__position"),
                "trial": OuterRef("output__trial"),
            }
            rows = rows.filter(Exists(self._own_verdicts().filter(**place)))
        elif verdict is not None:
            rows = rows.filter(self._of_case_verdict(verdict))
        if self.filters.asks_scores:
            rows = rows.filter(self._asked_of_scores(scorer))
        return rows.filter(self._asked_of_texts(), self._asked_of_outputs())

    def least_score(self, scorer: RunScorer) -> float:
        """What this scorer gave at least where it gave a score: who passes passes by each."""
        return scorer.threshold if self.filters.case_verdict == Verdict.PASS else 0.0

    def _is_stretch_of(self, scorer: RunScorer) -> bool:
        """Whether the rows that pass lie side by side in the order of this scorer's scores."""
        asked = self.filters
        return asked.parts == {Part.SCORES} and asked.scorer == scorer and not asked.code

    def _of_case_verdict(self, verdict: Verdict) -> Q:
        """For score rows walked from the end where their case's verdict is rare: the fewer, those
        of this verdict or those of the others, are looked up at once.
        """
        counts, others = self.run.verdict_counts, [each for each in Verdict if each != verdict]
        number = sum(counts[each.label] or 0 for each in others)
        if number < min(counts[verdict.label] or 0, MOST_LEFT_OUT):
            return ~Q(output__in=self._of(others))
        return Q(output__in=self._of([verdict]))

    def _of(self, verdicts: list[Verdict]) -> QuerySet[Any]:
        return self._every_verdict().filter(verdict__in=verdicts).values("output")

    def _own_verdicts(self) -> QuerySet[CaseVerdict]:
        """The run's case verdicts of the wanted verdict and change."""
        rows, filters, unsettled = self._every_verdict(), self.filters, self._unsettled
        if filters.case_verdict is not None and Part.VERDICT in unsettled:
            rows = rows.filter(verdict=filters.case_verdict)
        if filters.places:
            rows = rows.filter(_at(filters.places))
        if filters.change and Part.CHANGE in unsettled:
            rows = rows.filter(filters.change.condition(self.run))
        return rows

    @property
    def is_exact(self) -> bool:
        """Whether the few positions are just those of the rows that pass."""
        return self.few is not None and not self._unsettled

    @cached_property
    def _unsettled(self) -> frozenset[Part]:
        """What is to be asked of rows; of several trials the position tells nothing."""
        asked = self.filters.parts
        if not self.has_one_each or self.filters.is_verdict_alone or self.few is None:
            return asked
        return asked - self.few.parts

    @cached_property
    def few(self) -> Few | None:
        """The cases that may pass, where some filter finds them to be few."""
        if self.filters.places:
            return Few(sorted({position for position, _ in self.filters.places}), frozenset())
        if self.filters.unsteady and self.has_one_each:
            return Few([], frozenset())
        if (few := self._kept_change) is not None:
            return few
        if not self.filters.change and (few := self._kept_tag) is not None:
            return few
        if self.filters.text:  # which takes the longest, and so it may take the rest along
            searches = chain(self._by_index(), self._by_reading(), self._by_searching())
            return self._kept_tag or self._found(searches)
        return self._found(self._by_index()) or self._kept_tag or self._found(self._by_reading())

    def _found(self, given: Iterable[Search]) -> Few | None:
        """The cases that these searches leave, in one query; None where each finds many."""
        searches = list(given)
        found = positions_of([queries for _, queries in searches], FEW)
        parts = [part for part, _ in searches]
        few = {part: at for part, at in zip(parts, found, strict=True) if len(at) <= FEW}
        return of_all(few) if few else None

    @property
    def kept_total(self) -> int | None:
        """How many cases changed so, where that is kept and nothing else is asked."""
        return self._kept.total if self.filters.parts == {Part.CHANGE} else None

    @property
    def _kept_change(self) -> Few | None:
        """Where the wanted change stands, if that is kept and few."""
        found = self._kept.positions
        return None if found is None or len(found) > FEW else of_all({Part.CHANGE: found})

    @property
    def _kept_tag(self) -> Few | None:
        """Where the cases with the tag stand, if that is kept and few."""
        found = self._tagged.positions
        return None if found is None or len(found) > FEW else of_all({Part.TAG: found})

    # What each filter finds by itself: queries whose positions together are its cases. The slower
    # ones are left out where a quicker one finds few cases.

    def _by_index(self) -> Iterator[Search]:
        filters = self.filters
        if filters.case_verdict is not None and not self._is_known_to_be_many(filters.case_verdict):
            yield Part.VERDICT, [found_by(self._case_verdicts(), "position")]
        if filters.asks_scores:
            yield Part.SCORES, self._scores_asked()
        if filters.change and filters.change.verdict is not None:
            yield from self._changed(filters.change)
        if filters.reviewed:
            reviews = Review.objects.of_run(self.run)
            yield Part.REVIEWED, [found_by(reviews, "output__case__position")]

    def _is_known_to_be_many(self, verdict: Verdict) -> bool:
        return (self.run.verdict_counts[verdict.label] or 0) > FEW

    @cached_property
    def _kept(self) -> KeptList:
        change = self.filters.change
        return change.kept(self.run) if change and change.is_rare else NOTHING_KEPT

    @cached_property
    def _tagged(self) -> TaggedPlaces:
        if self.tagged is not None:
            return self.tagged
        tag = self.filters.tag
        return TagPlaces.objects.of(self.run.output_set.version_id, tag) if tag else UNKNOWN

    def _changed(self, change: Change) -> Iterator[Search]:
        """Nothing where the change is known to be frequent."""
        if self._kept.total is None and change.is_rare:
            places = change.places(self.run)
            yield Part.CHANGE, [places] if places else []

    def _by_reading(self) -> Iterator[Search]:
        change = self.filters.change
        if change and change.verdict is None:
            yield from self._changed(change)
        if self.filters.unsteady:
            yield Part.UNSTEADY, [found_by(self._unsteady_positions())]
        if self.filters.labelled:
            outputs = self.filters.labelled.outputs(self.run)
            yield Part.LABELLED, [found_by(outputs, "case__position")]
        if self.filters.tag and not self._tagged.is_known:
            yield Part.TAG, [found_by(self._cases().tagged(self.filters.tag), "position")]

    def _by_searching(self) -> Iterator[Search]:
        if text := self.filters.text:
            outputs = Output.objects.filter(output_set=self.run.output_set_id, text__icontains=text)
            cases = self._cases().matching(text)
            yield Part.TEXT, [found_by(outputs, "case__position"), found_by(cases, "position")]

    def _scores_asked(self) -> list[Query]:
        scores = self._scores()
        # A problem left no score or 0. SQLite uses its index for each of the two, not for both.
        parts = [scores.filter(score=None), scores.filter(score=0)]
        wanted = parts if self.filters.code else [scores]
        return [found_by(part, "output__case__position") for part in wanted]

    def _unsteady_positions(self) -> QuerySet[Any, int]:
        """The positions of the cases of which some trials pass and others fail."""
        positions: QuerySet[Any, int]
        if scorer := self.filters.scorer:
            place = "output__case__position"
            judged = Score.objects.filter(scorer=scorer, verdict__in=_JUDGED)
            ways = judged.order_by(place).values(place).annotate(n=Count("verdict", distinct=True))
            positions = ways.filter(n=2).values_list(place, flat=True)
            return positions
        counts, rows = self.run.verdict_counts, self._every_verdict()
        rarer, other = sorted(_JUDGED, key=lambda each: counts[each.label] or 0)
        same = Exists(rows.filter(verdict=other, position=OuterRef("position")))
        positions = rows.filter(same, verdict=rarer).values_list("position", flat=True).distinct()
        return positions

    def straddling(self, output: str = "output__") -> Q:
        """That some trials of the same case pass and others fail.

        `output` leads from the rows this is put on to their output.
        """
        passed, failed = (self._trials(verdict, output) for verdict in (Verdict.PASS, Verdict.FAIL))
        return Q(Exists(passed)) & Q(Exists(failed))

    def _asked_of_outputs(self) -> Q:
        unsettled = self._unsettled
        asked = self.straddling() if Part.UNSTEADY in unsettled else Q()
        if self.filters.labelled and Part.LABELLED in unsettled:
            asked &= self.filters.labelled.condition()
        if Part.REVIEWED not in unsettled:
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
        if Part.TAG in self._unsettled:
            asked &= Q(Exists(case.tagged(self.filters.tag)))
        if Part.TEXT in self._unsettled:
            text = self.filters.text
            asked &= Q(output__text__icontains=text) | Q(Exists(case.matching(text)))
        return asked


def _at(places: Collection[tuple[int, int]]) -> Q:
    """Case verdicts at these positions and trials."""
    by_trial: dict[int, list[int]] = {}
    for position, trial in places:
        by_trial.setdefault(trial, []).append(position)
    parts = (Q(trial=trial, position__in=found) for trial, found in by_trial.items())
    return reduce(or_, parts, Q())


def _judged(verdict: Verdict, threshold: float) -> Q:
    """Score rows of that verdict. What is said of the score follows, but lets an index help."""
    if verdict == Verdict.PASS:
        return Q(verdict=verdict, score__gte=threshold)
    if verdict == Verdict.FAIL:
        below = Q(score__lt=threshold) if threshold else Q(score=0)
        return Q(verdict=verdict) & below
    status = Status.ERROR if verdict == Verdict.ERROR else Status.SKIPPED
    return Q(status=status, score=None)
