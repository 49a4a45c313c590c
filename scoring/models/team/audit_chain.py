"""Verification of the chains of audit entries."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoring.models.team.audit_entry import AuditCheckpoint, AuditEntry
from scoring.models.team.audit_hashes import is_signed


class BrokenChainError(Exception):
    """Raised with what is wrong with the first entry that does not fit."""


@dataclass
class Chain:
    """The entries of one team, checked one after the other.

    `number` and `hash` are those of the entry checked last, or of the checkpoint it begins after.
    """

    team_id: str
    team_name: str = "the site"
    count: int = 0
    number: int = 0
    hash: str = ""
    checkpoints: dict[int, str] = field(default_factory=dict)

    def begin_before(self, entry: AuditEntry) -> None:
        """Find what the first entry that is left follows."""
        self.team_name = entry.team_name or self.team_name
        self.number = entry.number - 1
        if self.number:
            self.hash = self.checkpoints.get(self.number, "")
        if self.number and not self.hash:
            text = f"entries 1 to {self.number} are missing, and no checkpoint stands for them"
            raise BrokenChainError(text)

    def add(self, entry: AuditEntry) -> None:
        if entry.number != self.number + 1:
            raise BrokenChainError(f"entry {self.number + 1} is missing")
        self.hash = entry.hash_after(self.hash)
        if entry.hash != self.hash:
            shown = f"id {entry.pk}, {entry.action}, {entry.at:%Y-%m-%d %H:%M:%S} UTC"
            raise BrokenChainError(f"entry {entry.number} ({shown}) does not match its hash")
        if self.checkpoints.get(entry.number, entry.hash) != entry.hash:
            raise BrokenChainError(f"entry {entry.number} does not match its checkpoint")
        self.number, self.count = entry.number, self.count + 1

    def end(self) -> None:
        newest = max(self.checkpoints, default=0)
        if self.count and newest > self.number:
            raise BrokenChainError(f"entry {self.number + 1} is missing")
        if not self.count and newest:
            self.number, self.hash = newest, self.checkpoints[newest]


def chain_ids() -> list[str]:
    """The ids of all chains; "" is the chain of no team."""
    entries = AuditEntry.objects.order_by().values_list("team_id", flat=True)
    checkpoints = AuditCheckpoint.objects.order_by().values_list("team_id", flat=True)
    return sorted({*entries.distinct(), *checkpoints.distinct()})


def verify_chain(chain: Chain) -> None:
    """Check the entries of `chain.team_id`. Raises BrokenChainError at the first that is wrong."""
    for checkpoint in AuditCheckpoint.objects.filter(team_id=chain.team_id).order_by("number"):
        if not is_signed(checkpoint.signed_text, checkpoint.signature):
            raise BrokenChainError(f"the checkpoint {checkpoint} was not signed by this site")
        chain.checkpoints[checkpoint.number] = checkpoint.hash
    entries = AuditEntry.objects.filter(team_id=chain.team_id).order_by("number")
    for entry in entries.iterator(2_000):
        if not chain.count:
            chain.begin_before(entry)
        chain.add(entry)
    chain.end()
