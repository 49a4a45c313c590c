"""Connections: endpoints of language models, their sealed keys, limits and prices."""

from __future__ import annotations

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from scoring.models.base import AddressedRow
from scoring.models.team import Team, User


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By name, the default one first."""
        return self.order_by("-is_default", "name")


class Connection(AddressedRow):
    """An OpenAI-compatible endpoint a team may call, with its key.

    `sealed_key` holds the key and the URL it was given for, encrypted together: with another URL
    it does not open. `offered` lists the models as {name, usd_per_million_in,
    usd_per_million_out}, a price None where it is not known.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="connections")
    name = models.CharField(max_length=100)
    base_url = models.CharField("base URL", max_length=500)
    sealed_key = models.TextField(blank=True, default="", editable=False)
    last_four = models.CharField(max_length=4, blank=True, default="", editable=False)
    offered = models.JSONField("models", default=list, blank=True)
    timeout_seconds = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(600)]
    )
    concurrency = models.PositiveIntegerField(
        default=8, validators=[MinValueValidator(1), MaxValueValidator(256)]
    )
    is_default = models.BooleanField(default=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="connection_name_once"),
            models.UniqueConstraint(
                fields=["team"], condition=Q(is_default=True), name="one_default_connection"
            ),
        ]

    def __str__(self) -> str:
        return self.name
