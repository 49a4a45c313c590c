"""Uploads: choose a file, map its columns, read the report, import."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse

from evalsite import access
from evalsite.pages.forms.uploads import NewUploadForm
from evalsite.pages.fragments import SignedInRequest, show
from scoring.models import Role


@login_required
def upload_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose a file, for a new dataset or for one that is there."""
    team = access.team_for(request.user, slug, Role.EDITOR)
    start = {name: request.GET[name] for name in ("kind", "dataset") if name in request.GET}
    form = NewUploadForm(request.POST or None, request.FILES or None, team=team, initial=start)
    context = {"team": team, "form": form}
    return show(request, "upload/new.html", context, status=422 if form.errors else 200)
