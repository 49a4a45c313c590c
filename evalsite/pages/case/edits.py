"""What was edited in a case between the dataset versions of two runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scoring.core.shown import Shown, readable, shown, written, written_alike
from scoring.core.sides import compared
from scoring.models import Case
from scoring.models.version_changes import ChangedCase


class Edit(NamedTuple):
    """One of the case's texts, with what is gone and what is new; `note` where one side has none.

    `name` is that by which the new text is opened whole.
    """

    name: str
    title: str
    text: Shown
    note: str = ""


def edits_of(old: Case, new: Case) -> list[Edit]:
    """Input and expected as far as they differ; the same that makes a pair `edited`."""
    return [*_input(old, new), *_expected(old, new)]


def every_edit(change: ChangedCase) -> list[Edit]:
    """What two versions tell apart in a case; of one that only one version has its texts."""
    old, new = change.old, change.new
    if old is None or new is None:
        there = next(case for case in (old, new) if case is not None)
        texts = [Edit("input", "Input", shown(written(there.input)))]
        if there.has_expected:
            texts.append(Edit("expected", "Expected", shown(written(there.expected))))
        return texts
    return [*edits_of(old, new), *_rest(old, new)]


def _rest(old: Case, new: Case) -> Iterator[Edit]:
    if old.references_json != new.references_json:
        yield Edit("references", "References", _both(old.references_json, new.references_json))
    if old.metadata_json != new.metadata_json:
        yield Edit("metadata", "Metadata", _both(old.metadata_json, new.metadata_json))
    if old.tags_json != new.tags_json:
        yield Edit("tags", "Tags", compared(", ".join(old.tags), ", ".join(new.tags), "word"))


def _input(old: Case, new: Case) -> Iterator[Edit]:
    if old.input_json != new.input_json:
        yield Edit("input", "Input", _both(old.input_json, new.input_json))


def _expected(old: Case, new: Case) -> Iterator[Edit]:
    before, after = old.expected_json, new.expected_json
    if before == after:
        return
    if before is not None and after is not None:
        yield Edit("expected", "Expected", _both(before, after))
        return
    note = "Nothing was expected." if before is None else "Nothing is expected any more; it was:"
    there = readable(before or after or "null")
    yield Edit("expected", "Expected", shown(written(there)), note)


def _both(old_json: str, new_json: str) -> Shown:
    """Values that are both JSON line by line, other texts by words."""
    old, new = readable(old_json), readable(new_json)
    if alike := written_alike(old, new):
        return compared(*alike, "line")
    return compared(written(old), written(new), "word")
