"""How long a team keeps what it has stored, and what other rules would remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from evalsite.access import team_access_for
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.retention import policies
from scoring.engine.retention.preview import preview_retention
from scoring.models import RetentionPolicy, Role
from scoring.models.data.dataset import RETENTION


class RetentionForm(forms.ModelForm[RetentionPolicy]):
    """The days of every rule; none where a kind of thing is kept."""

    class Meta:
        model = RetentionPolicy
        fields = RetentionPolicy.RULES
        labels: ClassVar = {
            "runs_days": "Runs, days",
            "texts_days": "Texts of outputs, days",
            "replies_days": "Replies of models, days",
            "audit_days": "Audit log, days",
        }

    @property
    def days(self) -> dict[str, int | None]:
        return {name: self.cleaned_data[name] for name in RetentionPolicy.RULES}


@form_page
def retention(request: SignedInRequest, slug: str) -> HttpResponse:
    """The rules; with other days in the query or the body, what these would remove."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    policy = policies.policy_of(opened.team)
    stored, due_at = policy.days, policy.due_at
    form = RetentionForm(_days_of(request, stored), instance=policy)
    context = {
        "team": opened.team,
        "tab": "retention",
        **opened.permissions,
        "form": form,
        "restorable": RETENTION,
    }
    if form.is_valid():
        if request.method == "POST":
            saved = policies.change_policy(opened.team, form.days, request.user)
            messages.success(request, _what_follows(saved))
            return redirect("retention", slug)
        is_changed = form.days != stored
        at = timezone.now() + policies.PERIOD if is_changed or due_at is None else due_at
        preview = preview_retention(opened.team, form.days, at)
        context |= {"preview": preview, "at": at, "is_changed": is_changed}
    status = 422 if form.errors else 200
    parts = ["retention_preview"]
    return render_page(request, "team/retention.html", context, parts=parts, status=status)


def _days_of(request: SignedInRequest, stored: Mapping[str, int | None]) -> Mapping[str, Any]:
    """The days to look at: those that are sent, else those in force."""
    if request.method == "POST":
        return request.POST
    return request.GET if any(name in request.GET for name in stored) else stored


def _what_follows(policy: RetentionPolicy) -> str:
    if policy.due_at is None:
        return "Rules saved: everything is kept."
    return f"Rules saved. Nothing is removed before {policy.due_at:%-d %b %Y, %H:%M} UTC."
