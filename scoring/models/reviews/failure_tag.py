"""Failure tags: the team's own list of what can be wrong with an output."""

from __future__ import annotations

from typing import Final

from django.db import models

from scoring.models.base import AddressedRow, validate_name
from scoring.models.team.team import Team

MAX_NAME: Final = 40  # characters


class FailureTag(AddressedRow):
    """A kind of failure that reviewers may name. A review keeps the names it was given."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="failure_tags")
    name = models.CharField(max_length=MAX_NAME, validators=[validate_name])
    help_text = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="failure_tag_once")]

    def __str__(self) -> str:
        return self.name
