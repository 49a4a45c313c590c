from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import ChangeKind, Changes, VersionChanges
from tests.conftest import MakeDataset
from tests.support.undone import undone

CASE: dict[str, Any] = {
    "key": "a",
    "input": "Same?",
    "expected": "yes",
    "references": ["r"],
    "metadata": {"m": 1},
    "tags": ["t"],
}


@pytest.fixture
def changes(make_dataset: MakeDataset) -> Changes:
    old = make_dataset([CASE, {**CASE, "key": "b"}, {**CASE, "key": "c"}])
    new = make_dataset([{**CASE, "key": "c"}, CASE, {**CASE, "key": "d", "input": "New?"}])
    return Changes(old, new)


def keys(changes: Changes, kind: ChangeKind) -> list[str]:
    return [case.key for case in changes.cases(kind)]


def test_cases_are_the_same_by_key_wherever_they_stand(changes: Changes) -> None:
    assert keys(changes, ChangeKind.ADDED) == ["d"]
    assert keys(changes, ChangeKind.REMOVED) == ["b"]
    assert keys(changes, ChangeKind.EDITED) == []


def test_every_field_counts(make_dataset: MakeDataset, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object, object]] = [
        ("input", "Same?", "Same? "),
        ("input", "1", 1),
        ("expected", "yes", "no"),
        ("expected", "yes", None),
        ("expected", None, "yes"),
        ("references", ["r"], []),
        ("metadata", {"m": 1}, {"m": 2}),
        ("tags", ["t"], ["t", "u"]),
    ]
    for field, before, after in cases:
        with subtests.test(field=field, before=before, after=after), undone():
            changes = Changes(
                make_dataset([{**CASE, field: before}]), make_dataset([{**CASE, field: after}])
            )
            (found,) = changes.with_other_version(
                ChangeKind.EDITED, list(changes.cases(ChangeKind.EDITED))
            )
            assert found.fields == [field]
            assert found.old is not None
            assert found.new is not None
            assert (getattr(found.old, field), getattr(found.new, field)) == (before, after)


@pytest.mark.parametrize("order", [1, -1])
def test_absent_and_null_differ(make_dataset: MakeDataset, order: int) -> None:
    without = {name: value for name, value in CASE.items() if name != "expected"}
    both = [make_dataset([without]), make_dataset([{**CASE, "expected": None}])][::order]
    changes = Changes(*both)
    assert keys(changes, ChangeKind.EDITED) == ["a"]
    assert keys(Changes(both[0], both[0]), ChangeKind.EDITED) == []


def test_absent_on_both_sides_is_no_change(make_dataset: MakeDataset) -> None:
    bare = {"key": "a", "input": "?"}
    assert keys(Changes(make_dataset([bare]), make_dataset([bare])), ChangeKind.EDITED) == []


def test_the_counts_are_kept(changes: Changes, django_assert_num_queries: Any) -> None:
    first = changes.counted()
    assert (first.added, first.removed, first.edited, first.unchanged) == (1, 1, 0, 2)
    with django_assert_num_queries(1):
        assert changes.counted().count("added") == 1
    assert VersionChanges.objects.count() == 1


@pytest.mark.parametrize("kind", ChangeKind)
@pytest.mark.parametrize("few", [0, 1_000])
def test_few_and_many_changes_are_listed_alike(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch, kind: ChangeKind, few: int
) -> None:
    monkeypatch.setattr("scoring.models.data.version_changes.MAX_POSITIONS", few)
    old = make_dataset([{**CASE, "key": f"q{n}"} for n in range(9)])
    moved = [{**CASE, "key": f"q{n}", "input": f"Same? {n % 3}"} for n in range(12, 2, -1)]
    changes = Changes(old, make_dataset(moved))
    listed = changes.few_or_all(kind, changes.counted().count(kind))
    assert list(listed) == list(changes.cases(kind)) != []


def test_few_changes_are_looked_for_once_and_none_not_at_all(
    changes: Changes, django_assert_num_queries: Any
) -> None:
    assert len(changes.few_or_all(ChangeKind.ADDED, 1)) == 1
    with CaptureQueriesContext(connection) as captured:
        assert [case.key for case in changes.few_or_all(ChangeKind.ADDED, 1)] == ["d"]
    assert len(captured) == 1
    assert "EXISTS" not in captured[0]["sql"]
    with django_assert_num_queries(0):
        assert list(changes.few_or_all(ChangeKind.EDITED, 0)) == []


def test_one_side_is_empty_where_a_case_came_or_went(changes: Changes) -> None:
    added = changes.with_other_version(ChangeKind.ADDED, list(changes.cases(ChangeKind.ADDED)))
    removed = changes.with_other_version(
        ChangeKind.REMOVED, list(changes.cases(ChangeKind.REMOVED))
    )
    assert [(row.key, row.old is None, row.new is None) for row in added + removed] == [
        ("d", True, False),
        ("b", False, True),
    ]
