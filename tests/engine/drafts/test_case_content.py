"""What a case holds, and what no case may."""

from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import ContentError, EditedCase
from scoring.models import Draft, DraftEdit, User
from tests.engine.drafts.test_edits import edits


def test_absent_null_and_empty_stay_apart(draft: Draft, alice: User) -> None:
    for seen, expected in enumerate([EditedCase("?").expected, None, ""]):
        drafts.save_case(draft, "q1", EditedCase("?", expected), alice, seen)
        edit = DraftEdit.objects.get()
        assert edit.expected_json == {0: None, 1: "null", 2: '""'}[seen]


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (EditedCase("a\0b"), "input"),
        (EditedCase("?", "\ud800"), "expected"),
        (EditedCase("?", float("inf")), "expected"),
        (EditedCase("?", metadata={"k": "a\0"}), "metadata"),
        (EditedCase("?", tags=("a\0",)), "tags"),
        (EditedCase("x" * (1024 * 1024 + 1)), "input"),
    ],
)
def test_what_no_file_may_hold_no_edit_may(
    draft: Draft, alice: User, texts: EditedCase, field: str
) -> None:
    with pytest.raises(ContentError) as raised:
        drafts.save_case(draft, "q1", texts, alice, seen=0)
    assert list(raised.value.problems) == [field]
    assert edits(draft) == {}
