"""Connections: the endpoints of language models a team may call."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from evalsite.access import connection_for, team_for
from evalsite.pages.forms.connections import ConnectionForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import filling, posting, reading
from scoring.engine import errands
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Connection, Errand, ErrandKind, Role
from scoring.models.connection import environment_endpoint


@reading
def connections(request: SignedInRequest, slug: str) -> HttpResponse:
    """The team's connections, and the endpoint of the environment behind them."""
    team = team_for(request.user, slug, Role.ADMIN)
    found = list(Connection.objects.filter(team=team).for_list())
    context = {
        "team": team,
        "connections": found,
        "has_default": any(each.is_default for each in found),
        "environment": environment_endpoint(),
    }
    return show(request, "connection/list.html", context)


@filling
@sensitive_post_parameters("key")
def new_connection(request: SignedInRequest, slug: str) -> HttpResponse:
    team = team_for(request.user, slug, Role.ADMIN)
    form = ConnectionForm(request.POST or None, team=team)
    if form.is_valid() and (made := form.save(request.user)):
        messages.success(request, f"Connection {made.name} is saved. Test it now.")
        return redirect("connection", slug, made.uuid)
    context = {"team": team, "form": form}
    return show(request, "connection/new.html", context, status=422 if form.errors else 200)


@filling
@sensitive_post_parameters("key")
def connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """One connection: its test and its settings."""
    found = connection_for(request.user, slug, uid)
    form = ConnectionForm(request.POST or None, team=found.team, connection=found)
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect("connection", slug, uid)
    context = {"team": found.team, "connection": found, "form": form} | _test_of(found)
    status = 422 if form.errors else 200
    return show(request, "connection/page.html", context, parts=["test"], status=status)


@posting
def test_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Ask the worker for one small call through the connection."""
    found = connection_for(request.user, slug, uid)
    wanted = {"connection": str(found.uuid)}
    errands.ask(ErrandKind.TEST_CONNECTION, found.team, request.user, wanted)
    return redirect("connection", slug, uid)


@posting
def default_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Let scorers that name no connection use this one."""
    found = connection_for(request.user, slug, uid)
    found.make_default(by=request.user)
    messages.success(request, f"{found.name} is the default connection now.")
    return redirect("connections", slug)


@filling
def remove_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Say what hangs on the connection, then remove it."""
    found = connection_for(request.user, slug, uid)
    if request.method == "POST":
        found.remove(by=request.user)
        messages.success(request, f"Connection {found.name} and its key are removed.")
        return redirect("connections", slug)
    context = {"team": found.team, "connection": found, "scorers": found.scorers()}
    return show(request, "connection/remove.html", context)


def _test_of(connection: Connection) -> dict[str, Any]:
    """The latest test of the last day, and why it does not move."""
    test = Errand.objects.latest_test_of(connection)
    is_stuck = test is not None and test.is_open and not worker_is_alive()
    return {"test": test, "cause": NO_WORKER if is_stuck else None}
