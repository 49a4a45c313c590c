"""The audit log of a team: read, searched and exported."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from django import forms
from django.http import HttpResponse, HttpResponseBase

from evalsite.access import team_access_for, team_for
from evalsite.blind_review import HiddenAuditValues
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.exports import send_export
from evalsite.pages.web.keyset import keyset_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.export import audit_table
from scoring.models import AuditEntry, Role, Team
from scoring.models.team.audit_entry import AuditQuerySet

MAX_TEXT: Final = 200
MAX_VALUE: Final = 120  # characters of a value in the table; the export has all of it


class AuditFilterForm(forms.Form):
    """Who did what to which object, and when. An invalid filter matches nothing."""

    who = forms.CharField(max_length=MAX_TEXT, required=False)
    action = forms.CharField(max_length=MAX_TEXT, required=False)
    target = forms.CharField(label="Object", max_length=MAX_TEXT, required=False)
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def entries(self, team: Team, *, by_name: bool) -> AuditQuerySet:
        """The team's entries that pass; both days are included, in UTC.

        `by_name` says whether objects are looked for by names, which may tell what is hidden.
        """
        entries = AuditEntry.objects.of(team)
        if not self.is_valid():
            return entries.none()
        chosen = self.cleaned_data
        if since := chosen["since"]:
            entries = entries.filter(at__gte=_midnight(since))
        if until := chosen["until"]:
            entries = entries.filter(at__lt=_midnight(until) + timedelta(days=1))
        texts = (chosen["who"], chosen["action"], chosen["target"])
        return entries.matching(*texts, by_name=by_name)

    @property
    def is_on(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


class Change(NamedTuple):
    """A value before and after; "" for none."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class AuditRow:
    """An entry with its values in words; none where they are hidden."""

    entry: AuditEntry
    is_hidden: bool

    @property
    def changes(self) -> list[Change]:
        old, new = self.entry.old, self.entry.new
        names = () if self.is_hidden else {**old, **new}
        return [Change(name, _shown(old, name), _shown(new, name)) for name in names]


@get_page
def audit(request: SignedInRequest, slug: str) -> HttpResponse:
    """The entries, the newest first."""
    opened = team_access_for(request.user, slug, Role.ADMIN)
    form = AuditFilterForm(request.GET)
    is_hidden = HiddenAuditValues(request.user, opened.team)
    entries = form.entries(opened.team, by_name=not is_hidden.hides_any)
    page = keyset_page(entries, "-number", request.GET)
    query = request.GET.copy()
    for cursor in ("after", "before"):
        query.pop(cursor, None)
    context = {
        "team": opened.team,
        "tab": "audit",
        **opened.permissions,
        "form": form,
        "page": page,
        "rows": [AuditRow(entry, is_hidden(entry)) for entry in page.rows],
        "query": query.urlencode(),
    }
    return render_page(request, "team/audit.html", context, parts=["audit_list"])


@get_page
def export_audit(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The entries that pass the filter as a file, the oldest first."""
    team = team_for(request.user, slug, Role.ADMIN)
    is_hidden = HiddenAuditValues(request.user, team)
    entries = AuditFilterForm(request.GET).entries(team, by_name=not is_hidden.hides_any)
    return send_export(request, audit_table(team, entries, is_hidden))


def _midnight(day: Any) -> datetime:
    return datetime.combine(day, time(), UTC)


def _shown(values: dict[str, Any], name: str) -> str:
    """A value in one line, cut where it is long; "" for one that is not there."""
    if name not in values:
        return ""
    value = values[name]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
