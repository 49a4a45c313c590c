"""A dataset has one open draft."""

from __future__ import annotations

from scoring.engine import drafts
from scoring.models import Dataset, Draft, User
from tests.engine.drafts.conftest import dataset, version

__all__ = ["dataset", "version"]


def test_a_dataset_has_one_open_draft(dataset: Dataset, alice: User, bob: User) -> None:
    assert drafts.open_draft(dataset, alice) == drafts.open_draft(dataset, bob)
    assert Draft.objects.get().based_on == dataset.latest
