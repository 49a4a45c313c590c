"""The cases of a run as a table: filtered, sorted, and paged by where one stands, never by offset.

Whatever the run's size, a page reads about as many rows as it shows, because rows are walked in
the order of an index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db.models import (
    BooleanField,
    Count,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Left

from scoring.models.case_filters import NO_FILTERS, CaseFilters, Selection
from scoring.models.case_walk import PLACE, SCORED, UNSCORED, Found, Stand, Stretch
from scoring.models.comment import Comment
from scoring.models.queries import first_of_each, partner_of
from scoring.models.review import Review
from scoring.models.run import Output, Run, RunScorer
from scoring.models.score import CaseVerdict, Score, Verdict
from scoring.models.tag_places import TaggedPlaces, TagPlaces

PAGE_SIZE: Final = 50
OPENING: Final = 160  # characters of a text that a row shows
MOST_COUNTED: Final = 100_000_000  # no limit: few cases in all their trials are fewer


class Place(NamedTuple):
    """Where a case stands in its run; it names the case in addresses."""

    position: int
    trial: int = 0

    @property
    def written(self) -> str:
        """As addresses write it: `173`, or `173.2` for a later trial."""
        return f"{self.position}.{self.trial}" if self.trial else str(self.position)


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
    `earlier` is the verdict in the run the table is laid beside, None where it has none there.
    """

    place: Place
    key: str
    verdict: str
    input: str
    output: str | None
    is_json: bool
    error: str
    tags: list[str]
    is_unsteady: bool = False
    earlier: str | None = None
    reviews: int = 0
    comments: int = 0
    latency_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    scores: list[Score | None] = field(default_factory=list)


@dataclass(frozen=True)
class CasePage:
    rows: Sequence[CaseRow]
    has_previous: bool
    has_next: bool


class Neighbours(NamedTuple):
    """The cases before and after one in a table, None at its ends, and how many cases it has; None
    where counting them would take long.
    """

    before: Place | None
    after: Place | None
    total: int | None


_SPENT: Final = ("latency_ms", "tokens_in", "tokens_out", "cost_usd")


@dataclass
class CaseTable:
    """The cases of a run that pass the filters, in this order.

    `is_whole` reads whole outputs and the metadata of scores, which a page of rows does without;
    `marks_unsteady` finds out which cases are unsteady, `beside` what they were in that run,
    `counts_reviews` how many people have reviewed them, `counts_comments` what was written there.
    `has_one_each` spares questions: every case of the dataset version has just one output here.
    """

    run: Run
    scorers: Sequence[RunScorer]
    filters: CaseFilters = NO_FILTERS
    order: CaseOrder = DATASET_ORDER
    is_whole: bool = False
    marks_unsteady: bool = False
    beside: Run | None = None
    counts_reviews: bool = False
    counts_comments: bool = False
    has_one_each: bool = False
    _tagged: TaggedPlaces | None = field(default=None, init=False)

    def page(
        self, *, after: Place | None = None, before: Place | None = None, size: int = PAGE_SIZE
    ) -> CasePage:
        """The rows beyond `after`, or those that end before `before`, or the first."""
        backwards = before is not None
        found = self._beyond(self._stand(before or after), size + 1, backwards=backwards)
        outputs, has_more = [output for output, *_ in found[:size]], len(found) > size
        if backwards:
            return CasePage(self._rows(outputs[::-1]), has_more, has_next=True)
        return CasePage(self._rows(outputs), after is not None, has_more)

    def neighbours(self, place: Place, given: Iterable[Score] | None = None) -> Neighbours:
        """The cases around this one, in one query beside the one that looks for few cases.

        `given` are the scores of the case, where they are known already.
        """
        stand = self._stand(place, given)
        before, after = (self._ahead(stand, backwards=backwards) for backwards in (True, False))
        total = self._counted
        counts = [] if total is None or isinstance(total, int) else [_count_of(total)]
        found = first_of_each([*before, *after, *counts])
        if counts:
            row = found.pop()
            total = row[0] if row else 0
        places = [Place(*row[1:]) if row else None for row in found]
        nearest = places[: len(before)], places[len(before) :]
        first, last = (next(filter(None, way), None) for way in nearest)
        return Neighbours(first, last, total if isinstance(total, int) else None)

    @cached_property
    def count(self) -> int | None:
        """How many cases pass the filters; None where counting them would take long."""
        found = self._counted
        if found is None or isinstance(found, int):
            return found
        # In the order of the index that finds few positions; SQLite would walk another one whole.
        return found.order_by(*PLACE)[:MOST_COUNTED].count()

    @property
    def _counted(self) -> QuerySet[CaseVerdict] | int | None:
        """How many cases pass the filters where that is known, else few rows to count."""
        filters = self.filters
        if self.run.is_unfinished:
            return None
        if filters == NO_FILTERS:
            return self.run.case_count
        if filters == CaseFilters(reviewed=False) and self.run.case_count is not None:
            reviewed = Review.objects.of_run(self.run).values("output").distinct()
            return self.run.case_count - reviewed.count()
        if filters.is_verdict_alone and filters.case_verdict is not None:
            return self.run.verdict_counts[filters.case_verdict.label]
        if (total := self._selection.kept_total) is not None or self._selection.few is None:
            return total
        is_exact = self._selection.is_exact
        return len(self._selection.few.positions) if is_exact else self._selection.of_verdicts()

    def outputs(self) -> Iterator[int]:
        """The ids of all outputs in the table, in its order."""
        for stretch in self._stretches(backwards=False):
            yield from stretch.outputs()

    def output_ids(self) -> QuerySet[CaseVerdict, int]:
        """The outputs of all cases that pass the filters."""
        return self._selection.of_verdicts().values_list("output", flat=True)

    @cached_property
    def _selection(self) -> Selection:
        return Selection(self.run, self.filters, self.has_one_each, self._tagged)

    def _beyond(self, stand: Stand | None, limit: int, *, backwards: bool) -> list[Found]:
        """The outputs beyond the stand, nearest first; without one, from the table's end."""
        found: list[Found] = []
        for rows in self._ahead(stand, backwards=backwards):
            if len(found) < limit:
                found += rows[: limit - len(found)]
        return found

    def _ahead(self, stand: Stand | None, *, backwards: bool) -> list[QuerySet[Any, Found]]:
        """What lies beyond the stand, stretch by stretch."""
        found = []
        for stretch in self._stretches(backwards):
            if stand is not None and stand.columns != stretch.columns:
                continue  # it lies before the stretch that holds the place
            found.append(stretch.beyond(stand))
            stand = None
        return found

    def _stretches(self, backwards: bool) -> list[Stretch]:
        """The parts of the table in the order in which they are walked."""
        scorer, falling = self.order.scorer, self.order.descending != backwards
        if scorer is None:
            return [Stretch(self._selection.of_verdicts(), PLACE, falling)]
        rows = self._selection.by_score(scorer, best_first=self.order.descending)
        least = self._selection.least_score(scorer)  # no score is none of them
        scored = Stretch(rows, SCORED, falling, least)
        unscored = Stretch(rows.filter(score=None), UNSCORED, backwards)
        return [unscored, scored] if backwards else [scored, unscored]

    def _stand(self, place: Place | None, given: Iterable[Score] | None = None) -> Stand | None:
        """Where the place is in the walk; None, the start, if it is not in the run."""
        scorer = self.order.scorer
        if place is None or scorer is None:
            return place and Stand(PLACE, place)
        if given is None:
            row = self._told_at(place, scorer)
        else:
            own = (score for score in given if score.scorer_id == scorer.pk)
            row = next(((score.score, score.output_id) for score in own), None)
        if row is None:
            return None
        score, output = row
        return Stand(UNSCORED, (output,)) if score is None else Stand(SCORED, row)

    def _told_at(self, place: Place, scorer: RunScorer) -> tuple[float | None, int] | None:
        """The score and the output's id; None where the scorer has not told.

        Where the cases of the tag that is asked for stand is read along.
        """
        version = self.run.output_set.version_id
        kept = TagPlaces.objects.beside(version, self.filters.tag)
        found = Score.objects.filter(
            scorer=scorer,
            output__output_set=self.run.output_set_id,
            output__case__version=version,
            output__case__position=place.position,
            output__trial=place.trial,
        )
        row = found.annotate(**kept).values_list("score", "output", *kept).first()
        if row is None:
            return None
        self._tagged = TaggedPlaces.read(*row[2:]) if kept else None
        return row[0], row[1]

    def _rows(self, outputs: Sequence[int]) -> list[CaseRow]:
        scores = self._scores_of(outputs)
        rows = {values["pk"]: _row(values) for values in self._texts_of(outputs)}
        for output, row in rows.items():
            row.scores = [scores.get((output, scorer.pk)) for scorer in self.scorers]
        return [rows[output] for output in outputs]

    def _texts_of(self, outputs: Sequence[int]) -> Iterable[Mapping[str, Any]]:
        verdict = CaseVerdict.objects.filter(
            run=self.run, position=OuterRef("case__position"), trial=OuterRef("trial")
        )
        found: Iterable[Mapping[str, Any]] = Output.objects.filter(pk__in=outputs).values(
            "pk",
            "trial",
            "is_json",
            "error",
            *_SPENT,
            position=F("case__position"),
            key=F("case__key"),
            tags=F("case__tags_json"),
            verdict=Subquery(verdict.values("verdict")[:1]),
            input_opening=Left("case__input_json", OPENING),
            output=F("text") if self.is_whole else Left("text", OPENING),
            **self._marks(),
        )
        return found

    def _marks(self) -> dict[str, Any]:
        """The columns that cost a look at other rows, as far as they are wanted."""
        marks: dict[str, Any] = {}
        if self.marks_unsteady:
            marks["unsteady"] = _is_so(self._selection.straddling(""))
        if self.beside:
            place = {"position": "case__position", "key": "case__key"}
            partner = partner_of(self.run, self.beside, **place)
            marks["earlier"] = Subquery(partner.values("verdict"))
        if self.counts_reviews:
            marks["review_count"] = _number_of(Review.objects.all())
        if self.counts_comments:
            marks["comment_count"] = _number_of(Comment.objects.all())
        return marks

    def _scores_of(self, outputs: Sequence[int]) -> dict[tuple[int, int], Score]:
        scorers = [scorer.pk for scorer in self.scorers]
        found = Score.objects.filter(scorer__in=scorers, output__in=outputs)
        found = found if self.is_whole else found.defer("metadata_json")
        return {(score.output_id, score.scorer_id): score for score in found}


def opening(json_text: str) -> str:
    """What a cut JSON text says: the text itself where it is the start of one string."""
    if not json_text.startswith('"'):
        return json_text
    # The cut may lie inside an escape such as \u00e9, so up to six characters go.
    cut = (f'{json_text[: len(json_text) - length]}"' for length in range(7))
    for written in (json_text, *cut):
        with suppress(ValueError):
            return str(json.loads(written)).encode("utf-8", "ignore").decode()
    return json_text


def _row(values: Mapping[str, Any]) -> CaseRow:
    earlier = values.get("earlier")
    return CaseRow(
        place=Place(values["position"], values["trial"]),
        key=values["key"],
        verdict=Verdict(values["verdict"]).label,
        input=opening(values["input_opening"]),
        output=values["output"],
        is_json=values["is_json"],
        error=values["error"],
        tags=json.loads(values["tags"]),
        is_unsteady=values.get("unsteady", False),
        earlier=None if earlier is None else Verdict(earlier).label,
        reviews=values.get("review_count") or 0,
        comments=values.get("comment_count") or 0,
        **{name: values[name] for name in _SPENT},
    )


def _count_of(rows: QuerySet[CaseVerdict]) -> QuerySet[Any, Any]:
    """Their number, with as many columns as a neighbour has; no row where there are none."""
    counted = rows.order_by().values("run").annotate(rows=Count("pk"), nothing=Value(0))
    return counted.values_list("rows", "run", "nothing")


def _number_of(said: QuerySet[Any]) -> Subquery:
    """How many of these belong to an output; None for none."""
    own = said.filter(output=OuterRef("pk")).order_by().values("output")
    return Subquery(own.annotate(n=Count("pk")).values("n"))


def _is_so(condition: Q) -> ExpressionWrapper[Any]:
    """A condition as a column."""
    return ExpressionWrapper(condition, output_field=BooleanField())
