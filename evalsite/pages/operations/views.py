"""What goes on in the site as a whole, for whoever runs it."""

from __future__ import annotations

from django.http import HttpResponse

from evalsite import access
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.operations.site_figures import read_site_figures
from scoring.engine.runs.progress import find_worker_problem
from scoring.engine.worker.site_settings import compare_workers


@get_page
def operations(request: SignedInRequest) -> HttpResponse:
    """Queues, workers and their rate; renewed while the page is open."""
    access.check_site_administrator(request.user)
    figures = read_site_figures()
    context = {
        "figures": figures,
        "differences": compare_workers(figures.workers),
        "problem": find_worker_problem(),
    }
    return render_page(request, "operations/page.html", context, parts=["figures"])
