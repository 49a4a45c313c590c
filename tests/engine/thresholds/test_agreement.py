"""Agreement with people at any threshold is what the verdicts there would have said."""

from __future__ import annotations

import pytest

from scoring.core.stats.calibration import VerdictTable
from scoring.engine.thresholds.agreement import read_agreement
from scoring.engine.thresholds.preview import Preview
from scoring.models import ReviewVerdict, User
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import give_in_turn
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db
PASS, FAIL, UNSURE = ReviewVerdict.PASS, ReviewVerdict.FAIL, ReviewVerdict.UNSURE


def test_labels_of_all_previewed_runs_of_the_latest_version_count(
    make_dataset: MakeDataset, alice: User
) -> None:
    version = make_dataset([{}] * 4)
    before, run = (suite_run(version, {"close": s}, name=n) for s, n in (
        ([0.9, 0.3, 0.5, 0.5], "w45"), ([0.2, 0.6, 0.7, "error"], "w46"),
    ))  # fmt: skip
    give_in_turn(before, alice, [PASS, FAIL])
    give_in_turn(run, alice, [FAIL, FAIL, PASS, PASS])
    found = read_agreement(Preview.of(entry_of(), 0.65))
    assert found is not None
    assert (len(found.labels), found.version, found.run_count) == (5, 1, 2)
    assert found.table_at(0.65) == VerdictTable(2, 0, 0, 3)
    assert found.table_at(0.95) == VerdictTable(0, 0, 2, 3)
    assert found.best is not None
    assert (found.best.threshold, found.best.kappa) == (0.7, 1.0)
    assert [table.threshold for table in found.tables] == [0.2, 0.3, 0.6, 0.7, 0.9]
    for threshold, table in found.tables:
        assert found.table_at(threshold) == table


def test_without_decided_reviews_there_is_none(make_dataset: MakeDataset, alice: User) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.7]})
    assert read_agreement(Preview.of(entry_of(), 0.65)) is None
    give_in_turn(run, alice, [UNSURE])
    assert read_agreement(Preview.of(entry_of(), 0.65)) is None


def test_without_runs_there_is_none(make_dataset: MakeDataset) -> None:
    suite_run(make_dataset([{}]), {"close": [0.6]}).delete()
    assert read_agreement(Preview.of(entry_of(), 0.65)) is None
