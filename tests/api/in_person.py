"""The people of the API's tests as they decide: signed in with a browser, for no token signs."""

from __future__ import annotations

import pytest

from scoring.models import User
from tests.api.conftest import Api, ApiOf


@pytest.fixture
def api_of() -> ApiOf:
    """The session of this person; the fixtures named after people are made with it."""

    def made(user: User) -> Api:
        api = Api()
        api.client.force_login(user)
        return api

    return made
