from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.core.files import MISSING
from scoring.engine import drafts, errands, loading
from scoring.engine.drafts import CaseTexts, DraftError, asks, copying
from scoring.models import (
    AuditEntry,
    Case,
    DatasetVersion,
    Draft,
    DraftState,
    Errand,
    ErrandKind,
    User,
)
from tests.conftest import MakeDataset
from tests.engine.drafts.conftest import CASES, contents


def edited(draft: Draft, by: User) -> None:
    drafts.save_case(draft, "q1", CaseTexts("Uno?", "1"), by, seen=0)
    drafts.delete_case(draft, "q2", by)
    drafts.add_case(draft, CaseTexts("Four?", "4", tags=("new",)), by, key="q4")


def test_a_published_draft_is_the_next_version(draft: Draft, alice: User) -> None:
    edited(draft, alice)
    version = asks.request_publish(draft, " Fixed the labels ", alice)
    assert version is not None
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
    assert entry.actor == alice
    assert entry.new == {
        "version": 2,
        "message": "Fixed the labels",
        "add": 1,
        "edit": 1,
        "delete": 1,
    }


def test_the_version_before_stays_as_it_was(
    draft: Draft, version: DatasetVersion, alice: User
) -> None:
    before = list(Case.objects.filter(version=version).values())
    edited(draft, alice)
    asks.request_publish(draft, "Why", alice)
    assert list(Case.objects.filter(version=version).values()) == before


def test_the_content_is_recognised_in_a_file(draft: Draft, alice: User) -> None:
    """The hash equals that of an import of the same cases: no version comes twice."""
    numbers = {"z": 10**30, "a": 12345678901234567890}
    drafts.add_case(draft, CaseTexts(numbers, MISSING, metadata=numbers), alice, "q4")
    drafts.add_case(draft, CaseTexts({"z": 1, "a": 12345678901234567890}), alice, "q6")
    drafts.add_case(draft, CaseTexts([1.0, {"b": None, "a": "ü"}], "“x”"), alice, "q5")
    version = asks.request_publish(draft, "Why", alice)
    assert version is not None
    again = [
        *CASES,
        {"key": "q4", "input": numbers, "metadata": numbers},
        {"key": "q5", "input": [1.0, {"b": None, "a": "ü"}], "expected": "“x”"},
    ]
    again.insert(-1, {"key": "q6", "input": {"a": 12345678901234567890, "z": 1}})
    loaded = loading.store_cases(draft.dataset.team, draft.dataset.name, again)
    assert (loaded.is_new, loaded.version) == (False, version)


@pytest.mark.parametrize("message", ["", "  \n"])
def test_a_message_is_needed(draft: Draft, alice: User, message: str) -> None:
    edited(draft, alice)
    with pytest.raises(DraftError, match="few words"):
        asks.request_publish(draft, message, alice)


def test_nothing_changed_is_no_version(draft: Draft, alice: User) -> None:
    with pytest.raises(DraftError, match="Nothing was changed"):
        asks.request_publish(draft, "Why", alice)


def test_a_version_needs_a_case(draft: Draft, alice: User) -> None:
    for case in CASES:
        drafts.delete_case(draft, case["key"], alice)
    with pytest.raises(DraftError, match="at least one"):
        asks.request_publish(draft, "Why", alice)
    draft.refresh_from_db()
    assert (draft.is_open, draft.is_publishing) == (True, False)
    assert DatasetVersion.with_loading.count() == 1


def test_it_is_published_once(draft: Draft, alice: User) -> None:
    edited(draft, alice)
    asks.request_publish(draft, "Why", alice)
    with pytest.raises(DraftError, match="published meanwhile"):
        asks.request_publish(draft, "Why", alice)
    assert DatasetVersion.objects.count() == 2


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, draft: Draft, alice: User) -> Draft:
    """A draft that only the worker publishes, and has been asked to."""
    monkeypatch.setattr(asks, "EDITED_AT_ONCE", 2)
    edited(draft, alice)
    assert asks.request_publish(draft, "Why", alice) is None
    return draft


def test_a_large_draft_is_left_to_the_worker(large: Draft, alice: User) -> None:
    assert asks.request_publish(large, "Why", alice) is None  # asked twice, published once
    errand = Errand.objects.get(kind=ErrandKind.PUBLISH_DRAFT)
    errands.do(errand)
    errand.refresh_from_db()
    assert errand.answer == {"version": 2}
    large.refresh_from_db()
    assert large.published is not None
    assert large.published.created_by == alice


def test_while_it_is_published_nothing_is_edited(large: Draft, alice: User) -> None:
    with pytest.raises(DraftError, match="being published"):
        drafts.delete_case(large, "q3", alice)


def test_a_killed_worker_leaves_no_half_version(
    large: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two parts of the copy; begun again, it is whole."""
    monkeypatch.setattr(copying, "ROWS_PER_TRANSACTION", 1)
    version = DatasetVersion.with_loading.create(dataset=large.dataset)
    copying.store(version, list(copying.keyed_cases(large.based_on))[:1])
    errand = Errand.objects.get(kind=ErrandKind.PUBLISH_DRAFT)
    errands.do(errand)
    assert list(DatasetVersion.objects.values_list("number", "case_count")) == [(2, 3), (1, 3)]
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at="2020-01-01T00:00Z")
    loading.sweep()
    assert not DatasetVersion.with_loading.filter(pk=version.pk).exists()
    assert Case.objects.filter(version=version.pk).count() == 0


def test_what_is_being_published_is_not_swept_away(large: Draft) -> None:
    version = DatasetVersion.with_loading.create(dataset=large.dataset)
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at="2020-01-01T00:00Z")
    loading.sweep()
    assert DatasetVersion.with_loading.filter(pk=version.pk).exists()


def test_how_far_it_is_is_counted_from_the_cases_that_are_stored(large: Draft) -> None:
    before = asks.progress_of(large)
    assert before.done == 0
    assert before.seconds_left is None
    assert "no worker" in before.cause
    version = DatasetVersion.with_loading.create(
        dataset=large.dataset, source_name="edits of version 1"
    )
    begun = timezone.now() - timedelta(seconds=10)
    DatasetVersion.with_loading.filter(pk=version.pk).update(created_at=begun)
    Case.objects.create(version=version, position=1, key="q1", input_json='"One?"')
    now = asks.progress_of(large)
    assert (now.done, now.total) == (1, before.total)
    assert now.seconds_left == pytest.approx(10 * (now.total - 1), rel=0.2)


def test_a_draft_that_nobody_publishes_any_more_opens_again(large: Draft) -> None:
    asks.release_abandoned()
    large.refresh_from_db()
    assert large.is_publishing
    errands.give_up(Errand.objects.get(kind=ErrandKind.PUBLISH_DRAFT))
    asks.release_abandoned()
    large.refresh_from_db()
    assert not large.is_publishing


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
        asks.request_publish(draft, "Why", alice)


def test_moved_onto_it_both_changes_are_there(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    another(make_dataset, q3={"input": "Drei?"})
    assert drafts.rebase(draft, alice) == 0
    version = asks.request_publish(draft, "Why", alice)
    assert version is not None
    assert {key: content[0] for key, content in contents(version).items()} == {
        "q1": "Uno?",
        "q3": "Drei?",
        "q4": "Four?",
    }


def test_a_case_that_changed_in_both_is_saved_again_first(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    edited(draft, alice)
    another(make_dataset, q1={"input": "Ein?"})
    assert drafts.rebase(draft, alice) == 1
    with pytest.raises(DraftError, match="1 cases changed in both"):
        asks.request_publish(draft, "Why", alice)
    drafts.save_case(draft, "q1", CaseTexts("Uno? Ein?", "1"), alice, seen=1)
    version = asks.request_publish(draft, "Why", alice)
    assert version is not None
    assert contents(version)["q1"][0] == "Uno? Ein?"


def test_edits_find_their_kind_on_the_new_version(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    """q1 is gone there, so it is added; q2 is gone, so nothing is left to delete."""
    edited(draft, alice)
    another(make_dataset, q1={"gone": True}, q2={"gone": True})
    assert drafts.rebase(draft, alice) == 1
    found = draft.edits.order_by("key").values_list("key", "kind", "is_conflict")
    assert list(found) == [("q1", "add", True), ("q4", "add", False)]


def test_the_same_change_in_both_needs_no_edit(
    draft: Draft, make_dataset: MakeDataset, alice: User
) -> None:
    drafts.save_case(draft, "q1", CaseTexts("Uno?", "1", tags=("easy",)), alice, seen=0)
    another(make_dataset, q1={"input": "Uno?"})
    assert drafts.rebase(draft, alice) == 0
    assert draft.edits.count() == 0
