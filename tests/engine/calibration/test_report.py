"""The calibration of a run as JSON."""

from __future__ import annotations

import json

from scoring.engine.calibration.report import calibration_report
from scoring.models import ReviewVerdict, User
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import give_in_turn, scored_run

PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL


def test_a_run_without_reviews_has_no_figures(make_dataset: MakeDataset) -> None:
    run = scored_run(make_dataset([{"expected": "yes"}] * 3), {"close": [0.9]})
    (scorer,) = calibration_report(run)["scorers"]
    missing = ("agreement", "kappa", "precision", "recall", "f1", "best_threshold")
    assert [scorer[name] for name in missing] == [None] * 6
    assert (scorer["n"], scorer["is_best"], scorer["is_as_good"]) == (0, False, False)


def test_the_best_of_several_scorers_is_marked(make_dataset: MakeDataset, alice: User) -> None:
    version = make_dataset([{"expected": "yes"}] * 40)
    run = scored_run(version, {"good": [0.9, 0.1] * 20, "poor": [0.9, 0.9, 0.1, 0.1] * 10})
    give_in_turn(run, alice, [PASS, FAIL] * 20)
    report = json.loads(json.dumps(calibration_report(run)))
    assert [each["is_best"] for each in report["scorers"]] == [True, False]
    assert [each["is_as_good"] for each in report["scorers"]] == [False, False]
    assert report["scorers"][0]["kappa"] == {"value": 1.0, "interval": None}
