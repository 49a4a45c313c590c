"""What waits for one person in a team: reviews, approvals and notices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.db.models import F, QuerySet

from evalsite.access import TeamAccess
from evalsite.pages.thresholds.proposals import page_of
from scoring.engine.thresholds.proposals import ProposedChange
from scoring.models import (
    Correction,
    Notice,
    ReviewQueue,
    ReviewTask,
    SuiteProposal,
    ThresholdProposal,
    User,
)
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.queue import may_have_tasks

MAX_LISTED: Final = 8  # of each kind


class LinkedProposal(NamedTuple):
    """Proposed thresholds and the page where they are decided."""

    change: ProposedChange
    url: str

    @property
    def name(self) -> str:
        """The suite, or the scorer whose default is meant."""
        suite = self.change.proposal.suite
        return suite.name if suite else f"default of {self.change.proposed[0][0]}"


@dataclass
class WaitingList:
    """Queried when a template shows it. Mostly nothing waits, which short queries tell."""

    opened: TeamAccess

    @property
    def _user(self) -> User:
        return self.opened.user

    @cached_property
    def queues(self) -> list[ReviewQueue]:
        """Queues with open tasks of the person, the first one due at the top.

        Each has the count `own_open` and its run joined.
        """
        has_any = may_have_tasks(self._user)
        if not (has_any and ReviewTask.objects.open().asked_of(self._user).exists()):
            return []
        waiting = (
            ReviewQueue.objects.waiting_for(self._user)
            .filter(team=self.opened.team, run__deleted_at=None)
            .select_related("run")
            .only("uuid", "name", "due_on", "closed_at", "baseline", "run__name")
        )
        return list(waiting.order_by(F("due_on").asc(nulls_last=True), "pk")[:MAX_LISTED])

    @cached_property
    def notices(self) -> list[Notice]:
        """Unread notices that link to a page, the newest first.

        These are mentions, and decisions on the person's corrections.
        """
        if not getattr(self._user, "has_notices", True):
            return []
        unread = Notice.objects.filter(user=self._user, read_at=None, run__team=self.opened.team)
        linked = unread.filter(run__deleted_at=None).exclude(path="")
        return list(linked.order_by("-pk")[:MAX_LISTED])

    @cached_property
    def proposals(self) -> list[SuiteProposal]:
        """Suite files with other thresholds, which an administrator accepts or rejects."""
        if not self.opened.permissions["may_administer"]:
            return []
        proposals = SuiteProposal.objects.filter(suite__team=self.opened.team).open()
        return list(proposals.select_related("suite", "proposed_by")[:MAX_LISTED])

    @cached_property
    def threshold_proposals(self) -> list[LinkedProposal]:
        """Thresholds that people propose, which an administrator accepts or rejects."""
        if not self.opened.permissions["may_administer"]:
            return []
        proposals = ThresholdProposal.objects.filter(team=self.opened.team).open()
        rows = proposals.select_related("suite", "team", "proposed_by")[:MAX_LISTED]
        changes = map(ProposedChange.of, rows)
        return [LinkedProposal(each, page_of(each)) for each in changes]

    @cached_property
    def corrections(self) -> list[Correction]:
        """Expected values that others propose, which an editor approves or rejects."""
        if not self.opened.permissions["may_edit"]:
            return []
        if not _open_corrections(self.opened.team.pk):
            return []
        return list(Correction.objects.waiting_for(self._user, self.opened.team)[:MAX_LISTED])

    def __bool__(self) -> bool:
        proposals = self.proposals or self.threshold_proposals
        return bool(self.queues or self.corrections or proposals or self.notices)


@prepared_query
def _open_corrections(team: int) -> QuerySet[Correction, int]:
    """The id of one, if there is any."""
    corrections = Correction.objects.open().filter(dataset__team=team).order_by()
    return corrections.values_list("pk", flat=True)[:1]
