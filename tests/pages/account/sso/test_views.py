"""To the stub provider and back: connected accounts, faults, limits."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse

from evalsite.pages.account.adapters import SSO_SESSION_SECONDS
from scoring.models import AuditEntry, Member, Role, User
from tests.conftest import PASSWORD
from tests.pages.account.steps import lock
from tests.support.fixtures.single_sign_on import go_through, signed_in
from tests.support.identity_provider import IdentityProvider


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_sessions_are_short(client: Client, provider: IdentityProvider) -> None:
    provider.person["groups"] = ["staff"]
    go_through(client, provider)
    assert client.session.get_expiry_age() == SSO_SESSION_SECONDS


def test_an_account_is_connected_by_its_password_alone(
    client: Client, provider: IdentityProvider, bob: User
) -> None:
    provider.person |= {"email": bob.email, "groups": ["staff"]}
    assert go_through(client, provider)["Location"] == reverse("sso_connect")
    assert signed_in(client) == ""
    page = client.get(reverse("sso_connect"))
    assert bob.email in page.text
    wrong = client.post(reverse("sso_connect"), {"password": "wrong"})
    assert wrong.status_code == 422
    assert not SocialAccount.objects.exists()
    assert client.post(reverse("sso_connect"), {"password": PASSWORD}).status_code == 302
    assert signed_in(client) == bob.email
    assert actions()[-1] == "single_sign_on.connected"
    assert Member.objects.get(user=bob).role == Role.VIEWER  # an admin gave it
    again = Client()
    go_through(again, provider)
    assert signed_in(again) == bob.email


def test_guesses_of_that_password_are_limited(
    client: Client, provider: IdentityProvider, bob: User
) -> None:
    provider.person["email"] = bob.email
    go_through(client, provider)
    lock(bob.email, ip="127.0.0.1")
    answer = client.post(reverse("sso_connect"), {"password": PASSWORD})
    assert answer.status_code == 429
    assert not SocialAccount.objects.exists()


def test_an_account_without_a_password_is_not_connected(
    client: Client, provider: IdentityProvider, bob: User
) -> None:
    bob.set_unusable_password()
    bob.save()
    provider.person["email"] = bob.email
    go_through(client, provider)
    answer = client.get(reverse("sso_connect"))
    assert answer.status_code == 403
    assert "cannot be" in answer.text
    assert client.get(reverse("sso_connect"))["Location"] == reverse("account_login")


def test_a_provider_that_cancels_or_answers_oddly_lets_nobody_in(
    client: Client, provider: IdentityProvider
) -> None:
    provider.person["groups"] = ["staff"]
    for endpoint in ("token", "userinfo"):
        provider.broken = endpoint
        answer = go_through(client, provider)
        assert answer.status_code == 403, endpoint
        assert "did not confirm who you are" in answer.text
    provider.broken = "configuration"
    assert client.get(reverse("sso")).status_code == 403
    provider.broken, provider.denies = "", True
    assert "You cancelled at Example ID." in go_through(client, provider).text
    provider.denies = False
    del provider.person["sub"]
    assert go_through(client, provider).status_code == 403
    assert signed_in(client) == ""


def test_a_way_back_that_nobody_began_leads_nowhere(
    client: Client, provider: IdentityProvider
) -> None:
    for query in ({}, {"code": "code 0", "state": "other"}, {"error": "x"}):
        assert client.get(reverse("sso_callback"), query).status_code == 403
    assert signed_in(client) == ""


def test_only_this_host_is_led_back_to(client: Client, provider: IdentityProvider) -> None:
    provider.person["groups"] = ["staff"]
    assert go_through(client, provider, "https://evil.example/")["Location"] == "/"


def test_starts_are_limited(client: Client, provider: IdentityProvider) -> None:
    answers = {client.get(reverse("sso")).status_code for _ in range(101)}
    assert answers == {302, 429}


def test_without_a_provider_there_are_no_such_pages(client: Client) -> None:
    for name in ("sso", "sso_callback", "sso_connect"):
        assert client.get(reverse(name)).status_code == 404
    assert reverse("sso") not in client.get(reverse("account_login")).text


def test_a_session_that_waits_for_nothing_is_sent_to_sign_in(
    client: Client, provider: IdentityProvider
) -> None:
    assert client.get(reverse("sso_connect"))["Location"] == reverse("account_login")


def test_connecting_while_signed_in_is_not_offered(
    client: Client, provider: IdentityProvider, bob: User
) -> None:
    """Another site could begin it in somebody's name."""
    client.force_login(bob)
    provider.person["groups"] = ["staff"]
    begun = client.get(reverse("sso"), {"process": "connect"})
    assert begun.status_code == 302
    go_through(client, provider)
    assert not SocialAccount.objects.filter(user=bob).exists()
