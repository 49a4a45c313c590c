"""The pages behind an invitation and a join link, for whoever opens them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import Invitation, JoinLink, Member, OutgoingMail, Role, Team, User
from scoring.models.team.attempt_counter import MAX_MAILS, MAX_PER_ACCOUNT
from tests.conftest import PASSWORD
from tests.pages.account.steps import send_waiting_mail

BrowserOf = Callable[[User], Client]
TYPED = {"name": "Nora", "password": PASSWORD, "password_again": PASSWORD}


@pytest.fixture
def invitation(team: Team, alice: User) -> Invitation:
    return Invitation.objects.create(
        team=team, email="nora@example.org", role=Role.REVIEWER, created_by=alice
    )


@pytest.fixture
def link(invitation: Invitation) -> str:
    return reverse("invitation", args=[invitation.key])


def test_a_newcomer_gets_an_account_and_is_in(client: Client, link: str, team: Team) -> None:
    page = client.get(link).text
    assert "alice@example.org invites you with the role reviewer." in page
    answer = client.post(link, TYPED, follow=True)
    assert answer.redirect_chain == [(f"/teams/{team.slug}/", 302)]
    member = Member.objects.get(user__email="nora@example.org")
    assert (member.user.name, member.role) == ("Nora", Role.REVIEWER)
    assert member.user.is_superuser is member.user.is_staff is False


def test_it_works_once(client: Client, link: str) -> None:
    client.post(link, TYPED)
    for answer in (Client().get(link), Client().post(link, TYPED)):
        assert answer.status_code == 410
        assert "accepted already" in answer.text
    assert User.objects.filter(email="nora@example.org").count() == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"password": "12345678901"}, "password"),
        ({"password": "nora@example.org", "password_again": "nora@example.org"}, "password"),
        ({"password_again": "another phrase"}, "password_again"),
        ({"name": "two\nlines"}, "name"),
    ],
)
def test_what_cannot_be_used_comes_back(
    client: Client, link: str, change: dict[str, str], field: str
) -> None:
    answer = client.post(link, TYPED | change)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not User.objects.filter(email="nora@example.org").exists()


def test_whoever_has_an_account_signs_in_first(client: Client, link: str, team: Team) -> None:
    User.objects.create_user("nora@example.org", PASSWORD)
    page = client.get(link).text
    assert "password" not in page.lower().replace("password/reset", "")
    (path,) = re.findall(r'href="(/accounts/login/\?next=[^"]+)"', page)
    answer = client.post(path, {"login": "nora@example.org", "password": PASSWORD}, follow=True)
    assert "Join team" in answer.text
    assert not Member.objects.filter(user__email="nora@example.org").exists()
    assert client.post(link).headers["Location"] == f"/teams/{team.slug}/"
    assert Member.objects.filter(user__email="nora@example.org").exists()


def test_nobody_else_accepts_it(browser_of: BrowserOf, link: str, charlie: User) -> None:
    stranger = browser_of(charlie)
    for answer in (stranger.get(link), stranger.post(link, TYPED)):
        assert answer.status_code == 403
        assert "This invitation is for" in answer.text
    assert not Member.objects.filter(user=charlie, team__slug="support").exists()
    answer = stranger.post("/accounts/logout/", {"next": link}, follow=True)
    assert "Create account and join" in answer.text


def test_an_expired_one_says_so(client: Client, link: str) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = client.post(link, TYPED)
    assert answer.status_code == 410
    assert "has expired" in answer.text


@pytest.mark.parametrize("key", ["x", "0" * 32 + ":" + "a" * 43, "🙂"])
def test_an_invented_link_gives_nothing_away(client: Client, db: None, key: str) -> None:
    answer = client.post(reverse("invitation", args=[key]), TYPED)
    assert answer.status_code == 410
    assert "This is no invitation" in answer.text


@pytest.fixture
def join_link(team: Team) -> JoinLink:
    return JoinLink.objects.create(team=team, domain="example.org", role=Role.VIEWER)


@pytest.fixture
def way_in(join_link: JoinLink) -> str:
    return reverse("join", args=[join_link.key])


def test_the_join_link_leads_in_through_the_mailbox(client: Client, way_in: str) -> None:
    answer = client.post(way_in, {"email": "Nora@example.org"})
    assert "Look into your mail" in answer.text
    assert Invitation.objects.get().key not in answer.text
    send_waiting_mail()
    (message,) = mail.outbox
    assert message.to == ["Nora@example.org".lower()]
    (link,) = re.findall(r"http://testserver(/invitations/\S+)", message.body)
    assert client.post(link, TYPED).headers["Location"] == "/teams/support/"
    assert Member.objects.get(user__email="nora@example.org").role == Role.VIEWER


def test_an_address_elsewhere_is_refused(client: Client, way_in: str) -> None:
    answer = client.post(way_in, {"email": "nora@evil.test"})
    assert answer.status_code == 422
    assert "Use your address at example.org." in answer.text
    assert not OutgoingMail.objects.exists()


def test_a_member_gets_the_same_answer_and_no_mail(
    client: Client, way_in: str, alice: User
) -> None:
    known, unknown = (
        re.sub(r"\b\w{64}\b", "", client.post(way_in, {"email": email}).text.replace(email, ""))
        for email in (alice.email, "nora@example.org")
    )
    assert known == unknown
    assert [each.address for each in OutgoingMail.objects.all()] == ["nora@example.org"]


def test_nobody_is_flooded(way_in: str) -> None:
    for number in range(MAX_MAILS + 2):
        answer = Client().post(
            way_in, {"email": "nora@example.org"}, REMOTE_ADDR=f"192.0.2.{number}"
        )
        assert answer.status_code == 200
    assert OutgoingMail.objects.count() == MAX_MAILS


def test_too_many_requests_from_one_place_wait(way_in: str) -> None:
    for _ in range(MAX_PER_ACCOUNT):
        assert Client().post(way_in, {"email": "nora@example.org"}).status_code == 200
    answer = Client().post(way_in, {"email": "nora@example.org"})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
