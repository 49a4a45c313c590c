"""Edits in a dataset's open draft: one row each, and none overwrites a change nobody saw."""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from scoring.core.files.case_keys import case_key
from scoring.engine.drafts.case_content import Content, TypedCase
from scoring.models import AuditEntry, Case, Dataset, Draft, DraftEdit, DraftState, EditKind, User
from scoring.models.data.dataset import CONTENT, KEY_LENGTH

_ANOTHER: Final = "There is another draft already. Publish or discard that one first."
_NOTHING: Final[Content] = ("null", None, "[]", "{}", "[]")


class DraftError(Exception):
    """The edit is not possible; the text says why and what to do."""


class EditConflictError(DraftError):
    """Somebody changed the case meanwhile: `edit` is the draft's present edit of it, if any, and
    `content` what was changed, in the draft or by another version.
    """

    def __init__(self, edit: DraftEdit | None, content: DraftEdit | Case | None) -> None:
        self.edit, self.content = edit, content
        who: User | str = "Somebody"
        if isinstance(content, DraftEdit):
            who = content.edited_by or "A former member"
        super().__init__(
            f"{who} changed this case meanwhile. Both are shown: save again to keep yours."
        )


def open_draft(dataset: Dataset, by: User | None) -> Draft:
    """The dataset's open draft, begun on its latest version if there is none.

    Raises DraftError for a dataset without a version.
    """
    if dataset.latest is None:
        raise DraftError("The dataset has no version yet. Upload its first one.")
    draft, _ = Draft.objects.get_or_create(
        dataset=dataset,
        state=DraftState.OPEN,
        defaults={"based_on": dataset.latest, "created_by": by},
    )
    return draft


def save_case(
    draft: Draft,
    key: str,
    texts: TypedCase,
    by: User | None,
    seen: int,
    version: int | None = None,
) -> None:
    """Make this the content of a case of the draft; `seen` is the revision the person saw, 0
    for the version's own, and `version` the number of the version that the draft edited then.

    What equals the version's content is no edit. Raises ContentError, DraftError for an unknown
    case, and EditConflictError.
    """
    content = texts.columns()
    with transaction.atomic():
        lock_draft(draft)
        edit = _edit_of(draft, key)
        base = _base_of(draft, key)
        if edit is None and base is None:
            raise DraftError(f"There is no case {key} in this draft.")
        if (edit.revision if edit else 0) != seen:
            raise EditConflictError(edit, edit or base)
        if base is not None and version is not None and _has_changed_since(version, draft, base):
            raise EditConflictError(edit, base)
        if base is not None and TypedCase.of(base).columns() == content:
            DraftEdit.objects.filter(draft=draft, key=key).delete()
            return
        _save_edit(draft, key, EditKind.EDIT if base else EditKind.ADD, content, by)


def add_case(draft: Draft, texts: TypedCase, by: User | None, key: str = "") -> str:
    """A new case at the end, under this key or the hash of its input; returns the key.

    Raises ContentError, and DraftError for a key that is taken or too long.
    """
    content = texts.columns()
    key = key.strip()
    if len(key) > KEY_LENGTH:
        raise DraftError(f"The key is {len(key):,} characters long; {KEY_LENGTH} are possible.")
    with transaction.atomic():
        lock_draft(draft)
        if key and _is_taken(draft, key):
            raise DraftError(f"There is a case {key} already. Give this one a key of its own.")
        key = key or _free_key(draft, case_key(texts.input))
        _save_edit(draft, key, EditKind.ADD, content, by)
    return key


def delete_case(draft: Draft, key: str, by: User | None) -> None:
    """Delete a case; one that the draft added is removed from it. Raises DraftError."""
    with transaction.atomic():
        lock_draft(draft)
        if _base_of(draft, key) is not None:
            _save_edit(draft, key, EditKind.DELETE, _NOTHING, by)
        elif not DraftEdit.objects.filter(draft=draft, key=key).delete()[0]:
            raise DraftError(f"There is no case {key} in this draft.")


def revert_case(draft: Draft, key: str) -> None:
    """Undo the draft's edit of one case."""
    with transaction.atomic():
        lock_draft(draft)
        DraftEdit.objects.filter(draft=draft, key=key).delete()


def discard_draft(draft: Draft, by: User | None) -> None:
    """Discard the draft; `restore_draft` brings it back while there is no other."""
    with transaction.atomic():
        lock_draft(draft)
        draft.state, draft.discarded_at = DraftState.DISCARDED, timezone.now()
        draft.save(update_fields=["state", "discarded_at"])
        _record(draft, by, "draft.discarded")


def restore_draft(draft: Draft, by: User | None) -> None:
    """Bring a discarded draft back. Raises DraftError once there is another."""
    if Draft.objects.open_of(draft.dataset) is not None:
        raise DraftError(_ANOTHER)
    try:
        with transaction.atomic():
            if Draft.objects.select_for_update().get(pk=draft.pk).state != DraftState.DISCARDED:
                raise DraftError("Only a discarded draft can be brought back.")
            draft.state, draft.discarded_at = DraftState.OPEN, None
            draft.save(update_fields=["state", "discarded_at"])
            _record(draft, by, "draft.restored")
    except IntegrityError:  # somebody has just begun one
        raise DraftError(_ANOTHER) from None


def _record(draft: Draft, by: User | None, action: str) -> None:
    new = {"version": draft.based_on.number, "edits": draft.edits.count()}
    AuditEntry.objects.record(draft.dataset.team, by, action, draft.dataset, new=new)


def lock_draft(draft: Draft) -> None:
    """Lock the draft until the transaction ends. Raises DraftError unless it can be edited."""
    now = Draft.objects.select_for_update().get(pk=draft.pk)
    if not now.is_open:
        raise DraftError(f"The draft was {now.state} meanwhile. Begin another.")
    if now.is_publishing:
        raise DraftError("The draft is being published. Edit the new version in a moment.")


def _save_edit(draft: Draft, key: str, kind: EditKind, content: Content, by: User | None) -> None:
    edit = _edit_of(draft, key) or DraftEdit(draft=draft, key=key, revision=0)
    for name, value in zip(CONTENT, content, strict=True):
        setattr(edit, name, value)
    edit.kind, edit.edited_by, edit.is_conflict = kind, by, False
    edit.revision += 1
    edit.save()


def draft_cases(draft: Draft) -> QuerySet[Case]:
    return Case.objects.filter(version=draft.based_on_id).order_by()


def _base_of(draft: Draft, key: str) -> Case | None:
    return draft_cases(draft).filter(key=key).first()


def _has_changed_since(version: int, draft: Draft, base: Case) -> bool:
    """Whether the version of this number had other texts of the case."""
    if version == draft.based_on.number:
        return False
    cases = Case.objects.filter(version__dataset=draft.dataset_id, version__number=version)
    case = cases.filter(key=base.key).first()
    return case is not None and case.content != base.content


def _edit_of(draft: Draft, key: str) -> DraftEdit | None:
    return DraftEdit.objects.filter(draft=draft, key=key).select_related("edited_by").first()


def _is_taken(draft: Draft, key: str) -> bool:
    return _base_of(draft, key) is not None or _edit_of(draft, key) is not None


def _free_key(draft: Draft, key: str) -> str:
    """The key, or the next numbered one that is free: key#2, key#3."""
    free, number = key, 1
    while _is_taken(draft, free):
        number += 1
        free = f"{key}#{number}"
    return free
