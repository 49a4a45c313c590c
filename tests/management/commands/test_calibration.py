"""`manage.py calibration` prints what the page of a run's calibration shows."""

from __future__ import annotations

import json

import pytest

from scoring.engine.calibration.report import calibration_report
from scoring.models import ReviewVerdict, Run, User
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.reviewed_runs import give_in_turn, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict
TABLE = """\
8 outputs reviewed: 3 pass, 3 fail, 1 unsure, 1 bad case
Not a random sample.
scorer  n          agreement              kappa  precision  recall    f1  threshold  best threshold          pass rate  corrected pass rate
close   6  0.83 [0.44, 0.97]  0.67 [0.10, 1.00]       0.75    1.00  0.86       0.50            0.70  0.33 [0.14, 0.61]                    -
"""  # noqa: E501


@pytest.fixture
def reviewed(make_dataset: MakeDataset, alice: User) -> Run:
    version = make_dataset([{"expected": "yes"}] * 12)
    run = scored_run(version, {"close": [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]})
    give_in_turn(run, alice, [PASS, PASS, PASS, FAIL, FAIL, FAIL, UNSURE, BAD_CASE])
    return run


def test_a_table_has_a_line_for_each_scorer(reviewed: Run) -> None:
    assert call("calibration", "w46") == (0, TABLE)


def test_json_is_that_of_the_api(reviewed: Run) -> None:
    code, text = call("calibration", str(reviewed.uuid), "--dataset", "Answers", "--json")
    assert code == 0
    assert json.loads(text) == calibration_report(reviewed)


def test_a_run_that_is_not_there_is_named(reviewed: Run) -> None:
    code, text = call("calibration", "w47")
    assert code == 2
    assert "no run 'w47'" in text
