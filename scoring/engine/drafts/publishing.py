"""A draft into a version: whole or not at all, and never over what another version brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction

from scoring.engine.drafts import copying
from scoring.engine.drafts.edits import DraftError
from scoring.engine.loading import likenesses, removal
from scoring.engine.probe import ErrandProblem
from scoring.models import (
    AuditEntry,
    Case,
    DatasetVersion,
    Draft,
    DraftEdit,
    DraftState,
    EditKind,
    Errand,
    User,
)


def done_errand(errand: Errand) -> Mapping[str, Any]:
    """The worker's part. Raises ErrandProblem."""
    draft = Draft.objects.filter(uuid=errand.request["draft"]).first()
    if draft is None:
        raise ErrandProblem("the draft is gone")
    if draft.published is not None:
        return {"version": draft.published.number}
    try:
        return {"version": publish(draft, errand.asked_by).number}
    except DraftError as fault:
        raise ErrandProblem(str(fault)) from fault


def publish(draft: Draft, by: User | None) -> DatasetVersion:
    """The draft as the dataset's latest version; its edits stay as the record of what was done.

    Raises DraftError, after which the draft is open again and nothing is stored.
    """
    version = DatasetVersion.with_loading.create(
        dataset=draft.dataset,
        created_by=by,
        source_name=source_name(draft),
    )
    try:
        copied = copying.store(version, _merged(draft))
        with transaction.atomic():
            now = locked(draft)
            check(now, now.message)
            if not copied.case_count:
                raise DraftError("No case would be left. A version needs at least one.")
            _show(now, version, copied, by)
    except BaseException:
        removal.remove_version(version)
        Draft.objects.filter(pk=draft.pk).update(is_publishing=False)
        raise
    draft.refresh_from_db()
    return version


def source_name(draft: Draft) -> str:
    """Where the cases of its version come from, in words."""
    return f"edits of version {draft.based_on.number}"


def rebase(draft: Draft, by: User | None) -> int:
    """Put the edits on the dataset's latest version; returns how many meet a case that changed
    there too. These are marked, and are to be saved again before the draft is published.
    """
    with transaction.atomic():
        now = locked(draft)
        latest = now.dataset.latest
        if latest is None or not now.is_behind:
            return 0
        old, new = _cases_of(now, now.based_on), _cases_of(now, latest)
        for edit in now.edits.all():
            _move(edit, old.get(edit.key), new.get(edit.key))
        Draft.objects.filter(pk=now.pk).update(based_on=latest)
        AuditEntry.objects.record(
            now.dataset.team,
            by,
            "draft.moved",
            now.dataset,
            old={"version": now.based_on.number},
            new={"version": latest.number},
        )
    draft.refresh_from_db()
    return draft.edits.filter(is_conflict=True).count()


def _move(edit: DraftEdit, old: Case | None, new: Case | None) -> None:
    """One edit onto the case as it is in the new version; gone where nothing is left to do."""
    is_deleted = edit.kind == EditKind.DELETE
    is_done = new is None if is_deleted else new is not None and new.content == edit.content
    if is_done:
        edit.delete()
        return
    if not is_deleted:
        edit.kind = EditKind.ADD if new is None else EditKind.EDIT
    is_touched = (old and old.content) != (new and new.content)
    edit.is_conflict = edit.is_conflict or is_touched
    edit.save()


def locked(draft: Draft) -> Draft:
    """The open draft as it is now, for this transaction alone. Raises DraftError."""
    known = Draft.objects.select_for_update(of=("self",)).select_related(
        "dataset__team", "dataset__latest", "based_on"
    )
    now = known.get(pk=draft.pk)
    if not now.is_open:
        raise DraftError(f"The draft was {now.state} meanwhile.")
    return now


def check(draft: Draft, message: str) -> None:
    """Raise DraftError where the draft cannot be published."""
    if not message.strip():
        raise DraftError("Say in a few words what changed and why.")
    if not draft.edits.exists():
        raise DraftError("Nothing was changed yet.")
    if draft.is_behind and draft.dataset.latest:
        text = f"Version {draft.dataset.latest.number} was published meanwhile."
        raise DraftError(f"{text} Move the draft onto it first.")
    if count := draft.edits.filter(is_conflict=True).count():
        raise DraftError(f"{count:,} cases changed in both. Look at them and save them again.")


def _merged(draft: Draft) -> Iterator[copying.Keyed]:
    """The version's cases with the edits in their places, and the added ones behind."""
    edits = {edit.key: edit for edit in draft.edits.all()}
    for case in copying.keyed_cases(draft.based_on):
        edit = edits.get(case[0])
        if edit is None:
            yield case
        elif edit.kind == EditKind.EDIT:
            yield _keyed(edit)
    for edit in edits.values():
        if edit.kind == EditKind.ADD:
            yield _keyed(edit)


def _keyed(edit: DraftEdit) -> copying.Keyed:
    return (edit.key, *edit.content)  # type: ignore[return-value]


def _show(draft: Draft, version: DatasetVersion, copied: copying.Copied, by: User | None) -> None:
    version.dataset, version.message = draft.dataset, draft.message
    version.publish(content_hash=copied.content_hash, case_count=copied.case_count)
    likenesses.leave(version)
    draft.state, draft.published, draft.is_publishing = DraftState.PUBLISHED, version, False
    draft.save(update_fields=["state", "published", "is_publishing"])
    counts = {kind.value: draft.edits.filter(kind=kind).count() for kind in EditKind}
    new = {"version": version.number, "message": draft.message, **counts}
    AuditEntry.objects.record(draft.dataset.team, by, "version.created", draft.dataset, new=new)


def _cases_of(draft: Draft, version: DatasetVersion) -> dict[str, Case]:
    """The version's cases that the draft edits, by key."""
    keys = draft.edits.order_by().values("key")
    return {case.key: case for case in Case.objects.filter(version=version, key__in=keys)}
