"""A tag on many cases of a draft at once, or off them, and back to where it stood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from django.db import transaction
from django.utils import timezone

from scoring.engine.drafts.content import CaseTexts, Content, with_tags
from scoring.engine.drafts.edits import begin, cases_of, lock
from scoring.models import Case, Dataset, Draft, DraftEdit, EditKind, User
from scoring.models.dataset import CONTENT

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
    """Put a tag on cases of the dataset's draft, or take it off.

    Comes back with the keys of the cases that this changed, each with the place of the tag among
    its tags, from 0: where it stands now, or stood. With `places`, by key, it is put there, else
    behind the others; so what one call did another undoes. Raises ContentError and DraftError.
    """
    CaseTexts(None, tags=(tag,)).columns()
    with transaction.atomic():
        draft = begin(dataset, by)
        lock(draft)
        changed: dict[str, int] = {}
        for some in _parts(keys):
            changed |= _tag(draft, some, tag, by, places if on else None, on=on)
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
    bases = {case.key: case for case in cases_of(draft).filter(key__in=keys)}
    edits = {edit.key: edit for edit in DraftEdit.objects.filter(draft=draft, key__in=keys)}
    changed: dict[str, int] = {}
    contents: dict[str, Content] = {}
    for key in keys:
        row = edits.get(key) or bases.get(key)
        if row is None or _is_deleted(row) or (tag in row.tags) == on:
            continue
        place = min((places or {}).get(key, len(row.tags)), len(row.tags))
        changed[key] = place if on else row.tags.index(tag)
        rest = [each for each in row.tags if each != tag]
        tags = [*rest[:place], tag, *rest[place:]] if on else rest
        contents[key] = with_tags(row.content, tags)  # type: ignore[arg-type]
    _write(draft, bases, edits, contents, by)
    return changed


def _is_deleted(row: Case | DraftEdit) -> bool:
    return isinstance(row, DraftEdit) and row.kind == EditKind.DELETE


def _write(
    draft: Draft,
    bases: Mapping[str, Case],
    edits: Mapping[str, DraftEdit],
    contents: Mapping[str, Content],
    by: User | None,
) -> None:
    """Keep these contents. What equals the version's own is no edit; one that met another version
    stays to be looked at, for nobody saw its texts here.
    """
    of_version = {key: CaseTexts.of(bases[key]).columns() for key in contents if key in bases}
    gone = [key for key, content in contents.items() if of_version.get(key) == content]
    DraftEdit.objects.filter(draft=draft, key__in=gone).delete()
    kept = [
        _edit(edits.get(key) or DraftEdit(draft=draft, key=key, revision=0), content, by)
        for key, content in contents.items()
        if of_version.get(key) != content
    ]
    DraftEdit.objects.bulk_create(
        kept, update_conflicts=True, unique_fields=("draft", "key"), update_fields=_WRITTEN
    )


def _edit(edit: DraftEdit, content: Content, by: User | None) -> DraftEdit:
    """The edit with this content, to be written beside or over the one that there is; one that the
    draft had not is of a case of the version.
    """
    edit.pk = None
    for name, value in zip(CONTENT, content, strict=True):
        setattr(edit, name, value)
    edit.kind = edit.kind or EditKind.EDIT
    edit.revision += 1
    edit.edited_by, edit.edited_at = by, timezone.now()
    return edit


def _parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), _KEYS_PER_QUERY):
        yield distinct[start : start + _KEYS_PER_QUERY]
