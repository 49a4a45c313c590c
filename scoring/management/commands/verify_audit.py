"""`manage.py verify_audit`: whether anything was changed in the audit log, or taken out of it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from scoring.management.console import count_text, requires_database
from scoring.models.team import audit_chain, audit_triggers
from scoring.models.team.audit_chain import BrokenChainError, Chain


class Command(BaseCommand):
    help = "Recompute the hashes of the audit log; exit 1 where an entry was changed or removed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--restore-triggers",
            action="store_true",
            help="first make the triggers that refuse changes, where they are missing",
        )

    def handle(self, **options: Any) -> None:
        with requires_database():
            if options["restore_triggers"]:
                audit_triggers.install_triggers(connection)
            chains = [Chain(team_id) for team_id in audit_chain.chain_ids()]
            faults = [*self._missing_triggers(), *filter(None, map(self._fault_of, chains))]
        if faults:
            raise CommandError("\n".join(faults), returncode=1)
        entries = count_text(sum(chain.count for chain in chains), "entry", "entries")
        self.stdout.write(
            f"The audit log is sound: {entries} in {count_text(len(chains), 'chain')}."
        )

    def _fault_of(self, chain: Chain) -> str | None:
        """Where the chain breaks; a sound one is listed with its end."""
        try:
            audit_chain.verify_chain(chain)
        except BrokenChainError as fault:
            return f"{chain.team_name}{_id(chain)}: {fault}."
        self.stdout.write(
            f"{chain.team_name}{_id(chain)}: {chain.count:,} to entry {chain.number}, "
            f"hash {chain.hash}"
        )
        return None

    def _missing_triggers(self) -> list[str]:
        names = ", ".join(sorted(audit_triggers.missing_triggers(connection)))
        advice = "`manage.py verify_audit --restore-triggers` makes them again"
        return [f"triggers of the audit log are missing: {names}; {advice}."] if names else []


def _id(chain: Chain) -> str:
    return f" ({chain.team_id})" if chain.team_id else ""
