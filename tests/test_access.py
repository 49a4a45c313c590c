"""Who gets at which object, and with which role: members, strangers and tokens."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from evalsite import access
from scoring.models import (
    Alert,
    AlertRule,
    Comment,
    Connection,
    Job,
    JobKind,
    Member,
    ModelCall,
    Output,
    OutputSet,
    OutputSetState,
    Review,
    ReviewVerdict,
    Role,
    Run,
    SavedView,
    Scorer,
    Suite,
    Team,
    Token,
    Upload,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs

ROLES = list(Role)


def member(team: Team, role: Role, token_role: Role | None = None) -> User:
    """A member of the team, signed in with a token where it has a role."""
    user = User.objects.create_user(f"{uuid.uuid4()}@example.org")
    Member.objects.create(team=team, user=user, role=role)
    if token_role:
        user.token, _ = Token.objects.issue(team, user, "a program", token_role)
    return user


@pytest.fixture
def run(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    outputs = make_outputs(make_dataset([{"key": "q1"}, {"key": "q2"}]), ["yes", "no"])
    return Run.objects.create(team=team, output_set=outputs, name="w46")


@pytest.fixture
def rows(team: Team, run: Run) -> dict[str, Any]:
    """One row of each kind that is got by its id."""
    dataset = run.output_set.version.dataset
    deleted = Run.objects.create(team=team, output_set=run.output_set, name="deleted")
    Run.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    rules = [
        AlertRule.objects.define(team, dataset, by=None, kind="no_data", limit=days).rule
        for days in (1, 2)
    ]
    rules[1].remove(by=None)
    return {
        "dataset": dataset,
        "output_set": run.output_set,
        "run": run,
        "deleted_run": deleted,
        "scorer": Scorer.objects.define(team, "same", "exact_match", {}),
        "suite": Suite.objects.define(team, "release", []),
        "alert_rule": rules[0],
        "deleted_alert_rule": rules[1],
        "alert": Alert.objects.create(rule=rules[0], sentence="It fell."),
        "upload": Upload.objects.create(team=team, stored_name="a", size_bytes=1),
        "connection": Connection.objects.define(team, "own", "https://api.example.org/v1", by=None),
        "job": Job.objects.create(team=team, kind=JobKind.TRY_SCORER),
    }


def get(user: User, kind: str, row: Any, *roles: Role) -> Any:
    if kind == "connection":
        return access.connection_for(user, "support", row.uuid)
    return getattr(access, f"{kind}_for")(user, row.uuid, *roles)


#: What each function asks for where no role is given, and whether it takes one.
NEEDED: dict[str, tuple[Role, bool]] = {
    "dataset": (Role.VIEWER, True),
    "output_set": (Role.VIEWER, False),
    "run": (Role.VIEWER, True),
    "deleted_run": (Role.EDITOR, False),
    "scorer": (Role.VIEWER, True),
    "suite": (Role.VIEWER, True),
    "alert_rule": (Role.ADMIN, True),
    "deleted_alert_rule": (Role.ADMIN, False),
    "alert": (Role.VIEWER, True),
    "upload": (Role.EDITOR, True),
    "connection": (Role.ADMIN, False),
}


def is_refused(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        function(*arguments)
    except PermissionDenied:
        return True
    return False


@pytest.mark.parametrize("through_token", [False, True], ids=["member", "token"])
def test_a_row_is_refused_below_the_role_it_needs(
    team: Team, rows: dict[str, Any], through_token: bool
) -> None:
    """The smaller role of member and token counts."""
    people = {
        role: member(team, Role.ADMIN, role) if through_token else member(team, role)
        for role in ROLES
    }
    for kind, (default, takes_role) in NEEDED.items():
        for needed in (None, *(ROLES if takes_role else [])):
            roles = [needed] if needed else []
            for held, user in people.items():
                wanted = held < (needed or default)
                refused = is_refused(get, user, kind, rows[kind], *roles)
                assert refused == wanted, (kind, needed, held)


@pytest.mark.parametrize("token_role", [Role.VIEWER, Role.ADMIN])
def test_a_token_gives_no_more_than_its_member_has(
    team: Team, rows: dict[str, Any], token_role: Role
) -> None:
    user = member(team, Role.VIEWER, token_role)
    assert access.permissions(user, team) == dict.fromkeys(
        ("may_review", "may_edit", "may_administer"), False
    )
    with pytest.raises(PermissionDenied, match="needs the role editor; yours is viewer"):
        access.run_for(user, rows["run"].uuid, Role.EDITOR)


def test_a_stranger_and_another_team_s_token_find_nothing(
    team: Team, rows: dict[str, Any], charlie: User
) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    visitor = member(team, Role.ADMIN)
    Member.objects.create(team=elsewhere, user=visitor, role=Role.ADMIN)
    visitor.token, _ = Token.objects.issue(elsewhere, visitor, "a program", Role.ADMIN)
    for user in (charlie, visitor):
        for kind, row in rows.items():
            with pytest.raises(Http404):
                get(user, kind, row, *([Role.VIEWER] if kind == "job" else []))
        with pytest.raises(Http404):
            access.team_for(user, "support")
        with pytest.raises(Http404):
            access.version_for(user, rows["dataset"].uuid, 1)
        with pytest.raises(Http404):
            access.output_for(user, rows["run"].uuid, 1)
        assert not access.has_role(user, team, Role.VIEWER)
        assert not any(access.permissions(user, team).values())
    assert access.team_for(visitor, "elsewhere") == elsewhere


def test_a_role_in_another_team_does_not_count_here(team: Team, run: Run, charlie: User) -> None:
    Member.objects.create(team=team, user=charlie, role=Role.VIEWER)
    member(team, Role.ADMIN)  # nor does anybody else's
    assert access.run_access_for(charlie, run.uuid).role == Role.VIEWER
    assert not access.has_role(charlie, team, Role.REVIEWER)
    assert is_refused(access.run_for, charlie, run.uuid, Role.REVIEWER)
    assert is_refused(access.team_for, charlie, "support", Role.REVIEWER)


@pytest.mark.parametrize("role", ROLES)
def test_permissions_follow_the_role(team: Team, run: Run, role: Role) -> None:
    user = member(team, role)
    wanted = {
        "may_review": role >= Role.REVIEWER,
        "may_edit": role >= Role.EDITOR,
        "may_administer": role == Role.ADMIN,
    }
    assert access.permissions(user, team) == wanted
    assert access.team_access_for(user, "support").permissions == wanted
    assert access.run_access_for(user, run.uuid).permissions == wanted
    narrowed = member(team, Role.ADMIN, role)
    assert access.run_access_for(narrowed, run.uuid).permissions == wanted
    assert [access.has_role(narrowed, team, other) for other in ROLES] == [
        other <= role for other in ROLES
    ]


def test_output_sets_and_versions_are_found_once_they_are_whole(
    alice: User, run: Run, rows: dict[str, Any]
) -> None:
    assert access.version_for(alice, rows["dataset"].uuid, 1) == run.output_set.version
    OutputSet.objects.update(state=OutputSetState.LOADING)
    with pytest.raises(Http404):
        access.output_set_for(alice, run.output_set.uuid)


def test_runs_to_compare_are_the_team_s_in_the_order_asked_for(
    team: Team, alice: User, run: Run
) -> None:
    other = Run.objects.create(team=team, output_set=run.output_set, name="w47")
    assert access.runs_for(alice, team, [other.uuid, run.uuid]) == [other, run]
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.ADMIN)
    theirs = Run.objects.create(team=elsewhere, output_set=run.output_set, name="theirs")
    with pytest.raises(Http404):
        access.runs_for(alice, team, [run.uuid, theirs.uuid])
    Run.objects.filter(pk__in=[other.pk, theirs.pk]).update(deleted_at=timezone.now())
    assert list(access.deleted_runs_for(team)) == [other]


def test_a_run_beside_another_is_over_the_same_dataset(
    alice: User, run: Run, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    opened = access.run_access_for(alice, run.uuid)
    newer = make_outputs(make_dataset([{"key": "q1"}]), ["yes"])
    beside = Run.objects.create(team=run.team, output_set=newer, name="w47")
    found = access.paired_run_for(opened, beside.uuid)
    assert (found, found.team, found.output_set.version) == (beside, run.team, newer.version)
    elsewhere = make_outputs(make_dataset([{"key": "q1"}], "Others"), ["yes"])
    other = Run.objects.create(team=run.team, output_set=elsewhere, name="w48")
    for uid in (other.uuid, uuid.uuid4()):
        with pytest.raises(Http404):
            access.paired_run_for(opened, uid)


def test_an_output_is_that_of_its_run(
    team: Team, alice: User, run: Run, make_outputs: MakeOutputs
) -> None:
    others = make_outputs(run.output_set.version, ["other", "other"])
    other = Run.objects.create(team=team, output_set=others, name="w47")
    for each, texts in ((run, ["yes", "no"]), (other, ["other", "other"])):
        found = [access.output_for(alice, each.uuid, position).output.text for position in (1, 2)]
        assert found == texts
        by_key = [access.output_of_case(each, key, 0).text for key in ("q1", "q2")]
        assert by_key == texts
    with pytest.raises(Http404):
        access.output_for(alice, run.uuid, 1, trial=1)
    with pytest.raises(Http404):
        access.output_of_case(run, "q3", 0)


@pytest.mark.parametrize("token_role", [None, Role.VIEWER])
def test_who_reviews_is_blind_until_their_own_review(
    team: Team, run: Run, bob: User, token_role: Role | None
) -> None:
    """A reviewer's token with a smaller role does not open the eyes of its owner."""
    output = Output.objects.filter(output_set=run.output_set)[0]
    reviewer, first = member(team, Role.REVIEWER, token_role), member(team, Role.REVIEWER)
    review = Review.objects.record(run, output, ReviewVerdict.PASS, by=first)

    def seen(user: User) -> list[Review] | None:
        reviews = access.reviews_for(access.output_for(user, run.uuid, 1))
        listed = access.reviews_of_run(access.run_access_for(user, run.uuid)).order_by("pk")
        assert list(listed) == (reviews or [])
        return reviews

    assert seen(bob) == [review]
    assert seen(first) == [review]
    assert seen(reviewer) is None
    own = Review.objects.record(run, output, ReviewVerdict.FAIL, by=reviewer)
    assert seen(reviewer) == [review, own]


def test_comments_are_edited_by_authors_and_deleted_by_admins_too(team: Team, run: Run) -> None:
    output = Output.objects.filter(output_set=run.output_set)[0]
    author, editor, admin = (member(team, role) for role in (Role.VIEWER, Role.EDITOR, Role.ADMIN))
    narrowed = member(team, Role.ADMIN, Role.EDITOR)
    comment = Comment.objects.add(run, output, "Why?", by=author)
    for user, may_delete in ((author, True), (admin, True), (editor, False), (narrowed, False)):
        opened = access.output_for(user, run.uuid, 1)
        assert access.can_delete(opened, comment) == may_delete
        assert is_refused(access.comment_for, opened, comment.uuid) != may_delete
        is_author = user == author
        assert is_refused(access.own_comment_for, opened, comment.uuid) != is_author
    opened = access.output_for(author, run.uuid, 1)
    with pytest.raises(Http404):
        access.comment_for(opened, comment.uuid, is_deleted=True)
    comment.remove(run, by=author)
    assert access.comment_for(opened, comment.uuid, is_deleted=True) == comment
    with pytest.raises(Http404):
        access.comment_for(opened, comment.uuid)


def test_a_comment_on_another_output_is_not_found(alice: User, run: Run) -> None:
    first, second = Output.objects.filter(output_set=run.output_set).order_by("case__position")
    comment = Comment.objects.add(run, second, "Why?", by=alice)
    opened = access.output_for(alice, run.uuid, 1)
    assert opened.output == first
    for function in (access.comment_for, access.own_comment_for):
        with pytest.raises(Http404):
            function(opened, comment.uuid)


def test_shared_views_are_for_editors_to_remove_and_own_ones_for_anybody(
    team: Team, run: Run, alice: User, bob: User
) -> None:
    shared = SavedView.objects.keep(team, "ours", "", by=alice, is_shared=True)
    own = SavedView.objects.keep(team, "mine", "", by=bob, is_shared=False)
    assert access.saved_view_for(bob, run, own.uuid) == own
    assert is_refused(access.saved_view_for, bob, run, shared.uuid)
    assert access.saved_view_for(alice, run, shared.uuid) == shared
    with pytest.raises(Http404):
        access.saved_view_for(alice, run, own.uuid)
    Member.objects.filter(user=alice).delete()
    with pytest.raises(Http404):
        access.saved_view_for(alice, run, shared.uuid)


def test_a_connection_is_found_in_its_own_team_alone(
    alice: User, rows: dict[str, Any], charlie: User
) -> None:
    elsewhere = Team.objects.get(slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.ADMIN)
    with pytest.raises(Http404):
        access.connection_for(alice, "elsewhere", rows["connection"].uuid)


def test_replies_are_the_team_s(team: Team, run: Run) -> None:
    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    own, theirs = (
        ModelCall.objects.create(team=each, purpose="judge") for each in (team, elsewhere)
    )
    refs = [str(own.pk), str(theirs.pk), "x", "²", "9" * 19, ""]
    assert access.replies_for(run, refs) == {str(own.pk): own}
    assert access.replies_for(run, []) == {}
