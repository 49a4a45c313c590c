"""What commands have in common: whose team it is, and figures and tables as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.core.management.base import CommandError
from django.db import DatabaseError, OperationalError, transaction
from django.utils.text import slugify

from scoring.models import AuditEntry, Team

_UNKEEPABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # bytes that are not UTF-8 too


@contextmanager
def database_needed() -> Iterator[None]:
    """Tells of a database that is not set up, or cannot be used, as of any other misuse."""
    try:
        yield
    except OperationalError as fault:
        text = f"{fault}; `manage.py migrate` sets the database up"
        raise CommandError(text, returncode=2) from None
    except DatabaseError as fault:
        text = f"the database cannot be used: {fault}; restore it from a copy"
        raise CommandError(text, returncode=2) from None


def the_team(slug: str | None) -> Team:
    """The team of that slug, or the only one there is. Raises CommandError naming the teams."""
    teams = list(Team.objects.order_by("slug"))
    found = [team for team in teams if slug in (None, team.slug)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(team.slug for team in teams) or "none yet"
    said = f"There is no team “{slug}”." if slug else "Name the team with --team."
    raise CommandError(f"{said} The teams are: {names}.", returncode=2)


def the_team_or_a_first(slug: str | None) -> tuple[Team, bool]:
    """The team as `the_team` finds it; on a site without any, a first one, and that it is new.

    Whoever sets the site up later administers it like every other team.
    """
    if Team.objects.exists():
        return the_team(slug), False
    slug = slug or "first"
    if slugify(slug) != slug:
        text = f"“{slug}” cannot be a team's address: use a-z, 0-9 and hyphens."
        raise CommandError(text, returncode=2)
    with transaction.atomic():
        team = Team.objects.create(slug=slug, name=slug.replace("-", " ").capitalize())
        AuditEntry.objects.record(team, None, "team.created", team, new={"name": team.name})
    return team, True


def misuse(text: str) -> CommandError:
    """The error that ends the command with 2."""
    return CommandError(text, returncode=2)


def check_writable(path: Path) -> None:
    """Refuse a file that could not be written, before there is anything to write."""
    is_new = not path.exists()
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as fault:
        raise misuse(f"{path} cannot be written: {fault.strerror}") from None


def checked_name(option: str, name: str, most: int = 120) -> str:
    """The name without outer white space; raises CommandError for one that cannot be kept whole."""
    name = name.strip()
    if _UNKEEPABLE.search(name):
        text = f"{option}: {name!r} holds control characters or is not UTF-8. Leave them out."
        raise CommandError(text, returncode=2)
    if len(name) > most:
        text = f"{option}: the name has {len(name):,} characters; {most:,} are possible."
        raise CommandError(text, returncode=2)
    return name


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of aligned columns; the last one may be as long as it likes."""
    texts = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)][:-1]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in texts]
