"""Which pairs are called edited."""

from __future__ import annotations

import pytest

from scoring.models import Team, Verdict
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import Pair, RunSide
from scoring.models.pairs.sql import read_pair
from tests.conftest import MakeDataset
from tests.support.run_pairs import PASS, stored


@pytest.mark.parametrize("edit", ["input", "expected", "neither"])
def test_edited_looks_at_input_and_expected(
    team: Team, make_dataset: MakeDataset, edit: str
) -> None:
    case = {"key": "a", "input": "q", "expected": "x", "tags": ["t"]}
    versions = [make_dataset([case]), make_dataset([{**case, "tags": [], edit: "other"}])]
    old, new = (stored(team, version, {("a", 0): PASS}) for version in versions)
    assert Pairs(old.run, new.run).counts().edited == (edit != "neither")


def test_a_row_becomes_a_pair() -> None:
    baseline, candidate = (11, 3, 0, 0), (12, 4, 1, 1)
    pair = read_pair([*baseline, *candidate, 1, "a"])
    assert pair == Pair(
        "a",
        RunSide(11, CasePosition(3, 0), Verdict.PASS),
        RunSide(12, CasePosition(4, 1), Verdict.FAIL),
        is_edited=True,
    )
    assert read_pair([*baseline, None, None, None, None, 0, "a"]).candidate is None
