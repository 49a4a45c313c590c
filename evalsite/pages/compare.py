"""Two runs compared, or one with several: chosen, waited for, shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.compare_table import CompareTable
from evalsite.pages.compare_urls import compare_url
from evalsite.pages.compare_waiting import waiting_for
from evalsite.pages.forms.compare import ChoiceForm, DatasetForm, OfferedRuns, RunsForm
from evalsite.pages.fragments import SignedInRequest, show, show_file, show_whole
from evalsite.pages.methods import reading
from evalsite.pages.pair_charts import PairCharts
from evalsite.pages.pair_list import PairList
from scoring.engine import compare as engine
from scoring.engine import compare_asks
from scoring.engine.compare import NotComparableError
from scoring.engine.figures import Figures
from scoring.engine.handout.comparison import comparison_file_name, comparison_report
from scoring.engine.stages import Progress
from scoring.models import Comparison, Errand, Run, Team, User
from scoring.models.pair_rows import PairKind


@dataclass
class Candidate:
    """One run beside the baseline: its figures, or why there are none yet."""

    baseline: Run
    run: Run
    kept: Comparison | None
    problem: str = ""
    progress: Progress | None = None  # of what the worker has begun

    @cached_property
    def figures(self) -> Figures | None:
        return Figures.read(self.kept.figures) if self.kept else None

    @property
    def is_waiting(self) -> bool:
        return self.kept is None and not self.problem

    @property
    def url(self) -> str:
        """The two runs by themselves."""
        return compare_url(self.run.team, self.baseline, [self.run])


@dataclass
class Pair:
    """A baseline and one candidate, ready to be set."""

    beside: Candidate
    figures: Figures
    query: QueryDict

    @cached_property
    def cases(self) -> PairList:
        thresholds = {scorer.name: scorer.thresholds for scorer in self.figures.scorers}
        counts = {kind: int(getattr(self.figures, kind.value)) for kind in PairKind}
        return PairList(self.beside.baseline, self.beside.run, thresholds, counts, self.query)

    @cached_property
    def charts(self) -> PairCharts:
        return PairCharts(self.figures.scorers, self.cases, self.query.get("chart", ""))


@reading
def compare(request: SignedInRequest, slug: str) -> HttpResponse:
    """The comparison that the address names, or the form to choose one."""
    team = access.team_for(request.user, slug)
    found = _asked(request, team)
    return found if isinstance(found, HttpResponse) else _shown(request, team, *found)


@reading
def compare_report(request: SignedInRequest, slug: str) -> HttpResponse:
    """The comparison as one file to hand out; the page that waits while it is not worked out."""
    team = access.team_for(request.user, slug)
    found = _asked(request, team)
    if isinstance(found, HttpResponse):
        return found
    baseline, beside = found
    runs = [each.run for each in beside]
    here = compare_url(team, baseline, runs)
    told = [(each.run, each.figures) for each in beside if each.figures]
    if len(told) < len(beside):
        return redirect(here)
    text = comparison_report(baseline, told, address=request.build_absolute_uri(here))
    return show_file(text, comparison_file_name(baseline, runs))


def _asked(request: SignedInRequest, team: Team) -> HttpResponse | tuple[Run, Sequence[Candidate]]:
    """The baseline and its candidates as the address names them, else the form to choose them."""
    form = RunsForm(request.GET)
    if "baseline" not in request.GET or "choose" in request.GET:
        return _choose(request, team)
    if not form.is_valid():
        return _choose(request, team, form=form)
    uids = [form.cleaned_data["baseline"], *form.cleaned_data["candidate"]]
    baseline, *candidates = access.runs_for(request.user, team, uids)
    try:
        beside = _beside(baseline, candidates, request.user, is_again="again" in request.GET)
    except NotComparableError as refused:
        return _choose(request, team, refused=refused)
    return baseline, beside


def _choose(request: SignedInRequest, team: Team, **told: Any) -> HttpResponse:
    datasets = DatasetForm(request.GET, team=team)
    form, refused = told.get("form"), told.get("refused")
    dataset = refused.run.output_set.version.dataset if refused else datasets.chosen(team)
    offered = OfferedRuns(dataset, request.GET) if dataset else None
    context = {
        "team": team,
        "datasets": datasets,
        "dataset": dataset,
        "choice": ChoiceForm(request.GET, offered.runs if offered else ()),
        "offered": offered,
    }
    status = (404 if form.names_no_run else 400) if form else 200
    return show(request, "compare/choose.html", context | told, status=status)


def _beside(
    baseline: Run, candidates: Sequence[Run], by: User, *, is_again: bool
) -> list[Candidate]:
    """Each candidate with the figures; those that take long are asked of the worker."""
    for run in candidates:
        engine.check(baseline, run)
    kept = engine.kept_among(baseline, candidates)
    return [_candidate(baseline, run, kept.get(run.pk), by, is_again) for run in candidates]


def _candidate(
    baseline: Run, run: Run, kept: Comparison | None, by: User, is_again: bool
) -> Candidate:
    if kept:
        return Candidate(baseline, run, kept)
    failed: Errand | None = None if is_again else compare_asks.failed(baseline, run)
    if failed:
        return Candidate(baseline, run, None, failed.problem)
    return Candidate(baseline, run, compare_asks.compared_for(baseline, run, by))


def _shown(
    request: SignedInRequest, team: Team, baseline: Run, beside: Sequence[Candidate]
) -> HttpResponse:
    runs = [each.run for each in beside]
    context: dict[str, Any] = {
        "team": team,
        "baseline": baseline,
        "dataset": baseline.output_set.version.dataset,
        "beside": beside,
        "here": compare_url(team, baseline, runs),  # asks nothing again
    }
    if all(each.figures for each in beside):
        context["report_url"] = compare_url(team, baseline, runs, "compare_report")
    is_looking = request.headers.get("HX-Target") == "waiting"
    if any(each.is_waiting for each in beside):
        context["waiting"] = waiting_for(baseline, beside)
        is_looking = False
    page = _page(request, context, beside, parts=[] if is_looking else ["waiting"])
    return show_whole(page) if is_looking else page


def _page(
    request: SignedInRequest,
    context: dict[str, Any],
    beside: Sequence[Candidate],
    parts: Sequence[str],
) -> HttpResponse:
    first = beside[0]
    if len(beside) > 1:
        context["table"] = CompareTable(beside)
        return show(request, "compare/several.html", context, parts=parts)
    if first.figures is None:
        return show(request, "compare/waiting.html", context, parts=parts)
    context |= {"candidate": first.run, "pair": Pair(first, first.figures, request.GET)}
    return show(request, "compare/page.html", context, parts=["cases", "charts"])
