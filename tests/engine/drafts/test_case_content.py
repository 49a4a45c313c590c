"""What a case holds, and what no case may."""

from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import ContentError, TypedCase
from scoring.models import Draft, DraftEdit, User
from tests.engine.drafts.test_edits import edits


def test_absent_null_and_empty_stay_apart(draft: Draft, alice: User) -> None:
    for seen, expected in enumerate([TypedCase("?").expected, None, ""]):
        drafts.save_case(draft, "q1", TypedCase("?", expected), alice, seen)
        edit = DraftEdit.objects.get()
        assert edit.expected_json == {0: None, 1: "null", 2: '""'}[seen]


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (TypedCase("a\0b"), "input"),
        (TypedCase("?", "\ud800"), "expected"),
        (TypedCase("?", float("inf")), "expected"),
        (TypedCase("?", metadata={"k": "a\0"}), "metadata"),
        (TypedCase("?", tags=("a\0",)), "tags"),
        (TypedCase("x" * (1024 * 1024 + 1)), "input"),
    ],
)
def test_what_no_file_may_hold_no_edit_may(
    draft: Draft, alice: User, texts: TypedCase, field: str
) -> None:
    with pytest.raises(ContentError) as raised:
        drafts.save_case(draft, "q1", texts, alice, seen=0)
    assert list(raised.value.problems) == [field]
    assert edits(draft) == {}
