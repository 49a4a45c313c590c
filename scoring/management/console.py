"""What commands share: teams, names, dates and errors of usage, and tables as plain text."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.utils.text import slugify

from scoring.core.database_lock import is_locked
from scoring.core.disk_full import is_disk_full
from scoring.core.lost_connection import is_lost
from scoring.core.names import is_one_line
from scoring.models import AuditEntry, Team
from scoring.models.team.audit_entry import acting_as_operator

UNDEFINED_TABLE: Final = "42P01"  # from appendix A of PostgreSQL's manual


class OperatorCommand(BaseCommand):
    """A command whose changes the audit log attributes to the operator, where no user is given."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        with acting_as_operator(), reporting_disk_full():
            return super().execute(*args, **options)


@contextmanager
def reporting_disk_full() -> Iterator[None]:
    """Report a full disk in a sentence."""
    try:
        yield
    except Exception as fault:
        if is_disk_full(fault):
            raise usage_error(f"there is no room left on the disk of {settings.DATA_DIR}") from None
        raise


@contextmanager
def requires_database() -> Iterator[None]:
    """Report a database that is not set up, or cannot be used, as an error of usage."""
    try:
        yield
    except (DatabaseError, InterfaceError) as fault:
        if problem := _database_problem(fault):
            raise usage_error(problem) from None
        raise


def _database_problem(fault: Exception) -> str:
    """What is wrong with the database as a whole, and what to do; "" where it is something else."""
    reason = str(fault).strip().partition("\n")[0]  # PostgreSQL shows the statement below
    if is_lost(fault):
        return f"the database cannot be reached: {reason}; DATABASE_URL says where it is"
    if is_disk_full(fault):
        return ""
    if is_locked(fault):
        return f"the database is busy: {reason}; try again"
    if isinstance(fault, OperationalError) or _state_of(fault) == UNDEFINED_TABLE:
        return f"{reason}; `manage.py migrate` sets the database up"
    if type(fault) is DatabaseError:  # SQLite's word for a file that is damaged, or none of its own
        return f"the database cannot be used: {reason}; restore it from a copy"
    return ""


def _state_of(fault: Exception) -> str:
    return getattr(fault.__cause__, "sqlstate", None) or ""


def find_team(slug: str | None) -> Team:
    """The team of that slug, or the only one there is. Raises CommandError naming the teams."""
    teams = list(Team.objects.order_by("slug"))
    matching = [team for team in teams if slug in (None, team.slug)]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(team.slug for team in teams) or "none yet"
    problem = f"There is no team “{slug}”." if slug else "Name the team with --team."
    raise usage_error(f"{problem} The teams are: {names}.")


def find_or_create_team(slug: str | None) -> tuple[Team, bool]:
    """The team as `find_team` finds it; on a site without any, a first one, and that it is new.

    Whoever sets the site up later administers it like every other team.
    """
    if Team.objects.exists():
        return find_team(slug), False
    slug = slug or "default"
    if slugify(slug) != slug:
        raise usage_error(f"“{slug}” cannot be a team's address: use a-z, 0-9 and hyphens.")
    with transaction.atomic():
        team = Team.objects.create(slug=slug, name=slug.replace("-", " ").capitalize())
        AuditEntry.objects.record(team, None, "team.created", team, new={"name": team.name})
    return team, True


def usage_error(text: str) -> CommandError:
    """The error that ends the command with 2."""
    return CommandError(text, returncode=2)


def parse_date(text: str) -> datetime:
    """A date or time in ISO 8601; UTC where no offset is given."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        example = "2026-11-20 or 2026-11-20T09:30+01:00"
        raise ArgumentTypeError(f"{text!r} is no date; write it like {example}") from None


def check_writable(path: Path) -> None:
    """Refuse a file that could not be written, before there is anything to write."""
    is_new = not path.exists()
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as fault:
        raise usage_error(f"{path} cannot be written: {fault.strerror}") from None


def checked_name(option: str, name: str, most: int = 120) -> str:
    """The name without outer white space; raises CommandError for one that cannot be kept whole."""
    name = name.strip()
    if not is_one_line(name):
        text = f"{option}: {name!r} holds control characters or is not UTF-8. Leave them out."
        raise usage_error(text)
    if len(name) > most:
        text = f"{option}: the name has {len(name):,} characters; {most:,} are possible."
        raise usage_error(text)
    return name


def count_text(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def text_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of aligned columns; the last one may have any width."""
    texts = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)][:-1]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in texts]
