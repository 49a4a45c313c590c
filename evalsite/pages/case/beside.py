"""The same case in the run that it is compared with, and its place in that comparison's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import Http404, QueryDict

from evalsite import access
from evalsite.pages.case.against import AUTO, Against
from evalsite.pages.case.list import Around
from evalsite.pages.case.switches import KEPT as LOOKS
from evalsite.pages.compare_urls import KEPT, case_url, compare_url
from evalsite.pages.forms.compare import KINDS, PairForm
from scoring.models import CaseVerdict, Output, Run, RunScorer, Score, User, Verdict
from scoring.models.case_table import PAGE_SIZE, Place
from scoring.models.pair_places import NOTHING_KEPT, KeptList, kept_list
from scoring.models.pair_rows import PairKind
from scoring.models.pairs import Pairs

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
        scores = [side.score if side else None for side in (self.before, self.after)]
        before, after = scores
        return None if before is None or after is None else round(after - before, 12)


@dataclass
class Beside:
    """A case's output in the baseline; `output` is None where the baseline lacks the case."""

    baseline: Run
    run: Run
    output: Output | None
    query: QueryDict

    NAMED: ClassVar[str] = "against"  # the part of a case's address that names the other run

    @property
    def _page(self) -> Run:
        """The run on whose page the case is shown."""
        return self.run

    @property
    def verdict(self) -> str | None:
        seen = getattr(self.output, "seen", None)
        return None if seen is None else Verdict(seen).label

    @property
    def url(self) -> str | None:
        """The case's own page in the baseline."""
        if self.output is None:
            return None
        return case_url(self.baseline, Place(self.output.case.position, self.output.trial), "")

    @cached_property
    def form(self) -> PairForm:
        """The list that the address names; a scorer is taken by its name."""
        form = PairForm(self.query, scorers=[self.query.get("scorer", "")])
        form.full_clean()
        return form

    @property
    def is_in_comparison(self) -> bool:
        """Whether the case is looked at in the list of a comparison, not of its run."""
        return self.query.get("against") != AUTO

    def _list_url(self, place: Place, before: Place | None) -> str:
        """The comparison, with the list that the case was opened from and its row in sight."""
        url = compare_url(self.run.team, self.baseline, [self.run])
        chosen = self._kept(KEPT)
        number = self._number or 0
        start = f"&after={before.written}&n={number}" if before and number > PAGE_SIZE else ""
        return f"{url}&{chosen}{start}#case-{place.written}" if chosen else url

    def around(self, place: Place) -> Around:
        """The neighbours in the list; none where the case was not opened from one."""
        kind = self._kind
        before = after = None
        if kind:
            pairs = Pairs(self.baseline, self.run)
            known = self._kept_list.positions
            before, after = pairs.neighbours(kind, self.form.filters, place, known)
        return Around(
            before and self._case_url(before, -1),
            after and self._case_url(after, 1),
            self._standing,
            self._list_url(place, before),
            self._case_url(place, 0, viewing=LOOKS) + "&",
        )

    @property
    def _kind(self) -> PairKind | None:
        return self.form.kind_asked if self.form.is_valid() else None

    @cached_property
    def _kept_list(self) -> KeptList:
        if self._kind is None:
            return NOTHING_KEPT
        listed = self.form.filters.listed(self._kind)
        runs = self.baseline, self.run
        return kept_list(*runs, self._kind, listed.scorer, listed.ranges.change)

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
        self, place: Place, step: int, viewing: Sequence[str] = ("between", "diff", *LOOKS)
    ) -> str:
        kept = self._kept((self.NAMED, *KEPT, *viewing))
        number = f"&n={self._number + step}" if self._number else ""
        return case_url(self._page, place, kept + number)

    def _kept(self, names: Sequence[str]) -> str:
        """These parts of the address, as far as they are there."""
        return urlencode([(name, value) for name in names if (value := self.query.get(name))])


def beside_of(
    user: User, run: Run, output: Output, query: QueryDict, measure: Against
) -> Beside | None:
    """What `against` in the address asks for; None where it asks for nothing.

    `measure` holds the run that changes are told from, for an address that names none.
    """
    named = query.get("against")
    if not named:
        return None
    if named == AUTO:
        chosen = measure.chosen
        return Beside(chosen, run, _output_of(chosen, output), query) if chosen else None
    baseline = partner_run(user, run, str(named))
    return Beside(baseline, run, _output_of(baseline, output), query)


def partner_run(user: User, run: Run, named: str) -> Run:
    """The run of this id, which must be one of the same team and dataset. Raises Http404."""
    partner = access.run_for(user, _uid(named))
    datasets = {each.output_set.version.dataset_id for each in (partner, run)}
    if partner.team_id != run.team_id or len(datasets) > 1:
        raise Http404
    return partner


def score_pairs(
    scorers: Sequence[RunScorer], before: Mapping[str, Score], after: Mapping[str, Score]
) -> list[ScorePair]:
    """The run's scorers in their order, then those that only the baseline has."""
    own = [
        ScorePair(each.name, before.get(each.name), after.get(each.name), each.threshold)
        for each in scorers
    ]
    names = {each.name for each in scorers}
    return own + [
        ScorePair(name, score, None, None) for name, score in before.items() if name not in names
    ]


def _output_of(baseline: Run, output: Output) -> Output | None:
    verdicts = CaseVerdict.objects.filter(
        run=baseline, position=OuterRef("case__position"), trial=output.trial
    )
    found = Output.objects.select_related("case").filter(
        output_set=baseline.output_set_id,
        trial=output.trial,
        case__version=baseline.output_set.version_id,
        case__key=output.case.key,
    )
    return found.annotate(seen=Subquery(verdicts.values("verdict")[:1])).first()


def _uid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
