"""A proposed expected value: any JSON value, seen by the dataset's team alone."""

from __future__ import annotations

import pytest

from scoring.models import Correction, CorrectionState, User
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db


def test_a_correction_holds_a_json_value_and_is_open_at_first(
    make_dataset: MakeDataset, alice: User, charlie: User
) -> None:
    version = make_dataset([{"key": "q1", "input": "q", "expected": "a"}])
    made = Correction.objects.create(
        dataset=version.dataset, base=version, key="q1", expected_json='{"a": null}', author=alice
    )
    assert made.expected == {"a": None}
    assert (made.state, str(made)) == (CorrectionState.OPEN, "q1: open")
    assert list(Correction.objects.visible_to(alice)) == [made]
    assert not Correction.objects.visible_to(charlie).exists()
