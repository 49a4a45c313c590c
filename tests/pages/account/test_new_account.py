"""Passwords of new accounts: typed twice, and none that is easily guessed."""

from __future__ import annotations

import pytest

from evalsite.pages.account.new_account import NewAccountForm
from scoring.models import User


class Form(NewAccountForm):
    def new_user(self) -> User:
        return User(email="ada.lovelace@example.org", name="Ada Lovelace")


@pytest.mark.parametrize(
    ("password", "again", "field"),
    [
        ("a long enough phrase", "a long enough phrase", None),
        ("  spaces stay  ", "  spaces stay  ", None),
        ("a long enough phrase", "another phrase", "password_again"),
        ("short", "short", "password"),
        ("ada.lovelace", "ada.lovelace", "password"),
        ("31415926535", "31415926535", "password"),
        ("", "", "password"),
    ],
)
def test_a_password_is_good_and_typed_twice(password: str, again: str, field: str | None) -> None:
    form = Form({"password": password, "password_again": again})
    assert form.is_valid() == (field is None)
    assert field is None or field in form.errors
