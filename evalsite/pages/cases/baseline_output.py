"""The output of the same case in the other run of a comparison, and its place in the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, OuterRef, QuerySet, Subquery, When
from django.http import Http404, QueryDict

from evalsite import access
from evalsite.access import OutputAccess
from evalsite.blind_review import blind_pairs_among
from evalsite.pages.cases.display_options import REMEMBERED as REMEMBERED_OPTIONS
from evalsite.pages.cases.table.baseline_choice import AUTO, BaselineChoice
from evalsite.pages.cases.table.case_table import Neighbours
from evalsite.pages.compare.forms import KINDS, PairListForm
from evalsite.pages.compare.links import LIST_PARAMS, case_url, compare_url
from scoring.engine.runs.missing_case import missing_case_reason
from scoring.models import CaseVerdict, Output, Run, RunScorer, Score, Verdict
from scoring.models.case_paging import PAGE_SIZE, CasePosition
from scoring.models.pairs.pair_index import NOT_INDEXED, IndexedList, indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.prepared_query import prepared_query

#: Which two of the three texts are compared, by the name that addresses bear.
BETWEEN: Final[Mapping[str, tuple[str, str]]] = {
    "baseline": ("baseline", "output"),
    "expected": ("expected", "output"),
    "earlier": ("expected", "baseline"),
}
TITLES: Final[Mapping[str, str]] = {
    "baseline": "baseline and this run",
    "expected": "expected and this run",
    "earlier": "expected and baseline",
}


class ScorePair(NamedTuple):
    """One scorer's answers in both runs, None where it gave none; the first is the baseline's."""

    name: str
    before: Score | None
    after: Score | None
    threshold: float | None  # the candidate's, None where only the baseline has the scorer

    @property
    def delta(self) -> float | None:
        before, after = (side.score if side else None for side in (self.before, self.after))
        return None if before is None or after is None else round(after - before, 12)


@dataclass
class BaselineOutput:
    """A case's output in the baseline; `output` is None where the baseline lacks the case.

    `opened` is the output on whose page it is shown, of the candidate `run` or of the baseline.
    """

    baseline: Run
    run: Run
    output: Output | None
    query: QueryDict
    opened: OutputAccess

    PARAMETER: ClassVar[str] = "against"  # of a case's address: it names the other run

    @property
    def _page(self) -> Run:
        """The run on whose page the case is shown."""
        return self.run

    @property
    def verdict(self) -> str | None:
        verdict = getattr(self.output, "verdict", None)
        return None if verdict is None else Verdict(verdict).label

    @property
    def url(self) -> str | None:
        """The case's own page in the baseline."""
        if self.output is None:
            return None
        position = CasePosition(self.output.case.position, self.output.trial)
        return case_url(self.baseline, position, "")

    @cached_property
    def form(self) -> PairListForm:
        """The list that the address names; a scorer is taken by its name."""
        runs = self.baseline, self.run
        form = PairListForm(self.query, scorers=[self.query.get("scorer", "")], runs=runs)
        form.full_clean()
        return form

    @cached_property
    def without(self) -> frozenset[int]:
        """The outputs that no list of the comparison has: they would tell the person a verdict."""
        if not self.opened.has_blind_outputs:
            return frozenset()
        return blind_pairs_among(self.opened.blind_cases, self.baseline, self.run).outputs

    @property
    def is_in_comparison(self) -> bool:
        """Whether the case is looked at in the list of a comparison, not of its run."""
        return self.query.get("against") != AUTO

    def _list_url(self, position: CasePosition, before: CasePosition | None) -> str:
        """The comparison, with the list that the case was opened from and its row in sight."""
        url = compare_url(self.run.team, self.baseline, [self.run])
        chosen = self._query_string(LIST_PARAMS)
        number = self._number or 0
        start = f"&after={before.written}&n={number}" if before and number > PAGE_SIZE else ""
        return f"{url}&{chosen}{start}#case-{position.written}" if chosen else url

    def neighbours(self, position: CasePosition) -> Neighbours:
        """The neighbours in the list; none where the case was not opened from one."""
        before = after = None
        if self._kind:
            before, after = Pairs(self.baseline, self.run).neighbours(
                self._kind,
                self.form.filters.leave_out(self.without),
                position,
                self._kept_list.positions,
            )
        return Neighbours(
            before and self._case_url(before, -1),
            after and self._case_url(after, 1),
            self._standing,
            self._list_url(position, before),
            self._case_url(position, 0, viewing=REMEMBERED_OPTIONS) + "&",
        )

    @property
    def _kind(self) -> PairKind | None:
        return self.form.chosen_kind if self.form.is_valid() else None

    @cached_property
    def _kept_list(self) -> IndexedList:
        kind = self._kind
        if kind is None:
            return NOT_INDEXED
        listed = self.form.filters.listed(kind)
        return indexed_list(self.baseline, self.run, kind, listed.scorer, listed.ranges.change)

    @property
    def _number(self) -> int | None:
        """The case's number in the list, as the links to it carry it."""
        return self.form.cleaned_data.get("n")

    @property
    def _standing(self) -> str:
        """As in "3 of 22 · broke"; the total only where it is kept."""
        kind, number = self._kind, self._number
        if kind is None or number is None:
            return KINDS[kind].lower() if kind else ""
        filters = self.form.filters
        count = self._kept_list.total if filters == filters.listed(kind) else None
        total = "" if count is None else f" of {count:,}"
        return f"{number:,}{total} · {KINDS[kind].lower()}"

    def _case_url(
        self,
        position: CasePosition,
        step: int,
        viewing: Sequence[str] = ("between", "diff", *REMEMBERED_OPTIONS),
    ) -> str:
        kept = self._query_string((self.PARAMETER, *LIST_PARAMS, *viewing))
        number = f"&n={self._number + step}" if self._number else ""
        return case_url(self._page, position, kept + number)

    def _query_string(self, names: Sequence[str]) -> str:
        """The query string of these parts of the address that are set."""
        return urlencode([(name, value) for name in names if (value := self.query.get(name))])


@dataclass
class MissingOutput(BaselineOutput):
    """A case of the baseline whose output the candidate `run` lacks."""

    PARAMETER: ClassVar[str] = "absent"

    @property
    def _page(self) -> Run:
        return self.baseline

    @cached_property
    def reason(self) -> str:
        assert self.output is not None  # noqa: S101  whose page it is
        return missing_case_reason(self.run, self.output.case.key, self.output.trial)


def find_baseline_output(
    opened: OutputAccess, query: QueryDict, choice: BaselineChoice
) -> BaselineOutput | None:
    """The output that `against` in the address asks for; None where it asks for nothing.

    The `choice` holds the baseline for an address that names none.
    """
    uuid = query.get("against")
    if not uuid:
        return None
    run = opened.run
    baseline = choice.chosen if uuid == AUTO else _get_partner_run(opened, uuid)
    if baseline is None:
        return None
    output = _find_output(baseline, opened.output)
    return BaselineOutput(baseline, run, output, query, opened)


def find_missing_output(opened: OutputAccess, query: QueryDict) -> MissingOutput | None:
    """The missing output that `absent` in the address names; None without it."""
    uuid = query.get("absent")
    if not uuid:
        return None
    list_query = query.copy()
    list_query["kind"] = PairKind.ONLY_BASELINE.value
    run = _get_partner_run(opened, uuid)
    return MissingOutput(opened.run, run, opened.output, list_query, opened)


def _get_partner_run(opened: OutputAccess, uuid: str) -> Run:
    """The run of this id, which must be one over the same dataset. Raises Http404."""
    try:
        return access.paired_run_for(opened, UUID(uuid))
    except ValueError:
        raise Http404 from None


def pair_scores(
    scorers: Sequence[RunScorer], before: Mapping[str, Score], after: Mapping[str, Score]
) -> list[ScorePair]:
    """The scores of the run's scorers in order, then those that only the baseline has."""
    thresholds = {scorer.name: scorer.threshold for scorer in scorers}
    names = [*thresholds, *(name for name in before if name not in thresholds)]
    return [
        ScorePair(name, before.get(name), after.get(name), thresholds.get(name)) for name in names
    ]


def _find_output(baseline: Run, output: Output) -> Output | None:
    """The baseline's output for the case, of the same trial, else of the first one it has."""
    outputs = baseline.output_set
    place = output.case.key, output.trial
    return _outputs_of_case.first(baseline.pk, outputs.pk, outputs.version_id, *place)


@prepared_query
def _outputs_of_case(
    run: int, output_set: int, version: int, key: str, trial: int
) -> QuerySet[Output]:
    """With their verdicts in the run, the one of the trial first."""
    verdicts = CaseVerdict.objects.filter(
        run=run, position=OuterRef("case__position"), trial=OuterRef("trial")
    )
    outputs = Output.objects.filter(output_set=output_set, case__version=version, case__key=key)
    is_another = Case(When(trial=trial, then=0), default=1)
    same_first = outputs.select_related("case").order_by(is_another, "trial")
    return same_first.annotate(verdict=Subquery(verdicts.values("verdict")[:1]))[:1]
