"""People, teams and thresholds are changed in Django's admin, and the audit log tells by whom."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import (
    AuditEntry,
    FailureTag,
    Invitation,
    JoinLink,
    Member,
    ReviewQueue,
    Role,
    Scorer,
    Suite,
    SuiteEntry,
    Team,
    User,
)
from tests.admin.conftest import change_url
from tests.conftest import PASSWORD, MakeDataset, MakeOutputs
from tests.support.concurrency import locked_tables
from tests.support.run_states import queued_run
from tests.support.undone import undone


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


def test_a_bad_threshold_change_changes_nothing(
    admin: Client, entry: SuiteEntry, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("0.8", ""),
        ("0.8", "   "),
        ("0.7", "No change at all."),
        ("1.01", "Too high."),
        ("-0.1", "Too low."),
        ("nan", "Not a number."),
        ("inf", "Not finite."),
        ("", "Nothing."),
    ]
    for threshold, reason in cases:
        with subtests.test(threshold=threshold, reason=reason), undone():
            assert post_threshold(admin, entry, threshold, reason) == 200
            entry.refresh_from_db()
            assert entry.threshold == 0.7
            assert not entry.suite.threshold_changes.exists()
            assert not AuditEntry.objects.filter(action="threshold.changed").exists()


def test_another_threshold_than_the_page_showed_is_not_replaced(
    admin: Client, entry: SuiteEntry
) -> None:
    assert 'name="seen" value="0.7"' in admin.get(change_url(entry)).text
    entry.change_threshold(0.9, by=None, reason="Stricter before the release.")
    form = {"threshold": "0.8", "reason": "Reviewers were stricter.", "seen": "0.7"}
    answer = admin.post(change_url(entry), form)
    assert "set the threshold of close enough to 0.9 in the meantime" in answer.text
    assert 'name="seen" value="0.9"' in answer.text
    entry.refresh_from_db()
    assert entry.threshold == 0.9
    assert admin.post(change_url(entry), form | {"seen": "0.9"}).status_code == 302


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


def test_the_old_values_are_of_a_locked_row(
    admin: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = {f"members-{name}": "0" for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    form = {"name": "Helpdesk", "slug": "support"} | members
    assert "scoring_team" in locked_tables(monkeypatch, lambda: admin.post(change_url(team), form))


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
    assert "password" not in str(AuditEntry.objects.filter(action="user.created")[0].new)


def test_a_deleted_person_is_audited(admin: Client, bob: User) -> None:
    url = reverse("admin:scoring_user_delete", args=[bob.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 302
    assert AuditEntry.objects.get(action="user.deleted").target_name == "bob@example.org"


def member_of(user: User) -> Member:
    return Member.objects.get(user=user)


def test_a_role_changes_as_on_the_teams_own_page(admin: Client, root: User, bob: User) -> None:
    assert admin.post(change_url(member_of(bob)), {"role": "3"}).status_code == 302
    assert member_of(bob).role == Role.EDITOR
    entry = AuditEntry.objects.get(action="member.role_changed")
    assert (entry.action, entry.actor, entry.old, entry.new) == (
        "member.role_changed",
        root,
        {"role": "viewer"},
        {"role": "editor"},
    )


def test_the_last_admin_keeps_the_role_and_the_team(admin: Client, alice: User, bob: User) -> None:
    member = member_of(alice)
    answer = admin.post(change_url(member), {"role": "1"})
    assert "A team needs an admin." in answer.text
    url = reverse("admin:scoring_member_delete", args=[member.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 403
    assert member_of(alice).role == Role.ADMIN


def test_a_removed_member_is_signed_out(admin: Client, alice: User, bob: User) -> None:
    viewer = Client()
    viewer.login(email=bob.email, password=PASSWORD)
    url = reverse("admin:scoring_member_delete", args=[member_of(bob).pk])
    assert admin.post(url, {"post": "yes"}).status_code == 302
    assert "/accounts/login/" in viewer.get("/").headers["Location"]


def test_a_team_is_deleted_with_its_invitations(admin: Client, root: User) -> None:
    empty = Team.objects.create(name="Empty", slug="empty")
    Invitation.objects.create(team=empty, email="new@example.org", created_by=root)
    JoinLink.objects.create(team=empty, domain="example.org")
    url = reverse("admin:scoring_team_delete", args=[empty.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 302
    assert not Team.objects.filter(pk=empty.pk).exists()


def test_a_password_that_an_administrator_sets_is_audited(
    admin: Client, root: User, bob: User
) -> None:
    url = reverse("admin:auth_user_password_change", args=[bob.pk])
    new = {"password1": "an entirely new one 7", "password2": "an entirely new one 7"}
    refused = admin.post(url, {**new, "usable_password": "true", "password2": "x"})
    assert refused.status_code == 200
    assert not AuditEntry.objects.filter(action="password.changed").exists()
    assert admin.post(url, {**new, "usable_password": "true"}).status_code == 302
    bob.refresh_from_db()
    assert bob.check_password(new["password1"])
    entry = AuditEntry.objects.get(action="password.changed")
    assert (entry.actor_id, entry.target_name) == (str(root.pk), "bob@example.org")
    assert new["password1"] not in str(vars(entry))
    assert bob.password not in str(vars(entry))


def test_rights_given_and_taken_are_audited(admin: Client, bob: User) -> None:
    sent = {"email": bob.email, "name": "", "is_staff": "on", "is_superuser": "on"}
    assert admin.post(change_url(bob), sent).status_code == 302
    entry = AuditEntry.objects.get(action="user.changed")
    assert entry.old == {"is_active": True, "is_staff": False, "is_superuser": False}
    assert entry.new == {"is_active": False, "is_staff": True, "is_superuser": True}


def test_people_deleted_together_are_audited_each(admin: Client, alice: User, bob: User) -> None:
    sent = {"action": "delete_selected", "_selected_action": [alice.pk, bob.pk], "post": "yes"}
    admin.post(reverse("admin:scoring_user_changelist"), sent)
    assert AuditEntry.objects.filter(action="user.deleted").count() == 2


def test_a_deleted_team_keeps_its_log(admin: Client, team: Team, alice: User) -> None:
    admin.post(reverse("admin:scoring_team_delete", args=[team.pk]), {"post": "yes"})
    assert not Team.objects.filter(pk=team.pk).exists()
    log = AuditEntry.objects.filter(team_id=str(team.uuid)).order_by("number")
    assert [entry.action for entry in log] == ["member.deleted", "team.deleted"]
    assert {entry.team_name for entry in log} == {"Support"}


def test_failure_tags_are_added_changed_and_deleted(admin: Client, root: User, team: Team) -> None:
    add = reverse("admin:scoring_failuretag_add")
    sent = {"team": str(team.pk), "name": "tone", "help_text": ""}
    assert admin.post(add, sent).status_code == 302
    assert admin.post(add, sent | {"name": "TONE"}).status_code == 200  # the team has it
    tag = FailureTag.objects.get()
    change = reverse("admin:scoring_failuretag_change", args=[tag.pk])
    assert admin.post(change, {"name": "Tone", "help_text": "Too rude."}).status_code == 302
    tag.refresh_from_db()
    assert (tag.name, tag.help_text, tag.team) == ("Tone", "Too rude.", team)
    delete = reverse("admin:scoring_failuretag_delete", args=[tag.pk])
    assert admin.post(delete, {"post": "yes"}).status_code == 302
    assert not FailureTag.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="failuretag.", team_name=team.name)
    assert sorted(actions.values_list("action", flat=True)) == [
        "failuretag.changed",
        "failuretag.created",
        "failuretag.deleted",
    ]


def test_a_review_queue_gets_another_name_and_day(
    admin: Client, team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    run = queued_run(make_outputs(make_dataset([{}]), ["a"]))
    queue = ReviewQueue.objects.create(team=team, run=run, name="w46", case_count=1)
    change = reverse("admin:scoring_reviewqueue_change", args=[queue.pk])
    sent = {"name": "w47", "due_on": "2026-12-01", "order": "random", "case_count": "9"}
    assert admin.post(change, sent).status_code == 302
    queue.refresh_from_db()
    assert (queue.name, str(queue.due_on)) == ("w47", "2026-12-01")
    assert (queue.order, queue.case_count) == ("value", 1)
    audited = AuditEntry.objects.get(action="reviewqueue.changed")
    assert audited.new == {"name": "w47", "due_on": "2026-12-01"}
    assert admin.post(change, {"name": "", "due_on": ""}).status_code == 200
    assert admin.get(reverse("admin:scoring_reviewqueue_add")).status_code == 403
