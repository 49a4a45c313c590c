"""Who publishes a draft: the page that waits for it, or the worker where it takes long."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from scoring.engine import errands
from scoring.engine.drafts.publishing import check, locked, publish
from scoring.models import DatasetVersion, Draft, Errand, ErrandKind, User

EDITED_AT_ONCE: Final = 5_000  # cases a version may have to be made while somebody waits


def request_publish(draft: Draft, message: str, by: User | None) -> DatasetVersion | None:
    """Publish the draft now, or leave it to the worker where the version is large: None then.

    Raises DraftError.
    """
    with transaction.atomic():
        now = locked(draft)
        if now.is_publishing:
            return None
        check(now, message)
        Draft.objects.filter(pk=draft.pk).update(is_publishing=True, message=message.strip())
        if now.based_on.case_count <= EDITED_AT_ONCE:
            return publish(draft, by)
        request = {"draft": str(draft.uuid)}
        errands.ask(ErrandKind.PUBLISH_DRAFT, now.dataset.team, by, request)
    return None


def release_abandoned() -> None:
    """Open the drafts again that no errand publishes any more."""
    asked = Errand.objects.unfinished().filter(kind=ErrandKind.PUBLISH_DRAFT)
    waiting = [errand.request["draft"] for errand in asked]
    Draft.objects.filter(is_publishing=True).exclude(uuid__in=waiting).update(is_publishing=False)
