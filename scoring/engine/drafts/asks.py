"""Who publishes a draft: the page that waits for it, or the worker where it takes long."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.db import transaction
from django.utils import timezone

from scoring.engine import errands
from scoring.engine.drafts.publishing import check, locked, publish, source_name
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Case, DatasetVersion, Draft, EditKind, Errand, ErrandKind, User

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


class Publishing(NamedTuple):
    """Cases stored of those that the next version will have.

    `seconds_left` is None before the first of them are; `cause` says why nothing moves, empty where
    something does.
    """

    done: int
    total: int
    seconds_left: float | None
    cause: str


def progress_of(draft: Draft) -> Publishing:
    """How far the worker is with a draft that it publishes, by the rows of this moment."""
    kinds = draft.counts()
    total = draft.based_on.case_count + kinds[EditKind.ADD] - kinds[EditKind.DELETE]
    begun = DatasetVersion.with_loading.filter(
        dataset=draft.dataset_id, published_at=None, source_name=source_name(draft)
    )
    version = begun.order_by("-pk").first()
    places = Case.objects.filter(version=version).order_by("-position")
    done = (places.values_list("position", flat=True).first() or 0) if version else 0
    seconds = (timezone.now() - version.created_at).total_seconds() if version else 0.0
    left = max(total - done, 0) * seconds / done if done else None
    return Publishing(done, total, left, "" if worker_is_alive() else NO_WORKER)


def release_abandoned() -> None:
    """Open the drafts again that no errand publishes any more."""
    asked = Errand.objects.unfinished().filter(kind=ErrandKind.PUBLISH_DRAFT)
    waiting = [errand.request["draft"] for errand in asked]
    Draft.objects.filter(is_publishing=True).exclude(uuid__in=waiting).update(is_publishing=False)
