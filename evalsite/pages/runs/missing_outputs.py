"""The cases of a run's dataset version that have no output in the run."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.http import HttpResponse
from django.urls import reverse

from evalsite import access
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Case, Output, Run
from scoring.models.runs.missing_outputs import missing_cases


class MissingRow(NamedTuple):
    """A case, its page in the dataset, and in the run's baseline; "" where that lacks it, too."""

    case: Case
    url: str
    baseline_url: str


@get_page
def missing_outputs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The run's missing outputs, a page at a time."""
    run = access.run_for(request.user, uid)
    cases = missing_cases(run).only("key", "position")
    page = keyset_page(cases, "position", request.GET)
    baseline = None if run.is_unfinished else run_baseline(run)
    context = {
        "team": run.team,
        "run": run,
        "baseline": baseline,
        "page": page,
        "rows": list(_rows(run, baseline, page.rows)),
    }
    return render_page(request, "runs/missing.html", context)


def _rows(run: Run, baseline: Run | None, cases: Sequence[Case]) -> Iterator[MissingRow]:
    version = run.output_set.version
    baseline_urls = _baseline_urls(run, baseline, cases) if baseline else {}
    for case in cases:
        path = reverse("dataset_case", args=[version.dataset.uuid, case.position])
        yield MissingRow(case, f"{path}?version={version.number}", baseline_urls.get(case.key, ""))


def _baseline_urls(run: Run, baseline: Run, cases: Sequence[Case]) -> dict[str, str]:
    """The pages in the baseline of the cases that have an output there, by key."""
    outputs = Output.objects.filter(
        output_set=baseline.output_set_id,
        trial=0,
        case__version=baseline.output_set.version_id,
        case__key__in=[case.key for case in cases],
    )
    return {
        key: f"{reverse('run_case', args=[baseline.uuid, position])}?absent={run.uuid}"
        for key, position in outputs.values_list("case__key", "case__position")
    }
