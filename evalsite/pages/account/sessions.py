"""Where a person is signed in, and ending it."""

from __future__ import annotations

from typing import Any

from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.models import AuditEntry, User

NO_ADDRESS = "0.0.0.0"  # noqa: S104  nothing listens there: the client's address is unknown


class Sessions(ListUserSessionsView):  # type: ignore[misc]  # allauth carries no types
    """The person's sessions; a POST ends all but this one, also those that are not listed."""

    request: SignedInRequest

    def get(self, request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        UserSession.objects.create_from_request(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        key = self.request.session.session_key
        rows = [(row, row.session_key == key) for row in reversed(context["sessions"])]
        return context | {"rows": rows, "no_address": NO_ADDRESS}

    def form_valid(self, form: Any) -> HttpResponse:  # noqa: ARG002
        person = self.request.user
        with transaction.atomic():
            person.end_sessions()
            AuditEntry.objects.record(None, person, "sessions.ended", person)
        update_session_auth_hash(self.request, User.objects.get(pk=person.pk))
        UserSession.objects.create_from_request(self.request)
        messages.success(self.request, "You are signed out everywhere else.")
        return redirect("usersessions_list")


@post_action
def end_session(request: SignedInRequest, pk: int) -> HttpResponse:
    """End one of the person's other sessions."""
    session = get_object_or_404(UserSession, user=request.user, pk=pk)
    with transaction.atomic():
        old = {"from": session.ip, "browser": session.user_agent}
        session.end()
        AuditEntry.objects.record(None, request.user, "session.ended", request.user, old=old)
    messages.success(request, "The session is ended.")
    return redirect("usersessions_list")
