"""A group has one role in a team."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from scoring.models import GroupRole, Role, Team


def test_a_group_has_one_role_in_a_team(team: Team) -> None:
    row = GroupRole.objects.create(team=team, group="staff", role=Role.EDITOR)
    assert str(row) == "staff · editor"
    with pytest.raises(IntegrityError), transaction.atomic():
        GroupRole.objects.create(team=team, group="staff")
    other = Team.objects.create(name="Other", slug="other")
    GroupRole.objects.create(team=other, group="staff")


def test_a_groups_name_is_one_line(team: Team) -> None:
    with pytest.raises(ValidationError):
        GroupRole(team=team, group="two\nlines").full_clean()
