"""Whose address a join link is for."""

from __future__ import annotations

import pytest

from scoring.models import JoinLink


@pytest.mark.parametrize(
    ("email", "is_for"),
    [
        ("a@example.org", True),
        ("a@EXAMPLE.org", True),
        ("a@mail.example.org", False),
        ("a@notexample.org", False),
        ("a@example.org.evil.test", False),
        ('"a@example.org"@evil.test', False),
    ],
)
def test_the_address_is_one_of_the_domain_itself(email: str, *, is_for: bool) -> None:
    assert JoinLink(domain="example.org").is_for(email) == is_for
