"""Comparison of a baseline with one or several runs: choose, wait, show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from evalsite import access
from evalsite.blind_review import blind_pairs
from evalsite.pages.compare.candidates import Candidate, load_candidates
from evalsite.pages.compare.charts import PairCharts
from evalsite.pages.compare.forms import ChoiceForm, DatasetForm, OfferedRuns, RunsForm
from evalsite.pages.compare.links import compare_url
from evalsite.pages.compare.pair_list import PairList
from evalsite.pages.compare.progress import get_comparison_progress
from evalsite.pages.compare.refused_sign_off import RefusedSignOff
from evalsite.pages.compare.relabelled_runs import RelabelledRun, find_relabelled_runs
from evalsite.pages.compare.table import CompareTable
from evalsite.pages.compare.waiver_form import WaiverForm
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import (
    SignedInRequest,
    html_file_response,
    render_page,
    retarget_page,
)
from scoring.engine.compare.comparison import NotComparableError
from scoring.engine.compare.figures import Figures
from scoring.engine.reports.comparison_report import comparison_file_name, comparison_report
from scoring.engine.review.pairwise import find_results
from scoring.models import Run, Team
from scoring.models.pairs.rows import PairKind


@dataclass
class Pair:
    """A baseline and one candidate with figures; the outputs `without` are in no list."""

    candidate: Candidate
    figures: Figures
    query: QueryDict
    without: frozenset[int] = frozenset()
    relabelled: Sequence[RelabelledRun] = ()

    @cached_property
    def cases(self) -> PairList:
        thresholds = {scorer.name: scorer.thresholds for scorer in self.figures.scorers}
        counts = {kind: int(getattr(self.figures, kind.value)) for kind in PairKind}
        runs = self.candidate.baseline, self.candidate.run
        relabels = {each.run.pk: each.relabel for each in self.relabelled}
        return PairList(*runs, thresholds, counts, self.query, self.without, relabels)

    @cached_property
    def charts(self) -> PairCharts:
        return PairCharts(self.figures.scorers, self.cases, self.query.get("chart", ""))


@get_page
def compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """The comparison that the address names, or the form to choose one."""
    team = access.team_for(request.user, slug)
    chosen = _load_chosen(request, team)
    return chosen if isinstance(chosen, HttpResponse) else _show(request, team, *chosen)


@get_page
def compare_report(request: SignedInRequest, slug: str) -> HttpResponse:
    """The comparison as one HTML file; until it is computed, a redirect to the page."""
    team = access.team_for(request.user, slug)
    chosen = _load_chosen(request, team)
    if isinstance(chosen, HttpResponse):
        return chosen
    baseline, candidates = chosen
    runs = [candidate.run for candidate in candidates]
    here = compare_url(team, baseline, runs)
    compared = [(each.run, each.figures) for each in candidates if each.figures]
    if len(compared) < len(candidates):
        return redirect(here)
    without = [blind_pairs(request.user, baseline, run).outputs for run in runs]
    text = comparison_report(
        baseline,
        compared,
        address=request.build_absolute_uri(here),
        without=frozenset().union(*without),
    )
    return html_file_response(text, comparison_file_name(baseline, runs))


def _load_chosen(
    request: SignedInRequest, team: Team
) -> HttpResponse | tuple[Run, Sequence[Candidate]]:
    """The baseline and its candidates that the address names, else the form to choose them."""
    form = RunsForm(request.GET)
    if "baseline" not in request.GET or "choose" in request.GET:
        return _show_choice(request, team)
    if not form.is_valid():
        return _show_choice(request, team, form=form)
    uids = [form.cleaned_data["baseline"], *form.cleaned_data["candidate"]]
    baseline, *runs = access.runs_for(request.user, team, uids)
    try:
        candidates = load_candidates(baseline, runs, request.user, is_again="again" in request.GET)
    except NotComparableError as refused:
        return _show_choice(request, team, refused=refused)
    return baseline, candidates


def _show_choice(
    request: SignedInRequest,
    team: Team,
    *,
    form: RunsForm | None = None,
    refused: NotComparableError | None = None,
) -> HttpResponse:
    """The form to choose runs, with what is wrong with those of the address."""
    datasets = DatasetForm(request.GET, team=team)
    dataset = refused.run.output_set.version.dataset if refused else datasets.chosen(team)
    offered = OfferedRuns(dataset, request.GET) if dataset else None
    context = {
        "team": team,
        "datasets": datasets,
        "dataset": dataset,
        "choice": ChoiceForm(request.GET, offered.runs if offered else ()),
        "offered": offered,
        "form": form,
        "refused": refused,
    }
    status = (404 if form.names_no_run else 400) if form else 200
    return render_page(request, "compare/choose.html", context, status=status)


def show_comparison(
    request: SignedInRequest, baseline: Run, candidate: Run, refused: RefusedSignOff
) -> HttpResponse:
    """The page of two comparable runs, with the sign-off that was refused."""
    candidates = load_candidates(baseline, [candidate], request.user, is_again=False)
    return _show(request, candidate.team, baseline, candidates, refused)


def _show(
    request: SignedInRequest,
    team: Team,
    baseline: Run,
    candidates: Sequence[Candidate],
    refused: RefusedSignOff | None = None,
) -> HttpResponse:
    runs = [candidate.run for candidate in candidates]
    context: dict[str, Any] = {
        "team": team,
        "baseline": baseline,
        "dataset": baseline.output_set.version.dataset,
        "candidates": candidates,
        "here": compare_url(team, baseline, runs),  # without `again`
        "relabelled": find_relabelled_runs([baseline, *runs]),
    }
    if all(candidate.figures for candidate in candidates):
        context["report_url"] = compare_url(team, baseline, runs, "compare_report")
    is_polling = request.headers.get("HX-Target") == "waiting"
    parts = ["waiting"]
    if any(candidate.is_waiting for candidate in candidates):
        context["waiting"] = get_comparison_progress(baseline, candidates)
    elif is_polling:
        parts = []
    first, template, status = candidates[0], "compare/waiting.html", 200
    if len(candidates) > 1:
        template = "compare/candidates.html"
        context["table"] = CompareTable(candidates)
    elif first.figures:
        template, parts = "compare/page.html", ["cases", "charts"]
        without = blind_pairs(request.user, baseline, first.run)
        relabelled = context["relabelled"]
        pair = Pair(first, first.figures, request.GET, without.outputs, relabelled)
        context |= {"candidate": first.run, "pair": pair, "left_out": len(without.candidate)}
        context |= access.permissions(request.user, team)
        context["preferences"] = find_results(request.user, first.run, baseline)
        blank = WaiverForm(team=team, user=request.user)
        context["sent"] = sent = refused or RefusedSignOff(blank, status=200)
        context["waiver"], status = sent.waiver, sent.status
        if sent.places:
            here = {row.place.written for row in pair.cases.page.rows}
            context["places_elsewhere"] = sorted(sent.places - here)
    page = render_page(request, template, context, parts=parts, status=status)
    return retarget_page(page) if is_polling and "waiting" not in context else page
