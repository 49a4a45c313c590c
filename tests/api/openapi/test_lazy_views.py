"""The schema is for those who sign in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scoring.models import User


@pytest.mark.parametrize("path", ["/api/schema/", "/api/docs/"])
def test_the_schema_is_for_those_who_sign_in(
    client: Client, browser_of: Callable[[User], Client], bob: User, path: str
) -> None:
    assert client.get(path).status_code in {302, 401}
    assert browser_of(bob).get(path).status_code == 200
