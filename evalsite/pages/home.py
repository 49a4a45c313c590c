"""Where a person lands: what needs a look, what runs, latest results and datasets; the search."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from evalsite import access
from evalsite.pages import sample
from evalsite.pages.forms.filters import SearchForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import posting, reading
from evalsite.pages.needs import Needs
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.running import latest_runs
from scoring.engine.search import LIMIT
from scoring.engine.search import search as find
from scoring.models import Role, Team

LISTED = 8
TEAM_KEY = "team"


@reading
def home(request: SignedInRequest) -> HttpResponse:
    """On to the team used last, else the first; a person without a team reads what to do."""
    teams = {team.slug: team for team in Team.objects.of(request.user)}
    if not teams:
        return show(request, "home/no_team.html", {})
    last = request.session.get(TEAM_KEY)
    return redirect("team_home", last if last in teams else next(iter(teams)))


@reading
def team_home(request: SignedInRequest, slug: str) -> HttpResponse:
    """What goes on in a team; until its first run, the steps that lead to one."""
    team = access.team_for(request.user, slug)
    if request.session.get(TEAM_KEY) != slug:
        request.session[TEAM_KEY] = slug
    latest = latest_runs(team, LISTED)
    context = {
        "team": team,
        **access.granted_on(request.user, team),
        "needs": Needs(team),
        "running": latest.running,
        "runs": latest.ended,
        "datasets": team.datasets.published().for_list()[:LISTED],
        # Asked only where the first steps are shown.
        "has_scorers": team.scorers.exists,
        "may_load_demo": lambda: not Team.objects.filter(slug=DEMO_SLUG).exists(),
    }
    return show(request, "home/team.html", context, parts=["runs"])


@posting
def load_demo(request: SignedInRequest) -> HttpResponse:
    """Make the demo team, its runs waiting for the worker; whoever makes it administers it."""
    from scoring.engine.demo.load import load

    if not request.user.memberships.filter(role__gte=Role.EDITOR).exists():
        raise PermissionDenied("This needs the role editor in a team.")
    if not Team.objects.filter(slug=DEMO_SLUG).exists():
        person = request.user
        load(timezone.now(), admins=[person], by=person, scores=False)
    return redirect("team_home", access.team_for(request.user, DEMO_SLUG).slug)


@reading
def search(request: SignedInRequest, slug: str) -> HttpResponse:
    """Datasets, runs, scorers and suites by name."""
    team = access.team_for(request.user, slug)
    text = SearchForm(request.GET).text.strip()
    context = {"team": team, "text": text, "found": find(team, text), "limit": LIMIT}
    return show(request, "home/search.html", context, parts=["found"])


@reading
def sample_file(_request: SignedInRequest) -> HttpResponse:
    """A small file to upload, whoever asks."""
    headers = {"Content-Disposition": f'attachment; filename="{sample.NAME}"'}
    return HttpResponse(sample.sample_csv(), content_type="text/csv", headers=headers)
