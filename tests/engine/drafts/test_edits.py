from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import DraftError, EditConflictError, TypedCase
from scoring.models import AuditEntry, Dataset, Draft, DraftEdit, DraftState, EditKind, User
from scoring.models.data.draft import DraftQuerySet
from tests.support.concurrency import call_at_once


def edits(draft: Draft) -> dict[str, str]:
    return dict(DraftEdit.objects.filter(draft=draft).values_list("key", "kind"))


def test_a_save_keeps_the_whole_content(draft: Draft, alice: User) -> None:
    texts = TypedCase("Uno?", {"n": [1, 2.5]}, ("1",), {"lang": "es"}, ("easy", "new", "easy"))
    drafts.save_case(draft, "q1", texts, alice, seen=0)
    edit = DraftEdit.objects.get()
    assert (edit.kind, edit.revision, edit.edited_by) == (EditKind.EDIT, 1, alice)
    assert (edit.input, edit.expected) == ("Uno?", {"n": [1, 2.5]})
    assert (edit.references, edit.metadata, edit.tags) == (["1"], {"lang": "es"}, ["easy", "new"])


def test_what_equals_the_version_is_no_edit(draft: Draft, alice: User) -> None:
    before = TypedCase.of(draft.based_on.cases.get(key="q3"))
    drafts.save_case(draft, "q3", TypedCase("Else?"), alice, seen=0)
    drafts.save_case(draft, "q3", before, alice, seen=1)
    assert edits(draft) == {}


def test_nobody_overwrites_what_they_have_not_seen(draft: Draft, alice: User, bob: User) -> None:
    drafts.save_case(draft, "q1", TypedCase("Alice's"), alice, seen=0)
    with pytest.raises(EditConflictError) as raised:
        drafts.save_case(draft, "q1", TypedCase("Bob's"), bob, seen=0)
    assert raised.value.edit is not None
    assert raised.value.edit.input == "Alice's"
    assert DraftEdit.objects.get().input == "Alice's"
    drafts.save_case(draft, "q1", TypedCase("Bob's"), bob, seen=1)
    assert DraftEdit.objects.get().input == "Bob's"


def test_a_revert_meanwhile_is_not_overwritten_either(draft: Draft, alice: User) -> None:
    drafts.save_case(draft, "q1", TypedCase("Once"), alice, seen=0)
    drafts.revert_case(draft, "q1")
    with pytest.raises(EditConflictError) as raised:
        drafts.save_case(draft, "q1", TypedCase("Twice"), alice, seen=1)
    assert raised.value.edit is None
    assert raised.value.content is not None
    assert raised.value.content.input == "One?"


@pytest.mark.parametrize(
    ("key", "seen_version", "is_stale"),
    [("q1", 1, True), ("q1", 2, False), ("q1", None, False), ("q1", 7, False), ("q2", 1, False)],
)
def test_what_another_version_changed_is_not_overwritten_unseen(
    draft: Draft, dataset: Dataset, alice: User, key: str, seen_version: int | None, is_stale: bool
) -> None:
    drafts.save_case(draft, "q1", TypedCase("Published"), alice, seen=0)
    Draft.objects.update(message="Better")
    draft.refresh_from_db()
    drafts.publish_draft(draft, alice)
    later = drafts.open_draft(Dataset.objects.select_related("latest").get(pk=dataset.pk), alice)
    mine = TypedCase("Mine")
    if not is_stale:
        drafts.save_case(later, key, mine, alice, seen=0, version=seen_version)
        assert edits(later) == {key: "edit"}
        return
    with pytest.raises(EditConflictError) as raised:
        drafts.save_case(later, key, mine, alice, seen=0, version=seen_version)
    assert raised.value.content is not None
    assert raised.value.content.input == "Published"
    assert edits(later) == {}


def test_a_case_that_there_is_not_cannot_be_saved_or_deleted(draft: Draft, alice: User) -> None:
    with pytest.raises(DraftError, match="no case q9"):
        drafts.save_case(draft, "q9", TypedCase("?"), alice, seen=0)
    with pytest.raises(DraftError, match="no case q9"):
        drafts.delete_case(draft, "q9", alice)


def test_an_added_case_gets_the_key_of_its_input(draft: Draft, alice: User) -> None:
    first = drafts.add_case(draft, TypedCase("New?"), alice)
    second = drafts.add_case(draft, TypedCase("New?"), alice)
    assert len(first) == 16
    assert second == f"{first}#2"
    assert edits(draft) == {first: "add", second: "add"}


@pytest.mark.parametrize("key", ["q1", "mine", "k" * 201])
def test_a_key_that_is_taken_or_too_long_is_refused(draft: Draft, alice: User, key: str) -> None:
    drafts.add_case(draft, TypedCase("?"), alice, key="mine")
    with pytest.raises(DraftError):
        drafts.add_case(draft, TypedCase("?"), alice, key=key)


def test_an_added_case_that_is_deleted_leaves_nothing(draft: Draft, alice: User) -> None:
    drafts.add_case(draft, TypedCase("?"), alice, key="mine")
    drafts.delete_case(draft, "mine", alice)
    drafts.delete_case(draft, "q1", alice)
    assert edits(draft) == {"q1": "delete"}
    drafts.revert_case(draft, "q1")
    assert edits(draft) == {}


def test_a_discarded_draft_comes_back(dataset: Dataset, draft: Draft, alice: User) -> None:
    drafts.delete_case(draft, "q1", alice)
    drafts.discard_draft(draft, alice)
    assert Draft.objects.open_of(dataset) is None
    with pytest.raises(DraftError, match="discarded meanwhile"):
        drafts.delete_case(draft, "q2", alice)
    drafts.restore_draft(draft, alice)
    assert Draft.objects.open_of(dataset) == draft
    actions = AuditEntry.objects.filter(action__startswith="draft").order_by("pk")
    assert list(actions.values_list("action", "new__edits")) == [
        ("draft.discarded", 1),
        ("draft.restored", 1),
    ]


def test_a_discarded_draft_stays_away_while_there_is_another(
    dataset: Dataset, draft: Draft, alice: User
) -> None:
    drafts.discard_draft(draft, alice)
    drafts.open_draft(dataset, alice)
    with pytest.raises(DraftError, match="another draft"):
        drafts.restore_draft(draft, alice)


def test_a_dataset_that_is_loading_has_no_draft(team: object, alice: User) -> None:
    bare = Dataset.objects.create(team=team, name="Bare")
    with pytest.raises(DraftError, match="no version yet"):
        drafts.open_draft(bare, alice)


@pytest.mark.django_db(transaction=True)
def test_a_discarded_draft_stays_away_where_another_is_begun_in_that_moment(
    dataset: Dataset, draft: Draft, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_none(*_: object) -> None:
        """As it was before a colleague begins another, on a connection of their own."""
        call_at_once(lambda: drafts.open_draft(dataset, alice), 1)

    drafts.discard_draft(draft, alice)
    monkeypatch.setattr(DraftQuerySet, "open_of", find_none)
    with pytest.raises(DraftError, match="another draft"):
        drafts.restore_draft(draft, alice)
    assert Draft.objects.get(state=DraftState.OPEN) != draft
