"""The gates of a run: conditions checked on request, with the waivers they rest on."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.http import HttpResponse

from evalsite import access
from evalsite.gate_checks import ShownCheck, check_gates_for, needs_baseline
from evalsite.pages.compare.candidates import load_candidates
from evalsite.pages.compare.forms import OfferedRuns
from evalsite.pages.compare.links import case_url, compare_url
from evalsite.pages.compare.progress import get_comparison_progress
from evalsite.pages.gates.forms import AUTO, GateForm
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page, retarget_page
from scoring.engine.calibration.gate_fitness import StampedScorer
from scoring.engine.compare.gate_text import value_text
from scoring.engine.compare.gates import GateOutcome, State
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Run, User
from scoring.models.case_paging import CasePosition
from scoring.models.reviews.broken_cases import WaivedCase

MAX_CASES: Final = 100  # waived cases of each list
STATE_MARKS: Final[dict[State, tuple[str, str]]] = {
    "passed": ("pass", "✓"),
    "failed": ("fail", "✕"),
    "undecided": ("error", "!"),
}


class Answer(NamedTuple):
    """One gate as the page shows it; `cases` are those worth more trials, each with its page."""

    outcome: GateOutcome
    value: str
    look: str
    mark: str
    cases: Sequence[tuple[str, str]]
    more_cases: int


class SharedTerms(NamedTuple):
    """The terms that the waivers of a case have for some of its scorers, whose names are joined."""

    scorers: str
    until: date
    owner: User | None
    reason: str


@dataclass(frozen=True)
class WaivedRow:
    """A waived case with its page."""

    case: WaivedCase
    url: str

    @cached_property
    def terms(self) -> list[SharedTerms]:
        """Each once, with the scorers that share it."""
        scorers: dict[tuple[date, User | None, str], list[str]] = {}
        for waiver in self.case.waivers:
            terms = (waiver.until, waiver.owner, waiver.reason)
            scorers.setdefault(terms, []).append(waiver.scorer.name)
        return [SharedTerms(", ".join(names), *terms) for terms, names in scorers.items()]

    @property
    def scorers(self) -> str:
        """The names of all its scorers."""
        return ", ".join(waiver.scorer.name for waiver in self.case.waivers)


@dataclass(frozen=True)
class GateResult:
    """What the gates of a form answer."""

    checked: ShownCheck

    @property
    def look(self) -> tuple[str, str]:
        """Of all gates together."""
        return STATE_MARKS[self.checked.check.state]

    @cached_property
    def answers(self) -> list[Answer]:
        return [self._answer(outcome) for outcome in self.checked.check.outcomes]

    @property
    def stamped(self) -> list[StampedScorer]:
        """The scorers that the gates rest on; none where none of them is stamped."""
        scorers = self.checked.scorers
        return scorers if any(each.stamp for each in scorers) else []

    @property
    def waived(self) -> list[tuple[str, Sequence[WaivedRow], int]]:
        """The used and the expired waivers: a title, the first cases, and how many more."""
        used, expired = self.checked.waivers
        titles = ("Waivers used", used), ("Expired waivers (cases count again)", expired)
        return [
            (title, [WaivedRow(case, self._url(case.pair.place)) for case in cases[:MAX_CASES]],
             max(0, len(cases) - MAX_CASES))
            for title, cases in titles
            if cases
        ]  # fmt: skip

    def _answer(self, outcome: GateOutcome) -> Answer:
        regressions = self.checked.check.regressions
        flips = regressions.flips if regressions and outcome.cases else None
        cases = flips.unstable if flips else ()
        links = [(case.key, self._url(CasePosition(case.position))) for case in cases]
        more = flips.unstable_count - len(cases) if flips else 0
        return Answer(outcome, value_text(outcome), *STATE_MARKS[outcome.state], links, more)

    def _url(self, place: CasePosition) -> str:
        check = self.checked.check
        return case_url(
            check.run, place, f"against={check.baseline.uuid}" if check.baseline else ""
        )


@get_page
def run_gate(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The form, and where the address names gates what they answer; nothing is kept."""
    run = access.run_for(request.user, uid)
    context: dict[str, Any] = {"team": run.team, "run": run}
    if run.is_unfinished:
        return render_page(request, "gates/page.html", context)
    offered = OfferedRuns(run.output_set.version.dataset, request.GET)
    auto = run_baseline(run)
    form = GateForm(request.GET, run=run, runs=offered.runs, auto=auto)
    context["form"] = form
    parts: list[str] = []
    if form.is_valid():
        context |= _check_form(request, form, auto)
        parts = ["waiting"] if "waiting" in context else []
    status = 422 if form.errors else 200
    page = render_page(request, "gates/page.html", context, parts=parts, status=status)
    is_polling = request.headers.get("HX-Target") == "waiting"
    return retarget_page(page) if is_polling and not parts else page


def _check_form(request: SignedInRequest, form: GateForm, auto: Run | None) -> dict[str, Any]:
    """The answers, or the progress of the comparison that they wait for."""
    run, baseline = form.run, auto
    if (named := form.cleaned_data["baseline"]) not in ("", AUTO):
        (baseline,) = access.runs_for(request.user, run.team, [uuid.UUID(named)])
    context: dict[str, Any] = {"baseline": baseline, "here": request.get_full_path()}
    if baseline:
        context["compare_url"] = compare_url(run.team, baseline, [run])
    gates = form.cleaned_data["gate"]
    if baseline and needs_baseline(gates):
        is_again = "again" in request.GET
        candidates = load_candidates(baseline, [run], request.user, is_again=is_again)
        if candidates[0].is_waiting:
            context["waiting"] = get_comparison_progress(baseline, candidates)
        if candidates[0].comparison is None:
            return {**context, "candidates": candidates}
    shown = check_gates_for(request.user, run, baseline, gates, form.limits)
    return {**context, "result": GateResult(shown) if shown else None}
