"""A notice to whom a note or a comment mentions, and to nobody else."""

from __future__ import annotations

import pytest

from scoring.engine.review.feedback import add_comment, edit_comment, give_review
from scoring.engine.review.mentions import mentioned_members
from scoring.models import Notice, Output, ReviewVerdict, Run, Team, User
from tests.engine.review.conftest import member

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("@rita look", ["rita"]),
        ("(@rita@example.org)", ["rita"]),
        ("@RITA, @sam: and @rita again.", ["rita", "sam"]),
        ("write to rita@example.org", []),
        ("a@rita", []),
        ("@rit @ritas @rita@example.com @", []),
        ("@stranger@example.org", []),
    ],
)
def test_whom_a_text_mentions(
    run: Run, rita: User, sam: User, text: str, mentioned: list[str]
) -> None:
    User.objects.create_user("stranger@example.org")
    found = [user.email.partition("@")[0] for user in mentioned_members(text, run)]
    assert found == mentioned
    assert {rita.email, sam.email} >= {user.email for user in mentioned_members(text, run)}


def test_a_name_of_two_members_mentions_neither(run: Run, team: Team, rita: User) -> None:
    other = member(team, "rita@example.com")
    assert mentioned_members("@rita", run) == []
    assert mentioned_members("@rita@example.com", run) == [other]
    assert mentioned_members("@rita@example.org", run) == [rita]


def test_notes_and_comments_leave_one_notice_each(run: Run, rita: User, sam: User) -> None:
    output = Output.objects.select_related("case").get(case__position=2)
    give_review(run, output, ReviewVerdict.FAIL, by=rita, note="@sam and @rita")
    give_review(run, output, ReviewVerdict.FAIL, by=rita, note="@sam, still")
    notice = Notice.objects.get()
    assert notice.user == sam
    assert notice.text == f"rita@example.org mentioned you on {output.case.key} of w46."
    assert notice.path == f"/runs/{run.uuid}/cases/2/"
    comment = add_comment(run, output, "hello", by=sam)
    edit_comment(run, comment, "hello @rita", by=sam)
    assert Notice.objects.filter(user=rita).count() == 1
