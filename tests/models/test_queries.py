"""Positions that several queries give are read one query after the other."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models.queries import first_positions
from tests.conftest import MakeDataset
from tests.support.undone import undone


def test_queries_are_asked_until_there_are_enough_positions(
    make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    given: list[tuple[list[tuple[int, int]], list[int], int]] = [
        ([], [], 0),
        ([(1, 3)], [1, 2, 3], 1),
        ([(1, 2), (7, 8)], [1, 2, 7, 8], 2),
        ([(1, 3), (6, 9)], [1, 2, 3, 6, 7], 2),
        ([(1, 5), (7, 8)], [1, 2, 3, 4, 5], 1),
        ([(1, 9), (7, 8)], [1, 2, 3, 4, 5], 1),
        ([(8, 9), (8, 9)], [8, 9, 8, 9], 2),
    ]
    for ranges, positions, queries in given:
        with subtests.test(ranges=ranges, positions=positions, queries=queries), undone():
            version = make_dataset([{"key": f"q-{n}"} for n in range(1, 10)])
            cases = version.cases.values_list("position", flat=True)
            with CaptureQueriesContext(connection) as captured:
                found = first_positions([cases.filter(position__range=r) for r in ranges], limit=5)
            assert (sorted(found), len(captured)) == (sorted(positions), queries)
