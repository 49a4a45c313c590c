"""Adds a tag to many cases of a draft, or removes it, in a way that can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.drafts.case_content import Content, TypedCase, with_tags
from scoring.engine.drafts.edits import draft_cases, lock_draft, open_draft
from scoring.models import Case, Dataset, Draft, DraftEdit, EditKind, User
from scoring.models.data.dataset import CONTENT

_KEYS_PER_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters
_WRITTEN: Final = ("tags_json", "revision", "edited_by", "edited_at")


def tag_cases(
    dataset: Dataset,
    keys: Sequence[str],
    tag: str,
    by: User | None,
    *,
    on: bool = True,
    places: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Add a tag to cases of the dataset's draft, or remove it.

    Returns the keys of the cases that changed, each with the index of the tag among its tags, new
    or former. With `places`, indices by key, it is inserted there, else appended; so one call can
    undo another. Raises ContentError and DraftError.
    """
    TypedCase(None, tags=(tag,)).columns()
    with transaction.atomic():
        draft = open_draft(dataset, by)
        lock_draft(draft)
        changed: dict[str, int] = {}
        distinct = list(dict.fromkeys(keys))
        for start in range(0, len(distinct), _KEYS_PER_QUERY):
            chunk = distinct[start : start + _KEYS_PER_QUERY]
            changed |= _tag(draft, chunk, tag, by, places if on else None, on=on)
        return changed


def _tag(
    draft: Draft,
    keys: Sequence[str],
    tag: str,
    by: User | None,
    places: Mapping[str, int] | None,
    *,
    on: bool,
) -> dict[str, int]:
    """Two queries read the cases and two write them, however many."""
    bases = {case.key: case for case in draft_cases(draft).filter(key__in=keys)}
    edits = {edit.key: edit for edit in DraftEdit.objects.filter(draft=draft, key__in=keys)}
    changed: dict[str, int] = {}
    contents: dict[str, Content] = {}
    for key in keys:
        row = edits.get(key) or bases.get(key)
        is_deleted = isinstance(row, DraftEdit) and row.kind == EditKind.DELETE
        if row is None or is_deleted or (tag in row.tags) == on:
            continue
        tags = list(row.tags)
        if on:
            changed[key] = min((places or {}).get(key, len(tags)), len(tags))
            tags.insert(changed[key], tag)
        else:
            changed[key] = tags.index(tag)
            tags = [other for other in tags if other != tag]
        contents[key] = with_tags(row.content, tags)  # type: ignore[arg-type]
    _write(draft, bases, edits, contents, by)
    return changed


def _write(
    draft: Draft,
    bases: Mapping[str, Case],
    edits: Mapping[str, DraftEdit],
    contents: Mapping[str, Content],
    by: User | None,
) -> None:
    """Store these contents. What equals the version's own is no edit; a conflict stays marked, for
    nobody saw its texts here.
    """
    originals = {key: TypedCase.of(bases[key]).columns() for key in contents if key in bases}
    reverted = [key for key, content in contents.items() if originals.get(key) == content]
    DraftEdit.objects.filter(draft=draft, key__in=reverted).delete()
    changed = [
        _edit(edits.get(key) or DraftEdit(draft=draft, key=key, revision=0), content, by)
        for key, content in contents.items()
        if originals.get(key) != content
    ]
    DraftEdit.objects.bulk_create(
        changed, update_conflicts=True, unique_fields=("draft", "key"), update_fields=_WRITTEN
    )


def _edit(edit: DraftEdit, content: Content, by: User | None) -> DraftEdit:
    """The edit with this content, to be inserted or to replace the present one; a new one is of a
    case of the version.
    """
    edit.pk = None
    for name, value in zip(CONTENT, content, strict=True):
        setattr(edit, name, value)
    edit.kind = edit.kind or EditKind.EDIT
    edit.revision += 1
    edit.edited_by, edit.edited_at = by, timezone.now()
    return edit
