from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import DraftError, TypedCase, jobs
from scoring.models import AuditEntry, Case, DatasetVersion, Draft, DraftState, User
from tests.conftest import MakeDataset
from tests.engine.drafts.conftest import CASES, contents


def edited(draft: Draft, by: User) -> None:
    drafts.save_case(draft, "q1", TypedCase("Uno?", "1"), by, seen=0)
    drafts.delete_case(draft, "q2", by)
    drafts.add_case(draft, TypedCase("Four?", "4", tags=("new",)), by, key="q4")


def publish(draft: Draft, by: User, message: str = "Why") -> DatasetVersion:
    """At once, as a small draft is."""
    version = jobs.publish_or_enqueue(draft, message, by)
    assert version is not None
    return version


def test_a_published_draft_is_the_next_version(draft: Draft, alice: User) -> None:
    edited(draft, alice)
    version = publish(draft, alice, " Fixed the labels ")
    assert (version.number, version.case_count) == (2, 3)
    assert (version.message, version.source_name) == ("Fixed the labels", "edits of version 1")
    assert contents(version) == {
        "q1": ("Uno?", "1", []),
        "q3": ("Three?", None, []),
        "q4": ("Four?", "4", ["new"]),
    }
    assert [case.position for case in version.cases.all()] == [1, 2, 3]
    draft.refresh_from_db()
    assert (draft.state, draft.published) == (DraftState.PUBLISHED, version)
    assert draft.dataset.latest == version
    entry = AuditEntry.objects.get(action="version.created")
    counts = {"add": 1, "edit": 1, "delete": 1}
    assert entry.actor == alice
    assert entry.new == {"version": 2, "message": "Fixed the labels", **counts}


def test_the_version_before_stays_as_it_was(
    draft: Draft, version: DatasetVersion, alice: User
) -> None:
    before = list(Case.objects.filter(version=version).values())
    edited(draft, alice)
    jobs.publish_or_enqueue(draft, "Why", alice)
    assert list(Case.objects.filter(version=version).values()) == before


@pytest.mark.parametrize("message", ["", "  \n"])
def test_a_message_is_needed(draft: Draft, alice: User, message: str) -> None:
    edited(draft, alice)
    with pytest.raises(DraftError, match="few words"):
        jobs.publish_or_enqueue(draft, message, alice)


def test_nothing_changed_is_no_version(draft: Draft, alice: User) -> None:
    with pytest.raises(DraftError, match="Nothing was changed"):
        jobs.publish_or_enqueue(draft, "Why", alice)


def test_a_version_needs_a_case(draft: Draft, alice: User) -> None:
    for case in CASES:
        drafts.delete_case(draft, case["key"], alice)
    with pytest.raises(DraftError, match="at least one"):
        jobs.publish_or_enqueue(draft, "Why", alice)
    draft.refresh_from_db()
    assert (draft.is_open, draft.is_publishing) == (True, False)
    assert DatasetVersion.with_loading.count() == 1


# Another version meanwhile


def another(make_dataset: MakeDataset, **changes: dict[str, object]) -> DatasetVersion:
    """A version with these cases changed; None leaves one out."""
    cases = [{**case, **changes.get(case["key"], {})} for case in CASES]
    return make_dataset([case for case in cases if not case.get("gone")])


def test_a_draft_that_is_behind_is_not_published(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    another(make_dataset, q3={"input": "Drei?"})
    with pytest.raises(DraftError, match="Version 2 was published meanwhile"):
        jobs.publish_or_enqueue(draft, "Why", alice)


def test_moved_onto_it_both_changes_are_there(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    another(make_dataset, q3={"input": "Drei?"})
    assert drafts.rebase_draft(draft, alice) == 0
    texts = {key: content[0] for key, content in contents(publish(draft, alice)).items()}
    assert texts == {"q1": "Uno?", "q3": "Drei?", "q4": "Four?"}


def test_a_case_that_changed_in_both_is_saved_again_first(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    another(make_dataset, q1={"input": "Ein?"})
    assert drafts.rebase_draft(draft, alice) == 1
    with pytest.raises(DraftError, match="1 cases changed in both"):
        jobs.publish_or_enqueue(draft, "Why", alice)
    drafts.save_case(draft, "q1", TypedCase("Uno? Ein?", "1"), alice, seen=1)
    assert contents(publish(draft, alice))["q1"][0] == "Uno? Ein?"


def test_a_conflict_outlasts_a_version_that_leaves_the_case_alone(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    for changes in ({}, {"q3": {"input": "Drei?"}}):
        another(make_dataset, q1={"input": "Ein?"}, **changes)
        assert drafts.rebase_draft(draft, alice) == 1


def test_edits_find_their_kind_on_the_new_version(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    """q1 is gone there, so it is added; q2 is gone, so nothing is left to delete."""
    edited(draft, alice)
    another(make_dataset, q1={"gone": True}, q2={"gone": True})
    assert drafts.rebase_draft(draft, alice) == 1
    found = draft.edits.order_by("key").values_list("key", "kind", "is_conflict")
    assert list(found) == [("q1", "add", True), ("q4", "add", False)]


def test_the_same_change_in_both_needs_no_edit(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    drafts.save_case(draft, "q1", TypedCase("Uno?", "1", tags=("easy",)), alice, seen=0)
    another(make_dataset, q1={"input": "Uno?"})
    assert drafts.rebase_draft(draft, alice) == 0
    assert draft.edits.count() == 0
