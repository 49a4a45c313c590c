"""A site with single sign-on and a group that has a role."""

from __future__ import annotations

import pytest

from scoring.engine.team.groups import set_group_role
from scoring.models import Role, Team, User
from tests.support.fixtures.single_sign_on import provider

__all__ = ["provider"]


@pytest.fixture(autouse=True)
def staff(team: Team, alice: User) -> None:
    """A group with a role."""
    set_group_role(team, "staff", Role.EDITOR, alice)
