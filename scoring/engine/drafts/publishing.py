"""Publishes a draft as a version: whole or not at all, and never over another version's changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from django.db import transaction

from scoring.engine.drafts import case_copy
from scoring.engine.drafts.edits import DraftError
from scoring.engine.imports import cleanup as import_cleanup
from scoring.engine.imports import near_duplicates
from scoring.engine.jobs.progress import ReportShare, ignore_share
from scoring.models import (
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    Draft,
    DraftEdit,
    DraftState,
    EditKind,
    User,
)

_REPORTED: Final = 1_000  # cases between two reports of progress


def publish_draft(draft: Draft, by: User | None) -> DatasetVersion:
    """The draft as the dataset's latest version; its edits stay as the record of what was done.

    Raises DraftError, after which the draft is open again and nothing is stored.
    """
    version = DatasetVersion.with_loading.create(
        dataset=draft.dataset, created_by=by, source_name=source_name(draft)
    )
    try:
        copied = case_copy.store_copies(version, _merge(draft))
        with transaction.atomic():
            now = lock_draft(draft)
            check_publishable(now, now.message)
            if not copied.case_count:
                raise DraftError("No case would be left. A version needs at least one.")
            _finish(now, version, copied, by)
    except BaseException:
        import_cleanup.remove_version(version)
        Draft.objects.filter(pk=draft.pk).update(is_publishing=False)
        raise
    draft.refresh_from_db()
    return version


def publish_contents(
    base: DatasetVersion,
    contents: Mapping[str, Sequence[str | None]],
    message: str,
    by: User | None,
    finish: Callable[[DatasetVersion], None],
    *,
    source: str = "",
    report: ReportShare = ignore_share,
) -> DatasetVersion:
    """The cases of `base` with these contents by key, as the dataset's next version.

    An open draft stays as it is; it is behind then, and `rebase_draft` moves it. `finish` is called
    in the transaction that publishes: if it raises, nothing is stored. `source` says where the
    cases come from, and `report` takes the share of them that is stored. Raises DraftError where
    another version was published meanwhile.
    """
    version = DatasetVersion.with_loading.create(
        dataset=base.dataset,
        created_by=by,
        source_name=source,
        message=message,
    )
    try:
        copied = case_copy.store_copies(version, _replace_contents(base, contents, report))
        with transaction.atomic():
            now = Dataset.objects.select_for_update(of=("self",)).select_related("latest", "team")
            version.dataset = now.get(pk=base.dataset_id)
            if version.dataset.latest_id != base.pk:
                raise DraftError("Another version was published meanwhile. Nothing was changed.")
            version.publish(content_hash=copied.content_hash, case_count=copied.case_count)
            near_duplicates.enqueue_search(version)
            new = {"version": version.number, "message": message, "edit": len(contents)}
            dataset = version.dataset
            AuditEntry.objects.record(dataset.team, by, "version.created", dataset, new=new)
            finish(version)
    except BaseException:
        import_cleanup.remove_version(version)
        raise
    return version


def _replace_contents(
    base: DatasetVersion, contents: Mapping[str, Sequence[str | None]], report: ReportShare
) -> Iterator[case_copy.KeyedCase]:
    for number, case in enumerate(case_copy.iterate_cases(base)):
        if number % _REPORTED == 0:
            report(number / base.case_count)
        content = contents.get(case[0])
        yield (case[0], *content) if content else case  # type: ignore[misc]


def source_name(draft: Draft) -> str:
    """Where the cases of its version come from, in words."""
    return f"edits of version {draft.based_on.number}"


def rebase_draft(draft: Draft, by: User | None) -> int:
    """Move the edits onto the dataset's latest version; returns how many conflict with a change
    there. These are marked, and must be saved again before the draft is published.
    """
    with transaction.atomic():
        now = lock_draft(draft)
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
    """Move one edit onto the case as it is in the new version; delete one that changes nothing."""
    is_deletion = edit.kind == EditKind.DELETE
    if new is None if is_deletion else new is not None and new.content == edit.content:
        edit.delete()
        return
    if not is_deletion:
        edit.kind = EditKind.ADD if new is None else EditKind.EDIT
    edit.is_conflict |= (old and old.content) != (new and new.content)
    edit.save()


def lock_draft(draft: Draft) -> Draft:
    """The open draft as it is now, for this transaction alone. Raises DraftError."""
    drafts = Draft.objects.select_for_update(of=("self",))
    now = drafts.select_related("dataset__team", "dataset__latest", "based_on").get(pk=draft.pk)
    if not now.is_open:
        raise DraftError(f"The draft was {now.state} meanwhile.")
    return now


def check_publishable(draft: Draft, message: str) -> None:
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


def _merge(draft: Draft) -> Iterator[case_copy.KeyedCase]:
    """The version's cases with the edits applied, then the added ones."""
    edits = {edit.key: edit for edit in draft.edits.all()}
    for case in case_copy.iterate_cases(draft.based_on):
        edit = edits.get(case[0])
        if edit is None:
            yield case
        elif edit.kind == EditKind.EDIT:
            yield _keyed(edit)
    for edit in edits.values():
        if edit.kind == EditKind.ADD:
            yield _keyed(edit)


def _keyed(edit: DraftEdit) -> case_copy.KeyedCase:
    return (edit.key, *edit.content)  # type: ignore[return-value]


def _finish(
    draft: Draft, version: DatasetVersion, copied: case_copy.CopyResult, by: User | None
) -> None:
    version.dataset, version.message = draft.dataset, draft.message
    version.publish(content_hash=copied.content_hash, case_count=copied.case_count)
    near_duplicates.enqueue_search(version)
    draft.state, draft.published, draft.is_publishing = DraftState.PUBLISHED, version, False
    draft.save(update_fields=["state", "published", "is_publishing"])
    counts = {kind.value: draft.edits.filter(kind=kind).count() for kind in EditKind}
    new = {"version": version.number, "message": draft.message, **counts}
    AuditEntry.objects.record(draft.dataset.team, by, "version.created", draft.dataset, new=new)


def _cases_of(draft: Draft, version: DatasetVersion) -> dict[str, Case]:
    """The version's cases that the draft edits, by key."""
    keys = draft.edits.order_by().values("key")
    return {case.key: case for case in Case.objects.filter(version=version, key__in=keys)}
