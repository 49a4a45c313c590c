"""New teams, and their names."""

from __future__ import annotations

from itertools import count
from typing import Final

from django.db import transaction
from django.utils.text import slugify

from scoring.engine.team.members import add_member
from scoring.models import AuditEntry, Role, Team, User
from scoring.models.locks import lock_name, lock_row

MAX_SLUG: Final = 60


def create_team(name: str, by: User) -> Team:
    """A team whose admin is the person."""
    with transaction.atomic():
        team = Team.objects.create(name=name, slug=free_slug(name))
        AuditEntry.objects.record(team, by, "team.created", team, new={"name": name})
        add_member(team, by, Role.ADMIN, by)
    return team


def may_create_teams(person: User) -> bool:
    """Superusers, and whoever administers a team."""
    return person.is_superuser or person.memberships.filter(role=Role.ADMIN).exists()


def rename_team(team: Team, name: str, by: User) -> None:
    """Give the team another name; its addresses stay."""
    with transaction.atomic():
        lock_row(team, "name")
        old = team.name
        if name == old:
            return
        team.name = name
        team.save(update_fields=["name"])
        AuditEntry.objects.record(
            team, by, "team.renamed", team, old={"name": old}, new={"name": name}
        )


def free_slug(name: str) -> str:
    """The name as addresses write it, with a number where another team has it already.

    Nobody else gets it until the transaction ends.
    """
    base = slugify(name)[:MAX_SLUG].strip("-") or "team"
    lock_name("slug", base)
    taken = set(Team.objects.filter(slug__startswith=base[: MAX_SLUG - 6]).values_list("slug"))
    endings = ("" if number == 1 else f"-{number}" for number in count(1))
    slugs = (f"{base[: MAX_SLUG - len(ending)]}{ending}" for ending in endings)
    return next(slug for slug in slugs if (slug,) not in taken)
