"""The one-time link makes the first person, once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team import SETUP_LINK_HOURS, setup_token
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

GIVEN = {
    "email": "First@Example.org",
    "password": PASSWORD,
    "password_again": PASSWORD,
    "team_name": "Answers & questions",
}


@pytest.fixture
def link() -> str:
    token = setup_token()
    assert token is not None
    return reverse("setup", args=[token])


def test_the_link_makes_a_superuser_with_a_team_and_signs_in(client: Client, link: str) -> None:
    answer = client.post(link, GIVEN, follow=True)
    user = User.objects.get()
    assert (user.email, user.is_superuser, user.is_staff) == ("first@example.org", True, True)
    assert user.check_password(PASSWORD)
    member = Member.objects.get()
    assert (member.user, member.role) == (user, Role.ADMIN)
    assert (member.team.name, member.team.slug) == ("Answers & questions", "answers-questions")
    assert answer.redirect_chain[-1][0] == "/teams/answers-questions/"
    assert answer.wsgi_request.user == user


def test_the_first_person_administers_every_team_there_is(client: Client, link: str) -> None:
    teams = {Team.objects.create(name=name, slug=name) for name in ("demo", "other")}
    assert b"team_name" not in client.get(link).content
    client.post(link, GIVEN)
    assert set(Team.objects.all()) == teams
    assert {m.team for m in Member.objects.filter(role=Role.ADMIN)} == teams


def test_a_name_without_latin_letters_still_gets_an_address(client: Client, link: str) -> None:
    client.post(link, GIVEN | {"team_name": "品質"})
    assert Team.objects.get().slug == "team"


def test_setting_up_is_audited(client: Client, link: str) -> None:
    client.post(link, GIVEN)
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["site.set_up", "team.created", "member.added"]
    assert PASSWORD not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"email": "no address"}, "email"),
        ({"password": ""}, "password"),
        ({"password": "12345678901", "password_again": "12345678901"}, "password"),
        ({"password": "password", "password_again": "password"}, "password"),
        ({"password_again": "another phrase"}, "password_again"),
        ({"team_name": " "}, "team_name"),
    ],
)
def test_what_cannot_be_used_comes_back_with_its_field(
    client: Client, link: str, change: dict[str, str], field: str
) -> None:
    answer = client.post(link, GIVEN | change)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not User.objects.exists()
    assert not Team.objects.exists()


def test_a_used_link_says_so(client: Client, link: str) -> None:
    client.post(link, GIVEN)
    for answer in (client.get(link), client.post(link, GIVEN), Client().get(link)):
        assert answer.status_code == 410
        assert "set up already" in answer.content.decode()
    assert "Go to the start page" in client.get(link).text
    assert reverse("account_login") in Client().get(link).text
    assert User.objects.count() == 1


def test_an_old_link_says_how_to_get_a_new_one(
    client: Client, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = (timezone.now() + timedelta(hours=SETUP_LINK_HOURS, seconds=2)).timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    answer = client.get(link)
    assert answer.status_code == 410
    assert "manage.py start" in answer.content.decode()


@pytest.mark.parametrize("token", ["x", "InNldCB1cCI:abc:def", "🙂"])
def test_an_invented_link_makes_nobody(client: Client, token: str) -> None:
    answer = client.post(reverse("setup", args=[token]), GIVEN)
    assert answer.status_code == 410
    assert not User.objects.exists()


def test_no_cache_keeps_the_page(client: Client, link: str) -> None:
    assert "no-store" in client.get(link)["Cache-Control"]
