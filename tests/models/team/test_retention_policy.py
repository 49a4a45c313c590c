"""The days of a team's retention rules."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scoring.models import RetentionPolicy, Team
from scoring.models.team.retention_policy import MAX_DAYS, MIN_AUDIT_DAYS


def test_without_rules_everything_is_kept(team: Team) -> None:
    policy = RetentionPolicy(team=team)
    assert set(policy.days.values()) == {None}
    policy.full_clean()


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("runs_days", 0),
        ("texts_days", MAX_DAYS + 1),
        ("replies_days", -1),
        ("audit_days", MIN_AUDIT_DAYS - 1),
    ],
)
def test_days_have_limits(team: Team, name: str, days: int) -> None:
    with pytest.raises(ValidationError) as refused:
        RetentionPolicy(team=team, **{name: days}).full_clean()
    assert list(refused.value.message_dict) == [name]
