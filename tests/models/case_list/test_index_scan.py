"""A walk along an index begins where its cursor says."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import Run
from scoring.models.case_list.table import CaseOrder, CaseTable
from scoring.models.case_paging import CasePosition
from tests.models.case_list.test_table import run

__all__ = ["run"]


def test_a_place_outside_the_run_starts_from_the_beginning_of_a_sorted_table(run: Run) -> None:
    scorers = list(run.scorers.all())
    table = CaseTable(run, scorers, order=CaseOrder(scorers[0]))
    places = [row.place for row in table.page(after=CasePosition(9_999)).rows]
    assert places == [row.place for row in table.page().rows]


@pytest.mark.sqlite
@pytest.mark.parametrize("way", ["after", "before"])
@pytest.mark.parametrize("descending", [False, True])
def test_an_index_leads_to_the_place_however_many_share_its_score(
    run: Run, way: str, descending: bool
) -> None:
    scorers = list(run.scorers.all())
    table = CaseTable(run, scorers, order=CaseOrder(scorers[0], descending))
    middle = table.page().rows[len(table.page().rows) // 4].place
    with CaptureQueriesContext(connection) as queries:
        table.page(**{way: middle}, size=3)
    sign = "<" if descending == (way == "after") else ">"
    with connection.cursor() as cursor:
        plans = [_plan(cursor, query["sql"]) for query in queries]
    assert any(f"(score,output_id){sign}(?,?)" in plan for plan in plans)


def _plan(cursor: Any, sql: str) -> str:
    cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
    return "\n".join(row[3] for row in cursor.fetchall())
