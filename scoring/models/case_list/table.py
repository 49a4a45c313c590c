"""The table of a run's cases: filtered, sorted, and paged by keyset.

Whatever the run's size, a page reads about as many rows as it shows, because rows are walked in
the order of an index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db.models import (
    BooleanField,
    Count,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Left

from scoring.models.case_list.filters import NO_FILTERS, CaseFilters
from scoring.models.case_list.index_scan import (
    POSITION_COLUMNS,
    SCORED,
    UNSCORED,
    Cursor,
    Segment,
    WalkedRow,
)
from scoring.models.case_list.selection import Selection
from scoring.models.case_paging import OPENING_LENGTH, PAGE_SIZE, CasePosition, opening_text
from scoring.models.prepared_query import prepared_query
from scoring.models.queries import case_verdict_of, partner_verdict
from scoring.models.reviews.comment import Comment
from scoring.models.reviews.review import Review
from scoring.models.runs.run import Output, Run, RunScorer
from scoring.models.runs.score import CaseVerdict, Score, ScoreRow, Verdict

MAX_COUNTED: Final = 100_000_000  # no limit: few cases in all their trials are fewer


@dataclass(frozen=True)
class CaseOrder:
    """By the dataset's order, or by one scorer's score with the unscored cases last."""

    scorer: RunScorer | None = None
    descending: bool = False


DATASET_ORDER: Final = CaseOrder()


@dataclass
class CaseRow:
    """One line of the table; `scores` has a row for each of the run's scorers, or None.

    `input` is the opening of the text; so is `output`, unless the table shows whole outputs.
    `earlier` is the case's verdict in the run the table is laid beside, None where it has none
    there, and `case_verdict` the one it has here; rows of further trials have none.
    Of a row that `is_hidden` there is no verdict, score or review.
    """

    place: CasePosition
    key: str
    verdict: str
    input: str
    output: str | None
    is_json: bool
    error: str
    tags: list[str]
    is_unsteady: bool = False
    earlier: str | None = None
    case_verdict: str | None = None
    reviews: int = 0
    comments: int = 0
    latency_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    scores: list[ScoreRow | None] = field(default_factory=list)
    is_hidden: bool = False

    def hide(self, scorer_count: int) -> None:
        """Forget every verdict, and what people said."""
        self.verdict, self.earlier, self.case_verdict = "", None, None
        self.reviews, self.comments = 0, 0
        self.scores, self.is_hidden = [None] * scorer_count, True


@dataclass(frozen=True)
class CasePage:
    rows: Sequence[CaseRow]
    has_previous: bool
    has_next: bool


class Neighbours(NamedTuple):
    """The cases before and after one in a table, None at its ends, and how many cases it has; None
    where counting them would take long.
    """

    before: CasePosition | None
    after: CasePosition | None
    total: int | None


_SPENT: Final = ("latency_ms", "tokens_in", "tokens_out", "cost_usd")


@dataclass
class CaseTable:
    """The cases of a run that pass the filters, in this order.

    `is_whole` reads whole outputs and the metadata of scores, which a page of rows does without;
    `marks_unsteady` finds out which cases are unsteady, `compared_with` what they were in that run,
    `counts_reviews` how many people have reviewed them, `counts_comments` what was written there.
    `has_one_each` spares questions: every case of the dataset version has just one output here.

    Of the outputs in `hidden` no verdict, score or review is told: where the filters or the order
    would tell it, or without `masks`, they are left out, else their rows are without. `unpaired`
    are those of which also nothing is told beside the other run.
    """

    run: Run
    scorers: Sequence[RunScorer]
    filters: CaseFilters = NO_FILTERS
    order: CaseOrder = DATASET_ORDER
    is_whole: bool = False
    marks_unsteady: bool = False
    compared_with: Run | None = None
    counts_reviews: bool = False
    counts_comments: bool = False
    has_one_each: bool = False
    hidden: frozenset[int] = frozenset()
    unpaired: frozenset[int] = frozenset()
    masks: bool = True

    def page(
        self,
        *,
        after: CasePosition | None = None,
        before: CasePosition | None = None,
        size: int = PAGE_SIZE,
    ) -> CasePage:
        """The rows beyond `after`, or those that end before `before`, or the first."""
        backwards = before is not None
        rows = self._beyond(self._cursor(before or after), size + 1, backwards=backwards)
        outputs, has_more = [output for output, *_ in rows[:size]], len(rows) > size
        if backwards:
            return CasePage(self._rows(outputs[::-1]), has_more, has_next=True)
        return CasePage(self._rows(outputs), after is not None, has_more)

    def neighbours(self, place: CasePosition, scores: Iterable[Score] | None = None) -> Neighbours:
        """The cases around this one; `scores` are its own, where they are known already."""
        cursor = self._cursor(place, scores)
        before, after = (
            [CasePosition(*row[1:]) for row in self._beyond(cursor, 1, backwards=backwards)]
            for backwards in (True, False)
        )
        return Neighbours(before[0] if before else None, after[0] if after else None, self.count)

    @cached_property
    def count(self) -> int | None:
        """How many cases pass the filters; None where counting them would take long."""
        if self.run.is_unfinished:
            return None
        return self._count_others() if self.left_out else self._count_all()

    def _count_all(self) -> int | None:
        filters, selection = self.filters, self._selection
        if filters == NO_FILTERS:
            return self.run.output_count
        if filters == CaseFilters(reviewed=False) and self.run.output_count is not None:
            reviewed = Review.objects.of_run(self.run).values("output").distinct()
            return self.run.output_count - reviewed.count()
        if filters.is_verdict_alone and filters.case_verdict is not None:
            return self.run.output_counts[filters.case_verdict.label]
        if selection.kept_total is not None or selection.few is None:
            return selection.kept_total
        # In the order of the index that finds few positions; SQLite would walk another one whole.
        rows = selection.of_verdicts().order_by(*POSITION_COLUMNS)[:MAX_COUNTED]
        return len(selection.few.positions) if selection.is_exact else rows.count()

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The outputs that are not in the table whether they pass or not."""
        is_told = self.filters.tells_verdicts or self.order.scorer is not None
        left_out = self.hidden if is_told or not self.masks else frozenset[int]()
        return left_out | self.unpaired if self.filters.change else left_out

    def outputs(self) -> Iterator[int]:
        """The ids of all outputs in the table, in its order."""
        for segment in self._segments(backwards=False):
            yield from segment.outputs()

    def output_ids(self) -> QuerySet[CaseVerdict, int]:
        """The outputs of all cases that pass the filters."""
        return self._selection.of_verdicts().values_list("output", flat=True)

    @cached_property
    def _selection(self) -> Selection:
        return Selection(self.run, self.filters, self.has_one_each, self.left_out)

    def _count_others(self) -> int | None:
        """How many cases pass that are not left out."""
        if self.filters == NO_FILTERS:
            total = self.run.output_count
            return None if total is None else max(0, total - len(self.left_out))
        if self._selection.few is None:
            return None
        return self._selection.of_verdicts().order_by(*POSITION_COLUMNS)[:MAX_COUNTED].count()

    def _beyond(self, cursor: Cursor | None, limit: int, *, backwards: bool) -> list[WalkedRow]:
        """The rows beyond the cursor, nearest first; without one, from the table's end."""
        rows: list[WalkedRow] = []
        for segment in self._segments(backwards):
            if cursor is not None and cursor.columns != segment.columns:
                continue  # it lies before the segment that holds the cursor
            rows += segment.beyond(cursor)[: limit - len(rows)]
            cursor = None
        return rows

    def _segments(self, backwards: bool) -> list[Segment]:
        """The parts of the table in the order in which they are walked."""
        scorer, falling = self.order.scorer, self.order.descending != backwards
        if scorer is None:
            return [Segment(self._selection.of_verdicts(), POSITION_COLUMNS, falling)]
        rows = self._selection.by_score(scorer, best_first=self.order.descending)
        least = self._selection.least_score(scorer)  # no score is none of them
        scored = Segment(rows, SCORED, falling, least)
        unscored = Segment(rows.filter(score=None), UNSCORED, backwards)
        return [unscored, scored] if backwards else [scored, unscored]

    def _cursor(
        self, place: CasePosition | None, scores: Iterable[Score] | None = None
    ) -> Cursor | None:
        """Where the place is in the walk; None, the start, if it is not in the run."""
        scorer = self.order.scorer
        if place is None or scorer is None:
            return place and Cursor(POSITION_COLUMNS, place)
        if scores is None:
            scores = Score.objects.filter(
                scorer=scorer,
                output__output_set=self.run.output_set_id,
                output__case__version=self.run.output_set.version_id,
                output__case__position=place.position,
                output__trial=place.trial,
            )
        row = next((score for score in scores if score.scorer_id == scorer.pk), None)
        if row is None:
            return None
        if row.score is None:
            return Cursor(UNSCORED, (row.output_id,))
        return Cursor(SCORED, (row.score, row.output_id))

    def _rows(self, outputs: Sequence[int]) -> list[CaseRow]:
        scores = self._scores_of(outputs)
        rows = {values["pk"]: _row(values) for values in self._texts_of(outputs)}
        for output, row in rows.items():
            row.scores = [scores.get((output, scorer.pk)) for scorer in self.scorers]
            if output in self.hidden:
                row.hide(len(self.scorers))
            elif output in self.unpaired:
                row.earlier = None
        return [rows[output] for output in outputs]

    def _texts_of(self, outputs: Sequence[int]) -> Iterable[Mapping[str, Any]]:
        wanted = {
            "is_whole": self.is_whole,
            "counts_reviews": self.counts_reviews,
            "counts_comments": self.counts_comments,
        }
        marks = self._marks()
        if not marks:
            return _prepared_texts(self.run.pk, outputs, **wanted)
        return _texts(self.run.pk, outputs, **wanted).annotate(**marks)

    def _marks(self) -> dict[str, Any]:
        """The columns that say what a case is in other trials and runs, as far as wanted."""
        verdict = _verdict_of_row(self.run.pk)
        marks: dict[str, Any] = {}
        if self.marks_unsteady and not self.hidden:  # other trials would tell
            marks["unsteady"] = ExpressionWrapper(
                self._selection.unsteady(""), output_field=BooleanField()
            )
        if self.compared_with:
            partner = partner_verdict(
                self.run, self.compared_with, position="case__position", key="case__key"
            )
            marks["earlier"] = Subquery(partner.values(case_verdict_of(self.compared_with)))
            marks["case_verdict"] = Subquery(verdict.values(case_verdict_of(self.run))[:1])
        return marks

    def _scores_of(self, outputs: Sequence[int]) -> dict[tuple[int, int], ScoreRow]:
        scorers = [scorer.pk for scorer in self.scorers]
        rows = _scores(scorers, outputs, is_whole=self.is_whole)
        return {row[:2]: ScoreRow(*row) for row in rows}


def _texts(
    run: int,
    outputs: Sequence[int],
    *,
    is_whole: bool,
    counts_reviews: bool,
    counts_comments: bool,
) -> QuerySet[Output, Any]:
    counts = {}
    if counts_reviews:
        counts["review_count"] = _count_by_output(Review.objects.all())
    if counts_comments:
        counts["comment_count"] = _count_by_output(Comment.objects.all())
    rows: QuerySet[Output, Any] = Output.objects.filter(pk__in=outputs).values(
        "pk",
        "trial",
        "is_json",
        "error",
        *_SPENT,
        position=F("case__position"),
        key=F("case__key"),
        tags=F("case__tags_json"),
        verdict=Subquery(_verdict_of_row(run).values("verdict")[:1]),
        input_opening=Left("case__input_json", OPENING_LENGTH),
        output=F("text") if is_whole else Left("text", OPENING_LENGTH),
        **counts,
    )
    return rows


_prepared_texts = prepared_query(_texts)


def _verdict_of_row(run: int) -> QuerySet[CaseVerdict]:
    """The verdict of an output in the run."""
    position, trial = OuterRef("case__position"), OuterRef("trial")
    return CaseVerdict.objects.filter(run=run, position=position, trial=trial)


@prepared_query
def _scores(
    scorers: Sequence[int], outputs: Sequence[int], *, is_whole: bool
) -> QuerySet[Score, Any]:
    scores = Score.objects.filter(scorer__pk__in=scorers, output__pk__in=outputs)
    return scores.values_list(*(ScoreRow._fields if is_whole else ScoreRow._fields[:-1]))


def _row(values: Mapping[str, Any]) -> CaseRow:
    earlier, case_verdict = values.get("earlier"), values.get("case_verdict")
    return CaseRow(
        place=CasePosition(values["position"], values["trial"]),
        key=values["key"],
        verdict=Verdict(values["verdict"]).label,
        input=opening_text(values["input_opening"]),
        output=values["output"],
        is_json=values["is_json"],
        error=values["error"],
        tags=json.loads(values["tags"]),
        is_unsteady=values.get("unsteady", False),
        earlier=None if earlier is None else Verdict(earlier).label,
        case_verdict=None if case_verdict is None else Verdict(case_verdict).label,
        reviews=values.get("review_count") or 0,
        comments=values.get("comment_count") or 0,
        **{name: values[name] for name in _SPENT},
    )


def _count_by_output(rows: QuerySet[Any]) -> Subquery:
    """How many of these rows belong to an output; None for none."""
    own = rows.filter(output=OuterRef("pk")).order_by().values("output")
    return Subquery(own.annotate(n=Count("pk")).values("n"))
