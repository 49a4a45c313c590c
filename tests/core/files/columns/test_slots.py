"""A line says what each part of a case gets."""

from __future__ import annotations

import pytest

from scoring.core.files import Mapping
from scoring.core.files.columns.slots import case_slots, output_slots


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        (Mapping(input="q", output=("a",)), "input ✓ q · expected ✗ · output ✓ a"),
        (Mapping(expected="e", references=("r",)), "input ✗ · expected ✓ e, r · output ✗"),
        (
            Mapping(input="q", references=("r",), output=("a", "b")),
            "input ✓ q · expected ✓ r · output ✓ a, b",
        ),
    ],
)
def test_of_a_file_of_cases(mapping: Mapping, text: str) -> None:
    assert " · ".join(slot.text for slot in case_slots(mapping)) == text


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        (Mapping(id="key", input="q", output=("a",)), "id ✓ key · output ✓ a"),
        (Mapping(input="q"), "input ✓ q · output ✗"),
        (Mapping(), "id ✗ · output ✗"),
    ],
)
def test_of_a_file_of_outputs(mapping: Mapping, text: str) -> None:
    assert " · ".join(slot.text for slot in output_slots(mapping)) == text
