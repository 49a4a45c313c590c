"""What a case holds, and what no case may."""

from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import CaseTexts, ContentError
from scoring.models import Draft, DraftEdit, User
from tests.engine.drafts.test_edits import edits


def test_absent_null_and_empty_stay_apart(draft: Draft, alice: User) -> None:
    for seen, expected in enumerate([CaseTexts("?").expected, None, ""]):
        drafts.save_case(draft, "q1", CaseTexts("?", expected), alice, seen)
        edit = DraftEdit.objects.get()
        assert edit.expected_json == {0: None, 1: "null", 2: '""'}[seen]


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (CaseTexts("a\0b"), "input"),
        (CaseTexts("?", "\ud800"), "expected"),
        (CaseTexts("?", float("inf")), "expected"),
        (CaseTexts("?", metadata={"k": "a\0"}), "metadata"),
        (CaseTexts("?", tags=("a\0",)), "tags"),
        (CaseTexts("x" * (1024 * 1024 + 1)), "input"),
    ],
)
def test_what_no_file_may_hold_no_edit_may(
    draft: Draft, alice: User, texts: CaseTexts, field: str
) -> None:
    with pytest.raises(ContentError) as raised:
        drafts.save_case(draft, "q1", texts, alice, seen=0)
    assert list(raised.value.problems) == [field]
    assert edits(draft) == {}
