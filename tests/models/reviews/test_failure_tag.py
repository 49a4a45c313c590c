"""Failure tags: each name once a team, by name."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from scoring.models import FailureTag, Team


def test_a_name_is_there_once_a_team(team: Team) -> None:
    other = Team.objects.create(name="Other", slug="other")
    for name in ("tone", "facts"):
        FailureTag.objects.create(team=team, name=name)
    FailureTag.objects.create(team=other, name="tone")
    with pytest.raises(IntegrityError), transaction.atomic():
        FailureTag.objects.create(team=team, name="tone")
    assert [str(tag) for tag in FailureTag.objects.filter(team=team)] == ["facts", "tone"]
