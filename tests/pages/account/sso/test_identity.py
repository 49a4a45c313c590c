"""What claims say of a person, in whichever form they come."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404
from pytest_django.fixtures import Settings

from evalsite.env import SingleSignOn
from evalsite.pages.account.sso.identity import Identity, is_of_one_person
from tests.support.fixtures.single_sign_on import change_sso, set_sso


@pytest.fixture(autouse=True)
def sso(settings: Settings) -> None:
    set_sso(settings, SingleSignOn("https://id.example", "evalsite", "secret", "Example ID"))


def groups_of(said: Any) -> frozenset[str] | None:
    return Identity.from_claims({"userinfo": {"groups": said}}).groups


def test_groups_come_as_a_list_or_a_name() -> None:
    assert groups_of(["a", "b", 3, None]) == {"a", "b"}
    assert groups_of("a") == {"a"}
    assert groups_of([]) == frozenset()
    assert groups_of(None) is None
    assert groups_of({"a": 1}) is None


def test_the_id_token_says_what_the_endpoint_does_not(settings: Settings) -> None:
    change_sso(settings, groups_claim="https://id.example/groups")
    claims = {
        "id_token": {"email": "old@example.org", "https://id.example/groups": ["a"]},
        "userinfo": {"email": " New@Example.org ", "email_verified": "true", "name": "two\nlines"},
    }
    said = Identity.from_claims(claims)
    assert said == Identity("new@example.org", True, "", frozenset({"a"}))


def test_there_is_no_identity_without_a_provider(settings: Settings) -> None:
    settings.EVALSITE_SSO = None
    with pytest.raises(Http404):
        Identity.from_claims({})


def test_an_address_and_its_confirmation_come_from_one_source() -> None:
    claims = {"id_token": {"email": "a@example.org"}, "userinfo": {"email_verified": True}}
    assert not Identity.from_claims(claims).is_verified


def test_sources_that_name_different_people_are_told_apart() -> None:
    assert is_of_one_person({"userinfo": {"sub": "1"}})
    assert is_of_one_person({"id_token": {"sub": "1"}, "userinfo": {"sub": "1"}})
    assert not is_of_one_person({"id_token": {"sub": "1"}, "userinfo": {"sub": "2"}})
    assert not is_of_one_person({})
