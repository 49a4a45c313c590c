"""What was edited in a case, text by text."""

from __future__ import annotations

from typing import Any

import pytest

from evalsite.pages.cases.texts.edits import list_edits, text_edits
from scoring.models import Case
from scoring.models.data.version_changes import ChangedCase


def case(**texts: str | None) -> Case:
    given: dict[str, Any] = {"input_json": '"Why?"', "references_json": "[]", "tags_json": "[]"}
    return Case(**given | {"metadata_json": "{}", "expected_json": '"Because."'} | texts)


def changed(old: Case | None, new: Case | None) -> ChangedCase:
    return ChangedCase("a", 1, old, new, [])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, {}, []),
        ({"input_json": '"Who?"'}, {}, [("input", "")]),
        ({"expected_json": '"No."'}, {}, [("expected", "")]),
        ({"expected_json": None}, {}, [("expected", "Nothing was expected.")]),
        ({}, {"expected_json": None},
         [("expected", "Nothing is expected any more; it was:")]),
        ({"expected_json": None}, {"expected_json": None}, []),
        ({"tags_json": '["a"]'}, {}, []),
    ],
)  # fmt: skip
def test_input_and_expected_are_compared(
    old: dict[str, str | None], new: dict[str, str | None], told: list[tuple[str, str]]
) -> None:
    assert [(edit.name, edit.note) for edit in text_edits(case(**old), case(**new))] == told


def test_between_versions_every_field_is_compared() -> None:
    fields = {"references": '["x"]', "metadata": '{"a": 1}', "tags": '["easy"]'}
    new = case(**{f"{name}_json": text for name, text in fields.items()})
    edits = list_edits(changed(case(), new))
    assert [edit.name for edit in edits] == list(fields)
    assert [edit.title for edit in edits] == ["References", "Metadata", "Tags"]


@pytest.mark.parametrize(
    ("expected", "names"), [('"Because."', ["input", "expected"]), (None, ["input"])]
)
def test_of_a_case_in_one_version_its_texts_are_told(
    expected: str | None, names: list[str]
) -> None:
    alone = case(expected_json=expected)
    for change in (changed(alone, None), changed(None, alone)):
        assert [edit.name for edit in list_edits(change)] == names
    assert list_edits(changed(None, None)) == []
