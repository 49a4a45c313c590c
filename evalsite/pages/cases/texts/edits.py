"""What was edited in a case between the dataset versions of two runs."""

from __future__ import annotations

from typing import NamedTuple

from scoring.core.textdiff.side_by_side import mark_differences
from scoring.core.textdiff.text_layout import (
    TextLayout,
    display_text,
    layout_text,
    normalize_pair,
    parse_for_display,
)
from scoring.models import Case
from scoring.models.data.version_changes import ChangedCase


class TextEdit(NamedTuple):
    """One of the case's texts, with what is gone and what is new; `note` where one side has none.

    `name` is that by which the new text is opened whole.
    """

    name: str
    title: str
    text: TextLayout
    note: str = ""


def text_edits(old: Case, new: Case) -> list[TextEdit]:
    """Input and expected as far as they differ; the same that makes a pair `edited`."""
    edits = _compare("input", old.input_json, new.input_json)
    before, after = old.expected_json, new.expected_json
    if before is not None and after is not None:
        return edits + _compare("expected", before, after)
    if before == after:
        return edits
    note = "Nothing was expected." if before is None else "Nothing is expected any more; it was:"
    text = layout_text(display_text(parse_for_display(before or after or "null")))
    return [*edits, TextEdit("expected", "Expected", text, note)]


def list_edits(change: ChangedCase) -> list[TextEdit]:
    """The edits between two versions of a case; of a case in one version alone, its texts."""
    old, new = change.old, change.new
    if old and new:
        edits = text_edits(old, new)
        edits += _compare("references", old.references_json, new.references_json)
        edits += _compare("metadata", old.metadata_json, new.metadata_json)
        if old.tags_json != new.tags_json:
            tags = mark_differences(", ".join(old.tags), ", ".join(new.tags), "word")
            edits.append(TextEdit("tags", "Tags", tags))
        return edits
    case = old or new
    if case is None:
        return []
    edits = [TextEdit("input", "Input", layout_text(display_text(case.input)))]
    if case.has_expected:
        edits.append(TextEdit("expected", "Expected", layout_text(display_text(case.expected))))
    return edits


def _compare(name: str, old_json: str, new_json: str) -> list[TextEdit]:
    """The edit of a text; none where nothing differs."""
    if old_json == new_json:
        return []
    return [TextEdit(name, name.capitalize(), _mark_edit(old_json, new_json))]


def _mark_edit(old_json: str, new_json: str) -> TextLayout:
    """Values that are both JSON line by line, other texts by words."""
    old, new = parse_for_display(old_json), parse_for_display(new_json)
    if alike := normalize_pair(old, new):
        return mark_differences(*alike, "line")
    return mark_differences(display_text(old), display_text(new), "word")
