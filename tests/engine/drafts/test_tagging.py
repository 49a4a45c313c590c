from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError, TypedCase, tagging
from scoring.models import Dataset, Draft, DraftEdit, User
from tests.conftest import MakeDataset

TAGS: Mapping[str, Sequence[str]] = {
    "none": [],
    "first": ["t", "a", "b"],
    "last": ["a", "b", "t"],
    "amid": ["a", "t", "b"],
    "alone": ["t"],
    "other": ["a", "b"],
}


@pytest.fixture
def tagged(make_dataset: MakeDataset) -> Dataset:
    version = make_dataset([{"key": key, "input": "?", "tags": tags} for key, tags in TAGS.items()])
    return Dataset.objects.select_related("latest", "team").get(pk=version.dataset_id)


def done(dataset: Dataset) -> list[tuple[object, ...]]:
    """What the draft does, case by case."""
    edits = DraftEdit.objects.filter(draft__dataset=dataset).order_by("key")
    return [(edit.key, edit.kind, *edit.content) for edit in edits]


def now(dataset: Dataset) -> dict[str, list[str]]:
    return {edit.key: edit.tags for edit in DraftEdit.objects.filter(draft__dataset=dataset)}


def test_tags_go_on_and_off_many_cases(dataset: Dataset, draft: Draft, alice: User) -> None:
    drafts.delete_case(draft, "q3", alice)
    keys = ["q1", "q2", "q3", "nowhere", "q1"]
    assert drafts.tag_cases(dataset, keys, "hard", alice) == {"q1": 1, "q2": 0}
    tags = {edit.key: edit.tags for edit in draft.edits.exclude(kind="delete")}
    assert tags == {"q1": ["easy", "hard"], "q2": ["hard"]}
    assert drafts.tag_cases(dataset, keys, "hard", alice) == {}
    assert drafts.tag_cases(dataset, ["q1", "q2"], "hard", alice, on=False) == {"q1": 1, "q2": 0}
    assert [edit.key for edit in draft.edits.all()] == ["q3"]


def test_a_tag_taken_off_comes_back_to_its_place(tagged: Dataset, alice: User) -> None:
    changed = drafts.tag_cases(tagged, list(TAGS), "t", alice, on=False)
    assert changed == {"first": 0, "last": 2, "amid": 1, "alone": 0}
    assert now(tagged) == {"first": ["a", "b"], "last": ["a", "b"], "amid": ["a", "b"], "alone": []}
    drafts.tag_cases(tagged, list(changed), "t", alice, places=changed)
    assert done(tagged) == []


@pytest.mark.parametrize("on", [True, False])
def test_what_was_done_to_edited_and_added_cases_is_undone(
    tagged: Dataset, alice: User, on: bool
) -> None:
    draft = drafts.open_draft(tagged, alice)
    drafts.save_case(draft, "first", TypedCase("Edited?", tags=("x", "t", "y")), alice, seen=0)
    drafts.save_case(draft, "other", TypedCase("Edited?", "so", ("r",), {"n": 1}), alice, seen=0)
    drafts.add_case(draft, TypedCase("Added?", tags=("t", "z")), alice, key="added")
    drafts.add_case(draft, TypedCase("Added?"), alice, key="added too")
    before, keys = done(tagged), [*TAGS, "added", "added too"]
    changed = drafts.tag_cases(tagged, keys, "t", alice, on=on)
    assert done(tagged) != before
    drafts.tag_cases(tagged, list(changed), "t", alice, on=not on, places=changed)
    assert done(tagged) == before


def test_a_place_beyond_the_last_is_the_last(tagged: Dataset, alice: User) -> None:
    drafts.tag_cases(tagged, ["other", "none"], "t", alice, places={"other": 9, "none": 9})
    assert now(tagged) == {"other": ["a", "b", "t"], "none": ["t"]}


def test_edits_stand_in_the_order_of_the_cases_that_were_tagged(
    tagged: Dataset, alice: User
) -> None:
    keys = ["other", "none", "amid"]
    drafts.tag_cases(tagged, keys, "new", alice)
    assert list(DraftEdit.objects.values_list("key", flat=True)) == keys


def test_each_tagging_is_a_save_that_others_notice(tagged: Dataset, alice: User, bob: User) -> None:
    drafts.tag_cases(tagged, ["other"], "new", alice)
    drafts.tag_cases(tagged, ["other"], "newer", bob)
    edit = DraftEdit.objects.get()
    assert (edit.revision, edit.edited_by) == (2, bob)
    with pytest.raises(drafts.EditConflictError):
        drafts.save_case(edit.draft, "other", TypedCase("Mine"), alice, seen=1)


def test_a_tag_does_not_settle_what_changed_in_another_version_too(
    tagged: Dataset, alice: User
) -> None:
    """Whoever tags many cases saw none of their texts."""
    draft = drafts.open_draft(tagged, alice)
    drafts.save_case(draft, "other", TypedCase("Mine?"), alice, seen=0)
    DraftEdit.objects.update(is_conflict=True)
    drafts.tag_cases(tagged, ["other"], "new", alice)
    assert DraftEdit.objects.get().is_conflict


@pytest.mark.parametrize("tag", ["a\0", "\ud800"])
def test_a_tag_that_no_file_may_hold_begins_no_draft(
    tagged: Dataset, alice: User, tag: str
) -> None:
    with pytest.raises(ContentError):
        drafts.tag_cases(tagged, ["other"], tag, alice)
    assert not Draft.objects.exists()


def test_a_draft_that_is_being_published_takes_no_tag(tagged: Dataset, alice: User) -> None:
    drafts.open_draft(tagged, alice)
    Draft.objects.update(is_publishing=True)
    with pytest.raises(DraftError, match="being published"):
        drafts.tag_cases(tagged, ["other"], "new", alice)


@pytest.mark.parametrize("count", [1, 50])
def test_many_cases_take_as_many_queries_as_one(
    make_dataset: MakeDataset, django_assert_max_num_queries: object, alice: User, count: int
) -> None:
    keys = [f"k{n}" for n in range(count)]
    many = make_dataset([{"key": key} for key in keys], name="Many").dataset
    drafts.open_draft(many, alice)
    with django_assert_max_num_queries(25):  # type: ignore[operator]
        assert len(drafts.tag_cases(many, keys, "t", alice)) == count


def test_more_cases_are_tagged_than_one_query_holds(
    make_dataset: MakeDataset, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tagging, "_KEYS_PER_QUERY", 3)
    keys = [f"k{n}" for n in range(7)]
    many = make_dataset([{"key": key} for key in keys], name="Many").dataset
    assert len(drafts.tag_cases(many, keys, "t", alice)) == 7
    changed = drafts.tag_cases(many, keys, "u", alice)
    assert set(changed.values()) == {1}
    assert len(drafts.tag_cases(many, keys, "t", alice, on=False)) == 7
    assert now(many)["k6"] == ["u"]
