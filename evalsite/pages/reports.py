"""Reports to hand out: a run as one HTML file."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.urls import reverse

from evalsite import access
from evalsite.pages.fragments import SignedInRequest, show_file
from evalsite.pages.methods import reading
from scoring.engine.handout import run as handout


@reading
def run_report(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The run's figures and worst cases."""
    run = access.run_for(request.user, uid)
    address = request.build_absolute_uri(reverse("run", args=[uid]))
    return show_file(handout.run_report(run, address=address), handout.run_file_name(run))
