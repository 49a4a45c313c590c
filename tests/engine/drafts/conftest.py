"""A dataset of three cases, and its draft."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine import drafts
from scoring.models import Dataset, DatasetVersion, Draft, User
from tests.conftest import MakeDataset

CASES: list[dict[str, Any]] = [
    {"key": "q1", "input": "One?", "expected": "1", "tags": ["easy"]},
    {"key": "q2", "input": {"b": 1, "a": 2}, "expected": None},
    {"key": "q3", "input": "Three?", "references": ["3", "three"], "metadata": {"b": 1, "a": [2]}},
]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset(CASES)


@pytest.fixture
def dataset(version: DatasetVersion) -> Dataset:
    return Dataset.objects.select_related("latest", "team").get(pk=version.dataset_id)


@pytest.fixture
def draft(dataset: Dataset, alice: User) -> Draft:
    return drafts.open_draft(dataset, alice)


def contents(version: DatasetVersion) -> dict[str, tuple[Any, ...]]:
    """By key, in order: input, expected, tags."""
    return {
        case.key: (case.input, case.expected, case.tags)
        for case in version.cases.order_by("position")
    }
