"""Cases are found by the text and the tags they hold."""

from __future__ import annotations

from functools import partial

import pytest

from scoring.models import Case, DatasetVersion
from tests.conftest import MakeDataset
from tests.support.concurrency import call_all_at_once, wait_for_all

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


@pytest.mark.django_db(transaction=True)
def test_versions_that_are_published_at_once_get_numbers_of_their_own(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = make_dataset(CASES).dataset
    loading = [DatasetVersion.with_loading.create(dataset=dataset) for _ in range(2)]
    monkeypatch.setattr(DatasetVersion, "save", wait_for_all(DatasetVersion.save, 2))
    publish = {"content_hash": "", "case_count": 0}
    call_all_at_once([partial(made.publish, **publish) for made in twice_read(loading)])
    numbers = dataset.versions.order_by("number").values_list("number", flat=True)
    assert list(numbers) == [1, 2, 3]
    dataset.refresh_from_db()
    assert dataset.latest is not None
    assert dataset.latest.number == 3


def twice_read(versions: list[DatasetVersion]) -> list[DatasetVersion]:
    """Each with a dataset of its own, as two requests have them."""
    rows = DatasetVersion.with_loading.select_related("dataset")
    return [rows.get(pk=version.pk) for version in versions]
