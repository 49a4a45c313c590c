"""A thread of comments: where a deleted one was, and who may do what to which."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from scoring.models import AuditEntry, Comment, Member, Role, Run, Team, User
from tests.pages.cases.feedback.test_comments import (
    HX,
    BrowserOf,
    case_url,
    comment,
    output,
    post,
    shown,
)
from tests.support.undone import undone

__all__ = ["comment", "output"]


def test_a_deleted_comment_is_brought_back_from_its_place(
    ritas: Client, comment: Comment, run: Run
) -> None:
    post(ritas, "add", run, text="Second")
    answer = post(ritas, "delete", run, comment, **HX)
    assert shown(answer.text) == ["Second"]
    place = answer.text.index("The comment is deleted.")
    assert place < answer.text.index("Second")
    assert shown(ritas.get(case_url(run)).text) == ["Second"]
    back = post(ritas, "restore", run, comment, **HX)
    assert shown(back.text) == ["Is this right?", "Second"]
    assert post(ritas, "restore", run, comment).status_code == 404
    actions = [entry.action for entry in AuditEntry.objects.all()[:2]]
    assert actions == ["comment.restored", "comment.deleted"]


def test_without_a_script_the_page_offers_the_way_back(
    ritas: Client, browser_of: BrowserOf, bob: User, comment: Comment, run: Run
) -> None:
    answer = post(ritas, "delete", run, comment)
    address = case_url(run, f"?verdict=fail&undo={comment.uuid}#comments")
    assert answer["Location"] == address
    page = ritas.get(address.partition("#")[0]).text
    assert "The comment is deleted." in page
    assert not re.findall(r'(?:action|rel="next")[^>]*undo=', page)  # nothing leads back to this
    assert "The comment is deleted." not in browser_of(bob).get(address.partition("#")[0]).text
    for strange in ("nothing", "", str(run.uuid)):
        again = ritas.get(case_url(run, f"?undo={strange}")).text
        assert "The comment is deleted." not in again


def test_who_may_do_what_to_anothers_comment(
    browser_of: BrowserOf, team: Team, comment: Comment, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Role, str, int]] = [
        (Role.VIEWER, "add", 403),
        (Role.VIEWER, "edit", 403),
        (Role.VIEWER, "delete", 403),
        (Role.REVIEWER, "add", 302),
        (Role.REVIEWER, "edit", 403),
        (Role.REVIEWER, "delete", 403),
        (Role.EDITOR, "edit", 403),
        (Role.EDITOR, "delete", 403),
        (Role.ADMIN, "edit", 403),
        (Role.ADMIN, "delete", 302),
    ]
    for role, verb, status in cases:
        with subtests.test(role=role, verb=verb, status=status), undone():
            user = User.objects.create_user("rosa@example.org")
            Member.objects.create(team=team, user=user, role=role)
            browser = browser_of(user)
            page = browser.get(case_url(run)).text.partition('id="comments"')[2]
            named = None if verb == "add" else comment
            assert ("Delete" in page, "Edit" in page) == (role == Role.ADMIN, False)
            assert ("Add the comment" in page) == (role > Role.VIEWER)
            assert post(browser, verb, run, named, "words").status_code == status
