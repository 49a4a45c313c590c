"""Saved views of a case table: filters, order and columns under a name."""

from __future__ import annotations

from typing import Self

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Q

from scoring.models.base import AddressedRow, validate_name
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_QUERY = 4_000


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def for_person(self, user: User | int, team: Team | int) -> Self:
        """The team's views and the person's own ones there, the team's first, by name."""
        views = self.filter(Q(owner=None) | Q(owner=user), team=team)
        return views.order_by(models.F("owner").asc(nulls_first=True), "name")

    def keep(self, team: Team, name: str, query: str, *, by: User, is_shared: bool) -> SavedView:
        """A new view of the person's own, or of the team where it `is_shared`.

        Raises ValidationError when the name is taken.
        """
        owner = None if is_shared else by
        try:
            with transaction.atomic():
                view = self.create(team=team, owner=owner, name=name, query=query)
                AuditEntry.objects.record(team, by, "view.created", view, new=view.audit_values)
        except IntegrityError:  # a query beforehand would miss a view saved at the same moment
            owners = "The team has" if is_shared else "You have"
            text = f"{owners} a view called {name} already: choose another name."
            raise ValidationError(text) from None
        return view


class SavedView(AddressedRow):
    """The query of a run's page under a name, for any run of the team. Without an owner it is
    the whole team's.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(
        User, models.CASCADE, null=True, blank=True, related_name="saved_views"
    )
    name = models.CharField(max_length=60, validators=[validate_name])
    query = models.CharField(max_length=MAX_QUERY, blank=True)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "owner", "name"], name="own_view_name_once"),
            models.UniqueConstraint(
                fields=["team", "name"], condition=Q(owner=None), name="team_view_name_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def audit_values(self) -> dict[str, object]:
        """The view as the audit keeps it."""
        return {"name": self.name, "query": self.query, "shared": self.owner_id is None}

    def drop(self, *, by: User) -> bool:
        """Remove the view. Returns False if somebody else has removed it meanwhile."""
        old = self.audit_values  # nobody changes a view
        with transaction.atomic():
            is_removed = bool(SavedView.objects.filter(pk=self.pk).delete()[0])
            if is_removed:
                AuditEntry.objects.record(self.team, by, "view.removed", self, old=old)
        return is_removed
