"""An output becomes what its case expects, or a further right answer, in the draft."""

from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import DraftError, TypedCase
from scoring.engine.drafts.accept import accept_output
from scoring.models import DatasetVersion, Draft, DraftEdit, Output, User
from tests.conftest import MakeOutputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def outputs(version: DatasetVersion, make_outputs: MakeOutputs) -> dict[str, Output]:
    """By key; the second output failed."""
    made = make_outputs(version, ["uno", None, "III"])
    return {
        row.case.key: row for row in Output.objects.filter(output_set=made).select_related("case")
    }


def edited(draft: Draft, key: str) -> DraftEdit:
    return draft.edits.get(key=key)


def test_the_output_is_what_is_expected(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    accept_output(draft, outputs["q1"], alice, as_reference=False)
    edit = edited(draft, "q1")
    assert (edit.expected, edit.tags, edit.edited_by) == ("uno", ["easy"], alice)


def test_the_output_is_a_further_reference(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    accept_output(draft, outputs["q3"], alice, as_reference=True)
    edit = edited(draft, "q3")
    assert edit.references == ["3", "three", "III"]
    assert not edit.has_expected
    with pytest.raises(DraftError, match="right answer already"):
        accept_output(draft, outputs["q3"], alice, as_reference=True)


def test_a_json_output_is_expected_as_its_value(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    output = outputs["q1"]
    output.text, output.is_json = '{"a": 1}', True
    accept_output(draft, output, alice, as_reference=False)
    assert edited(draft, "q1").expected == {"a": 1}
    accept_output(draft, output, alice, as_reference=True)
    assert edited(draft, "q1").references == ['{"a": 1}']


def test_a_failed_output_is_not_accepted(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    with pytest.raises(DraftError, match="no output"):
        accept_output(draft, outputs["q2"], alice, as_reference=False)


def test_what_somebody_changed_meanwhile_is_not_overwritten(
    draft: Draft, outputs: dict[str, Output], alice: User, erin: User
) -> None:
    drafts.save_case(draft, "q1", TypedCase("One?", "eins", tags=("easy",)), erin, 0)
    with pytest.raises(DraftError, match="changed meanwhile"):
        accept_output(draft, outputs["q1"], alice, as_reference=False)
    accept_output(draft, outputs["q1"], alice, as_reference=True)  # which takes nothing away
    edit = edited(draft, "q1")
    assert (edit.expected, edit.references, edit.revision) == ("eins", ["uno"], 2)


def test_a_case_that_is_gone_is_not_corrected(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    drafts.delete_case(draft, "q1", alice)
    with pytest.raises(DraftError, match="no case q1"):
        accept_output(draft, outputs["q1"], alice, as_reference=False)


def test_accepting_what_is_expected_changes_nothing(
    draft: Draft, outputs: dict[str, Output], alice: User
) -> None:
    output = outputs["q1"]
    output.text = "1"
    with pytest.raises(DraftError, match="right answer already"):
        accept_output(draft, output, alice, as_reference=False)
    assert not draft.edits.exists()
