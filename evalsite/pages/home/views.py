"""The start page of a team: attention list, running and latest runs, datasets; and the search."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from evalsite import access
from evalsite.pages.home.attention import AttentionList
from evalsite.pages.home.waiting import WaitingList
from evalsite.pages.uploads import sample
from evalsite.pages.web.decorators import get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.pages.web.search_forms import SearchForm
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.runs.latest_runs import latest_runs
from scoring.engine.search import LIMIT
from scoring.engine.search import search as search_team
from scoring.models import Role, Team

MAX_LISTED = 8
TEAM_KEY = "team"


@get_page
def home(request: SignedInRequest) -> HttpResponse:
    """Redirect to the team used last, else to the first; without a team say what to do."""
    slugs = [team.slug for team in Team.objects.of(request.user)]
    if not slugs:
        return render_page(request, "home/no_team.html", {})
    last = request.session.get(TEAM_KEY)
    return redirect("team_home", last if last in slugs else slugs[0])


@get_page
def team_home(request: SignedInRequest, slug: str) -> HttpResponse:
    """What goes on in a team; until its first run, the steps that lead to one."""
    opened = access.team_access_for(request.user, slug)
    team = opened.team
    if request.session.get(TEAM_KEY) != slug:
        request.session[TEAM_KEY] = slug
    latest = latest_runs(team, MAX_LISTED)
    context = {
        "team": team,
        **opened.permissions,
        "waiting": WaitingList(opened),
        "attention": AttentionList(team),
        "running": latest.running,
        "runs": latest.ended,
        "datasets": team.datasets.listed().for_list()[:MAX_LISTED],
        # Queried only where the first steps are shown.
        "has_scorers": team.scorers.exists,
        "may_load_demo": lambda: not Team.objects.filter(slug=DEMO_SLUG).exists(),
    }
    return render_page(request, "home/team.html", context, parts=["runs"])


@post_action
def load_demo(request: SignedInRequest) -> HttpResponse:
    """Create the demo team with queued runs; its creator administers it."""
    from scoring.engine.demo.load import create_demo

    if not request.user.memberships.filter(role__gte=Role.EDITOR).exists():
        raise PermissionDenied("This needs the role editor in a team.")
    if not Team.objects.filter(slug=DEMO_SLUG).exists():
        create_demo(timezone.now(), admins=[request.user], by=request.user, scores=False)
    return redirect("team_home", access.team_for(request.user, DEMO_SLUG).slug)


@get_page
def search(request: SignedInRequest, slug: str) -> HttpResponse:
    """Datasets, runs, scorers and suites by name."""
    team = access.team_for(request.user, slug)
    text = SearchForm(request.GET).text.strip()
    context = {"team": team, "text": text, "found": search_team(team, text), "limit": LIMIT}
    return render_page(request, "home/search.html", context, parts=["found"])


@get_page
def sample_file(_request: SignedInRequest) -> HttpResponse:
    """A small sample file to upload."""
    headers = {"Content-Disposition": f'attachment; filename="{sample.NAME}"'}
    return HttpResponse(sample.sample_csv(), content_type="text/csv", headers=headers)
