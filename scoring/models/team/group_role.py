"""What the groups of a company's sign-in give in a team."""

from __future__ import annotations

from typing import Final

from django.db import models

from scoring.models.base import validate_name
from scoring.models.team.team import Role, Team

MAX_GROUP: Final = 200


class GroupRole(models.Model):
    """The role in a team that a group of the site's single sign-on gives, by the group's name."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="group_roles")
    group = models.CharField(max_length=MAX_GROUP, validators=[validate_name])
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.VIEWER)

    class Meta:
        ordering = ["group"]
        constraints = [models.UniqueConstraint(fields=["team", "group"], name="group_role_once")]

    def __str__(self) -> str:
        return f"{self.group} · {self.get_role_display()}"
