"""The one-time link makes the first person, once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evalsite.pages.account.setup import FirstPersonForm
from scoring.engine.demo.people import create_people
from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team.team import SETUP_LINK_HOURS, setup_token
from tests.conftest import PASSWORD
from tests.support.concurrency import TIMES, call_at_once, wait_for_all

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


def test_the_people_of_the_demo_do_not_close_the_link(client: Client) -> None:
    demo = Team.objects.create(name="Demo", slug="demo")
    create_people(demo, None)
    token = setup_token()
    assert token is not None
    link = reverse("setup", args=[token])
    assert client.post(link, GIVEN).status_code == 302
    assert client.get(link).status_code == 410
    assert Member.objects.get(role=Role.ADMIN).user.email == "first@example.org"


@pytest.mark.parametrize(
    ("email", "is_active"),
    [("mara@demo.invalid", True), ("gone@example.org", False), ("x@notdemo.invalid", False)],
)
def test_anybody_else_closes_the_link(client: Client, email: str, *, is_active: bool) -> None:
    token = setup_token()
    assert token is not None
    User.objects.create_user(email, is_active=is_active)
    assert client.get(reverse("setup", args=[token])).status_code == 410
    assert setup_token() is None


def test_in_the_demo_the_first_person_has_cases_to_review(
    client: Client, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    teams = [Team.objects.create(name=name, slug=name) for name in ("demo", "other")]
    drawn: list[Team] = []
    monkeypatch.setattr("scoring.engine.demo.reviews.draw_own_queue", drawn.append)
    client.post(link, GIVEN)
    assert drawn == teams[:1]


def test_a_name_without_latin_letters_still_gets_an_address(client: Client, link: str) -> None:
    client.post(link, GIVEN | {"team_name": "品質"})
    assert Team.objects.get().slug == "team"


def test_setting_up_is_audited(client: Client, link: str) -> None:
    client.post(link, GIVEN)
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["user.created", "site.set_up", "team.created", "member.added"]
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


@pytest.mark.django_db(transaction=True)
def test_the_link_posted_eight_times_at_once_makes_one_person(
    link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All eight have found the link to be good before the first of them makes anybody."""
    monkeypatch.setattr(FirstPersonForm, "is_valid", wait_for_all(FirstPersonForm.is_valid))
    emails = iter([f"person-{n}@example.org" for n in range(TIMES)])
    answers = call_at_once(lambda: Client().post(link, GIVEN | {"email": next(emails)}))
    assert sorted(answer.status_code for answer in answers) == [302] + [410] * (TIMES - 1)
    assert User.objects.count() == Team.objects.count() == Member.objects.count() == 1
    assert all("set up already" in each.text for each in answers if each.status_code == 410)
