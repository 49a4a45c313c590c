"""Django's admin: every model opens, only thresholds with a reason change a suite."""

from __future__ import annotations

import pytest
from django.contrib.admin.sites import site
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring import models as rows
from scoring.models import AuditEntry, Scorer, Suite, SuiteEntry, Team, User
from scoring.models.audit import AppendOnlyError
from tests.conftest import PASSWORD, MakeDataset, MakeOutputs

OURS = sorted((m for m in site._registry if m._meta.app_label == "scoring"), key=str)


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root@example.org", PASSWORD)


@pytest.fixture
def admin(root: User) -> Client:
    client = Client()
    client.force_login(root)
    return client


@pytest.fixture
def entry(team: Team) -> SuiteEntry:
    scorer = Scorer.objects.define(team, "close enough", "levenshtein", {})
    Suite.objects.define(team, "release", [(scorer, None)])
    return SuiteEntry.objects.get()


def change_url(row: rows.SuiteEntry | Team | User) -> str:
    return reverse(f"admin:scoring_{row._meta.model_name}_change", args=[row.pk])


def test_every_model_is_registered() -> None:
    declared = {getattr(rows, name) for name in rows.__all__}
    models = {m for m in declared if hasattr(m, "_meta")}
    assert models == set(OURS)


@pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.model_name)
def test_every_list_opens_and_searches(admin: Client, entry: SuiteEntry, model: type) -> None:
    url = reverse(f"admin:scoring_{model._meta.model_name}_changelist")
    assert admin.get(url).status_code == 200
    assert admin.get(url, {"q": "release"}).status_code == 200


def test_a_run_is_listed_and_found_with_its_dataset(
    admin: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    for name in ("Invoices", "Greetings"):
        outputs = make_outputs(make_dataset([{"input": "x"}], name=name), ["x"])
        rows.Run.objects.create(team=outputs.version.dataset.team, output_set=outputs, name="w46")
    url = reverse("admin:scoring_run_changelist")
    with CaptureQueriesContext(connection) as captured:
        both = admin.get(url, {"o": "2"}).text
    assert both.index(">Greetings<") < both.index(">Invoices<")
    assert not [query for query in captured if 'FROM "scoring_dataset" WHERE' in query["sql"]]
    found = admin.get(url, {"q": "Invoices"}).text
    assert ">Invoices<" in found
    assert ">Greetings<" not in found


@pytest.mark.parametrize("kind", ["score", "case", "output", "run", "auditentry", "shard"])
def test_what_the_site_wrote_cannot_be_added_by_hand(admin: Client, kind: str) -> None:
    assert admin.get(reverse(f"admin:scoring_{kind}_add")).status_code == 403


def test_only_staff_gets_in(client: Client, alice: User) -> None:
    client.force_login(alice)
    response = client.get(reverse("admin:index"))
    assert response.status_code == 302
    assert "login" in response["Location"]


def post_threshold(admin: Client, entry: SuiteEntry, threshold: str, reason: str) -> int:
    form = {"threshold": threshold, "reason": reason}
    return admin.post(change_url(entry), form).status_code


def test_a_threshold_changes_with_a_reason(admin: Client, root: User, entry: SuiteEntry) -> None:
    assert post_threshold(admin, entry, "0.8", "Reviewers were stricter.") == 302

    entry.refresh_from_db()
    entry.suite.refresh_from_db()
    change = entry.suite.threshold_changes.get()
    assert (entry.threshold, entry.suite.revision) == (0.8, 2)
    assert (change.old, change.new, change.changed_by) == (0.7, 0.8, root)
    assert change.reason == "Reviewers were stricter."


def test_a_threshold_change_is_audited(admin: Client, root: User, entry: SuiteEntry) -> None:
    post_threshold(admin, entry, "0.8", "Reviewers were stricter.")
    audited = AuditEntry.objects.get(action="threshold.changed")
    assert (audited.actor, audited.team) == (root, entry.suite.team)
    assert audited.old == {"threshold": 0.7}
    assert audited.new == {"threshold": 0.8, "reason": "Reviewers were stricter."}


@pytest.mark.parametrize(
    ("threshold", "reason"),
    [
        ("0.8", ""),
        ("0.8", "   "),
        ("0.7", "No change at all."),
        ("1.01", "Too high."),
        ("-0.1", "Too low."),
        ("nan", "Not a number."),
        ("inf", "Not finite."),
        ("", "Nothing."),
    ],
)
def test_a_bad_threshold_change_changes_nothing(
    admin: Client, entry: SuiteEntry, threshold: str, reason: str
) -> None:
    assert post_threshold(admin, entry, threshold, reason) == 200
    entry.refresh_from_db()
    assert entry.threshold == 0.7
    assert not entry.suite.threshold_changes.exists()
    assert not AuditEntry.objects.filter(action="threshold.changed").exists()


def test_thresholds_are_listed_suite_by_suite(admin: Client, team: Team, entry: SuiteEntry) -> None:
    second = Scorer.objects.define(team, "same text", "exact_match", {})
    for name in ("nightly", "before release"):
        Suite.objects.define(team, name, [(second, None), (entry.scorer, None)])
    listed = admin.get(reverse("admin:scoring_suiteentry_changelist")).context["cl"].result_list
    assert [(row.suite.name, row.scorer.name) for row in listed] == [
        ("before release", "same text"),
        ("before release", "close enough"),
        ("nightly", "same text"),
        ("nightly", "close enough"),
        ("release", "close enough"),
    ]


def test_the_threshold_page_shows_earlier_changes(admin: Client, entry: SuiteEntry) -> None:
    entry.change_threshold(0.9, by=None, reason="Stricter before the release.")
    assert b"Stricter before the release." in admin.get(change_url(entry)).content


def test_a_changed_team_is_audited_with_old_and_new(admin: Client, team: Team) -> None:
    members = {f"members-{name}": "0" for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    form = {"name": "Helpdesk", "slug": "support"}
    assert admin.post(change_url(team), form | members).status_code == 302
    audited = AuditEntry.objects.get(action="team.changed")
    assert (audited.old, audited.new) == ({"name": "Support"}, {"name": "Helpdesk"})


def test_a_person_can_be_added(admin: Client) -> None:
    form = {
        "email": "dana@example.org",
        "name": "Dana",
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
    }
    assert admin.post(reverse("admin:scoring_user_add"), form).status_code == 302
    assert User.objects.get(email="dana@example.org").check_password(PASSWORD)
    assert "password" not in str(AuditEntry.objects.get(action="user.created").new)


def test_a_deleted_person_is_audited(admin: Client, bob: User) -> None:
    url = reverse("admin:scoring_user_delete", args=[bob.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 302
    assert AuditEntry.objects.get(action="user.deleted").target_name == "bob@example.org"


def test_an_audit_entry_is_never_changed_or_deleted(team: Team) -> None:
    kept = AuditEntry.objects.record(team, None, "team.created", team)
    with pytest.raises(AppendOnlyError):
        kept.save()
    with pytest.raises(AppendOnlyError):
        kept.delete()
