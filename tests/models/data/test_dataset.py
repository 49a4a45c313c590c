"""Cases are found by the text and the tags they hold."""

from __future__ import annotations

import pytest

from scoring.models import Case
from tests.conftest import MakeDataset

CASES = [
    {"key": "q-1", "input": "Where is my Refund?", "expected": "In your bank", "tags": ["billing"]},
    {"key": "q-2", "input": 'She said "no"\nand left', "tags": ["billing-old", "Billing"]},
    {"key": "q-3", "input": {"question": "Größe 100%_"}, "expected": None},
    {"key": "refund-4", "input": "back\\slash", "tags": ['a "quoted" tag', "über"]},
]


@pytest.fixture
def cases(make_dataset: MakeDataset) -> list[Case]:
    return list(make_dataset(CASES).cases.all())


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("refund", [1, 4]),
        ("bank", [1]),
        ('"no"', [2]),
        ('no"\nand', [2]),
        ("Größe", [3]),
        ("%_", [3]),
        ("back\\slash", [4]),
        ("nowhere", []),
    ],
)
def test_a_text_is_found_in_key_input_and_expected(
    cases: list[Case], text: str, positions: list[int]
) -> None:
    found = Case.objects.matching(text).values_list("position", flat=True)
    assert list(found) == positions


@pytest.mark.parametrize(
    ("tag", "positions"),
    [
        ("billing", [1]),
        ("Billing", [2]),
        ("bill", []),
        ('a "quoted" tag', [4]),
        ("über", [4]),
        ("%", []),
    ],
)
def test_a_tag_is_found_whole_and_in_its_own_case(
    cases: list[Case], tag: str, positions: list[int]
) -> None:
    found = Case.objects.tagged(tag).values_list("position", flat=True)
    assert list(found) == positions
