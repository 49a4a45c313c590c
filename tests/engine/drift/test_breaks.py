"""Changes of what a drift line is measured with."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.drift.breaks import Versions, find_breaks

BEFORE = Versions(11, 1, 5, 21, 3, 0.7)


@pytest.mark.parametrize(
    ("changed", "texts", "parts"),
    [
        ({}, [], False),
        ({"version": 12, "number": 2}, ["scorer version 1 → 2"], True),
        ({"version": 13, "scorer": 6}, ["another scorer"], True),
        ({"dataset_version": 22, "dataset_number": 4}, ["dataset version 3 → 4"], True),
        ({"threshold": 0.75}, ["threshold 0.7 → 0.75"], False),
        ({"version": 12, "number": 2, "threshold": 0.8},
         ["scorer version 1 → 2", "threshold 0.7 → 0.8"], True),
    ],
)  # fmt: skip
def test_only_versions_part_a_line(changed: dict[str, Any], texts: list[str], parts: bool) -> None:
    found = find_breaks(BEFORE, BEFORE._replace(**changed))
    assert [change.text for change in found] == texts
    assert any(change.parts for change in found) == parts
