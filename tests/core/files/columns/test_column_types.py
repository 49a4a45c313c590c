"""A column's kind is what all its filled cells look like."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.files import MISSING
from scoring.core.files.columns.column_types import column_type


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "empty"),
        (["", None, MISSING], "empty"),
        (["a", "1"], "text"),
        (["1", "-2.5", "3e7", "", " 4 "], "number"),
        ([1, 2.5], "number"),
        (["٣"], "text"),
        (["1,5"], "text"),
        (["true", "FALSE"], "true or false"),
        ([True, False], "true or false"),
        ([True, 1], "text"),
        (["2026-11-22", "2026-11-22T09:30:00Z"], "date"),
        (["22.11.2026"], "text"),
        ([{"a": 1}, [1]], "JSON"),
        (['{"a": 1}', "[]", '["x", "y"]', "{}"], "JSON"),
        (["[sic]"], "text"),
        (["{name}"], "text"),
    ],
)
def test_a_column_is_of_the_kind_of_its_values(values: list[Any], kind: str) -> None:
    assert column_type(values) == kind
