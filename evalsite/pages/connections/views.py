"""Connections: the endpoints of language models a team may call."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from evalsite.access import connection_for, team_for
from evalsite.pages.connections.forms import ConnectionForm
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.jobs import job_queue
from scoring.engine.runs.progress import job_stall_reason
from scoring.models import Connection, Job, JobKind, Role, Scorer
from scoring.models.scorers.connection import environment_endpoint


@get_page
def connections(request: SignedInRequest, slug: str) -> HttpResponse:
    """The team's connections, and the fallback endpoint of the environment."""
    team = team_for(request.user, slug, Role.ADMIN)
    connections = list(Connection.objects.filter(team=team).for_list())
    context = {
        "team": team,
        "connections": connections,
        "has_default": any(connection.is_default for connection in connections),
        "environment": environment_endpoint(),
    }
    return render_page(request, "connections/list.html", context)


@form_page
@sensitive_post_parameters("key")
def new_connection(request: SignedInRequest, slug: str) -> HttpResponse:
    team = team_for(request.user, slug, Role.ADMIN)
    form = ConnectionForm(request.POST or None, team=team)
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, f"Connection {saved.name} is saved. Test it now.")
        return redirect("connection", slug, saved.uuid)
    context = {"team": team, "form": form}
    return render_page(request, "connections/new.html", context, status=422 if form.errors else 200)


@form_page
@sensitive_post_parameters("key")
def connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """One connection: its test and its settings."""
    endpoint = connection_for(request.user, slug, uid)
    form = ConnectionForm(request.POST or None, team=endpoint.team, connection=endpoint)
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect("connection", slug, uid)
    context = {"team": endpoint.team, "connection": endpoint, "form": form} | _latest_test(endpoint)
    status = 422 if form.errors else 200
    return render_page(request, "connections/page.html", context, parts=["test"], status=status)


@post_action
def test_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Ask the worker for one small call through the connection."""
    endpoint = connection_for(request.user, slug, uid)
    payload = {"connection": str(endpoint.uuid)}
    job_queue.enqueue_once(JobKind.TEST_CONNECTION, endpoint.team, request.user, payload)
    return redirect("connection", slug, uid)


@post_action
def default_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Let scorers that name no connection use this one."""
    endpoint = connection_for(request.user, slug, uid)
    endpoint.make_default(by=request.user)
    messages.success(request, f"{endpoint.name} is the default connection now.")
    return redirect("connections", slug)


@form_page
def remove_connection(request: SignedInRequest, slug: str, uid: uuid.UUID) -> HttpResponse:
    """Show which scorers use the connection, then remove it."""
    endpoint = connection_for(request.user, slug, uid)
    if request.method == "POST":
        endpoint.remove(by=request.user)
        messages.success(request, f"Connection {endpoint.name} and its key are removed.")
        return redirect("connections", slug)
    context = {
        "team": endpoint.team,
        "connection": endpoint,
        "scorers": Scorer.objects.using_connection(endpoint),
    }
    return render_page(request, "connections/remove.html", context)


def _latest_test(connection: Connection) -> dict[str, Any]:
    """The latest test of the last day, and why it does not progress."""
    test = Job.objects.latest_connection_test(connection)
    return {"test": test, "cause": job_stall_reason(test) or None}
