"""Which cases pass: counted without asking again, and unsteady only where they have trials."""

from __future__ import annotations

import pytest

from scoring.engine.runs.tag_index import store_tag_index
from scoring.models import Run, Team
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder, CaseTable
from tests.conftest import MakeDataset
from tests.models.case_list.test_table import (
    COMBINED,
    _backwards,
    _check_neighbours,
    _forwards,
    _oracle,
    _plain_rows,
    _run,
    run,
)

__all__ = ["run"]


@pytest.fixture
def single_run(team: Team, make_dataset: MakeDataset) -> Run:
    """One like it whose cases have one output each."""
    return _run(team, make_dataset, trials=1)


@pytest.mark.parametrize("is_kept", [False, True], ids=["scanned tags", "kept tags"])
def test_cases_with_one_output_each_are_counted_without_asking_again(
    single_run: Run, is_kept: bool, subtests: pytest.Subtests
) -> None:
    if is_kept:
        store_tag_index(single_run.output_set.version)
    scorers = {scorer.name: scorer for scorer in single_run.scorers.all()}
    rows = _plain_rows(single_run)
    for asked, (name, is_falling) in COMBINED:
        filters = CaseFilters(**{**asked, "scorer": scorers.get(asked.get("scorer", ""))})
        order = CaseOrder(scorers.get(name or ""), is_falling)
        wanted = _oracle(rows, filters, order)
        table = CaseTable(single_run, list(scorers.values()), filters, order, has_one_each=True)
        with subtests.test(asked=asked, order=name, is_falling=is_falling):
            assert _forwards(table) == wanted
            assert _backwards(table, wanted) == wanted
            assert table.count == len(wanted)
            _check_neighbours(table, wanted)


def test_no_case_with_one_output_is_unsteady(single_run: Run) -> None:
    table = CaseTable(single_run, [], CaseFilters(unsteady=True), has_one_each=True)
    assert (list(table.page().rows), table.count) == ([], 0)
