"""Cases without an output are listed by key, page by page."""

from __future__ import annotations

import pytest

from scoring.models import Run
from scoring.models.case_paging import CasePosition
from scoring.models.runs.missing_outputs import missing_page
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    """Without outputs of q3 and q7."""
    version = make_dataset([{"key": f"q{n}"} for n in range(10)])
    return run_with(version, {"close": [1.0] * 8}, leaves_out=[3, 7])


def test_they_are_listed_by_key_forwards_and_backwards(run: Run) -> None:
    first = missing_page(run, size=1)
    assert ([row.key for row in first.rows], first.has_previous, first.has_next) == (
        ["q3"],
        False,
        True,
    )
    second = missing_page(run, after=first.rows[-1].place, size=1)
    assert ([row.key for row in second.rows], second.has_previous, second.has_next) == (
        ["q7"],
        True,
        False,
    )
    back = missing_page(run, before=CasePosition(second.rows[0].position), size=1)
    assert back.rows == first.rows
