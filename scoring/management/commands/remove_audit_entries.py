"""`manage.py remove_audit_entries`: remove what is older than the audit log has to go back."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.utils import timezone

from scoring.management.console import (
    OperatorCommand,
    count_text,
    find_team,
    parse_date,
    requires_database,
    usage_error,
)
from scoring.models import AuditCheckpoint, AuditEntry, Team
from scoring.models.team import audit_chain


class Command(OperatorCommand):
    help = "Remove old entries of the audit log; a signed checkpoint stands for them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--before", type=parse_date, required=True, metavar="DATE",
            help="entries of this date and later stay")  # fmt: skip
        add("--team", metavar="SLUG", help="of this team alone; else of every team and the site")
        add("--dry-run", action="store_true", help="only say how many there are")

    def handle(self, *_: Any, **options: Any) -> None:
        before: datetime = options["before"]
        if before > timezone.now():
            raise usage_error(f"--before {before:%Y-%m-%d %H:%M} UTC lies in the future")
        with requires_database():
            teams = [find_team(options["team"])] if options["team"] else _all_teams()
            counts = [self._remove(team, before, options["dry_run"]) for team in teams]
        entries = count_text(sum(counts), "entry", "entries")
        done = "would be removed" if options["dry_run"] else "removed"
        self.stdout.write(f"{entries} from before {before:%Y-%m-%d %H:%M} UTC {done}.")

    def _remove(self, team: Team | None, before: datetime, is_dry: bool) -> int:
        """How many entries of the team there were; each team with any is listed."""
        entries = AuditEntry.objects.of(team)
        if is_dry:
            count = entries.oldest_before(before).count()
        else:
            count = entries.remove_before(team, before, None)
        if count:
            end = ""
            if not is_dry:
                checkpoints = AuditCheckpoint.objects.filter(team_id=str(team.uuid) if team else "")
                newest = checkpoints.latest("number")
                end = f" up to entry {newest.number}, hash {newest.hash}"
            name = team.name if team else "the site"
            self.stdout.write(f"{name}: {count_text(count, 'entry', 'entries')}{end}")
        return count


def _all_teams() -> list[Team | None]:
    """The site as None, and all teams with entries; their rows may be deleted."""
    teams: list[Team | None] = []
    for team_id in audit_chain.chain_ids():
        newest = AuditEntry.objects.filter(team_id=team_id).order_by("-number").first()
        name = newest.team_name if newest else ""
        teams.append(Team(uuid=team_id, name=name) if team_id else None)
    return teams
