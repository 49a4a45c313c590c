"""Django's admin: every model opens, and each change is audited with what goes with it."""

from __future__ import annotations

import pytest
from django.contrib.admin.sites import site
from django.test import Client, RequestFactory
from django.urls import reverse

from scoring import models as rows
from scoring.admin.base import AuditedAdmin
from scoring.models import AuditEntry, SuiteEntry, Team, User
from tests.admin.conftest import change_url

OURS = sorted((m for m in site._registry if m._meta.app_label == "scoring"), key=str)


def test_every_model_is_registered() -> None:
    declared = {getattr(rows, name) for name in rows.__all__}
    models = {m for m in declared if hasattr(m, "_meta")}
    assert models == set(OURS)


@pytest.mark.long("every list of the admin is asked for twice")
def test_every_list_opens_and_searches(admin: Client, entry: SuiteEntry) -> None:
    found = {}
    for model in OURS:
        url = reverse(f"admin:scoring_{model._meta.model_name}_changelist")
        found[model] = {admin.get(url).status_code}
        if site._registry[model].search_fields:
            found[model].add(admin.get(url, {"q": "release"}).status_code)
    assert found == {model: {200} for model in OURS}


def test_only_staff_gets_in(client: Client, alice: User) -> None:
    client.force_login(alice)
    response = client.get(reverse("admin:index"))
    assert response.status_code == 302
    assert "login" in response["Location"]


def test_a_change_that_fails_leaves_neither_change_nor_entry(
    admin: Client, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = bob.memberships.get()
    before = AuditEntry.objects.count()
    monkeypatch.setattr("scoring.models.team.audit_entry.entry_hash", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        admin.post(change_url(member), {"role": "2"})
    member.refresh_from_db()
    assert (member.role, AuditEntry.objects.count()) == (rows.Role.VIEWER, before)


def test_what_goes_with_a_person_is_audited_in_its_team(
    admin: Client, team: Team, bob: User
) -> None:
    rows.Token.objects.issue(team, bob, "ci")
    admin.post(reverse("admin:scoring_user_delete", args=[bob.pk]), {"post": "yes"})
    gone = AuditEntry.objects.of(team).filter(action__endswith=".deleted")
    assert {entry.action for entry in gone} == {"member.deleted", "token.deleted"}
    assert "digest" not in str([entry.old for entry in gone])


#: Admins that write through a method of the row, which records the change itself.
RECORDED_BY_ROW = {rows.SuiteEntry: "threshold.changed", rows.Connection: "connection.removed"}


def test_whatever_an_admin_may_change_is_audited(rf: RequestFactory, root: User) -> None:
    request = rf.get("/")
    request.user = root
    for model in OURS:
        shown = site._registry[model]
        asked = (shown.has_add_permission, shown.has_change_permission, shown.has_delete_permission)
        writes = any(may(request) for may in asked)
        assert not writes or isinstance(shown, AuditedAdmin) or model in RECORDED_BY_ROW, model
        for inline in shown.get_inline_instances(request):
            assert isinstance(shown, AuditedAdmin), inline
        assert not shown.list_editable, model  # changed without a form of its own


@pytest.mark.parametrize(
    ("text", "is_found"), [("Ärger rate", True), ("RATE", True), ("är", False)]
)
def test_a_search_ignores_the_case_of_ascii_letters(
    admin: Client, team: Team, text: str, is_found: bool
) -> None:
    rows.Scorer.objects.define(team, "Ärger RATE", "exact_match", {})
    answer = admin.get(reverse("admin:scoring_scorer_changelist"), {"q": text})
    assert ("Ärger RATE" in answer.text) == is_found
