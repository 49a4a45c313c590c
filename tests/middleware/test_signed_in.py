"""Password attempts are limited by account and address, whichever page makes them."""

from __future__ import annotations

import logging

import pytest

from scoring.models import AttemptCounter, User
from scoring.models.team.attempt_counter import MAX_PER_ACCOUNT, MAX_PER_ADDRESS
from tests.conftest import PASSWORD
from tests.pages.account.steps import lock, sign_in


def test_guesses_end_with_429_and_a_plain_sentence(alice: User) -> None:
    answers = [sign_in(alice.email) for _ in range(MAX_PER_ACCOUNT + 1)]
    assert [answer.status_code for answer in answers] == [200] * MAX_PER_ACCOUNT + [429]
    assert "Wait 15 minutes, then try again." in " ".join(answers[-1].text.split())
    assert 880 <= int(answers[-1]["Retry-After"]) <= 900


def test_the_guesser_is_refused_the_right_password_too(alice: User) -> None:
    lock(alice.email)
    assert sign_in(alice.email, PASSWORD).status_code == 429


def test_the_guessed_person_signs_in_from_another_address(alice: User) -> None:
    lock(alice.email)
    answer = sign_in(alice.email, PASSWORD, ip="192.0.2.2")
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_a_colleague_at_the_same_address_signs_in(alice: User, bob: User) -> None:
    lock(alice.email)
    assert sign_in(bob.email, PASSWORD).status_code == 302


def test_an_address_has_a_generous_limit_of_its_own(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("evalsite").propagate = True
    for number in range(MAX_PER_ADDRESS):
        assert sign_in(f"somebody{number}@example.org").status_code == 200
    assert sign_in(alice.email, PASSWORD).status_code == 429
    assert sign_in(alice.email, PASSWORD, ip="192.0.2.2").status_code == 302
    assert "Too many sign-in attempts from 192.0.2.1" in caplog.text


def test_signing_in_right_resets_the_account_and_not_the_address(alice: User) -> None:
    for _ in range(MAX_PER_ACCOUNT - 1):
        sign_in(alice.email)
    assert sign_in(alice.email, PASSWORD).status_code == 302
    assert AttemptCounter.objects.get().count == MAX_PER_ACCOUNT - 1  # the address
    assert sign_in(alice.email).status_code == 200


def test_spelling_the_account_otherwise_gains_nothing(alice: User) -> None:
    spellings = [alice.email, alice.email.upper(), f" {alice.email} ", alice.email.title()]
    answers = [sign_in(spelling) for spelling in [*spellings, *spellings]]
    assert [answer.status_code for answer in answers].count(429) == 8 - MAX_PER_ACCOUNT
