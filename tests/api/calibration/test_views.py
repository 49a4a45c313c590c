"""The calibration of a run through the API."""

from __future__ import annotations

from typing import Any

import pytest

from evalsite.api.calibration.serializers import CalibrationShape
from scoring.models import DatasetVersion, ReviewVerdict, Run, User
from tests.api.conftest import MISSING, Api
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import draw_sample, give_in_turn, outputs_of, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"}] * 200)


@pytest.fixture
def reviewed(version: DatasetVersion, alice: User) -> Run:
    run = scored_run(version, {"close": [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]})
    give_in_turn(run, alice, [PASS, PASS, PASS, FAIL, FAIL, FAIL, UNSURE, BAD_CASE])
    return run


def calibration(api: Api, run: Run) -> dict[str, Any]:
    response = api.get(f"runs/{run.uuid}/calibration/")
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    assert body.keys() == CalibrationShape().fields.keys()
    return body


def test_a_scorer_has_its_figures(alices: Api, reviewed: Run) -> None:
    body = calibration(alices, reviewed)
    assert body["outputs"] == {
        "reviewed": 8,
        "passed": 3,
        "failed": 3,
        "unsure": 1,
        "bad_case": 1,
        "split": 0,
    }
    assert body["is_random_sample"] is False
    assert body["random_sample"] == {"drawn": 0, "reviewed": 0, "out_of_turn": 0}
    (close,) = body["scorers"]
    assert close["confusion"] == {
        "both_pass": 3,
        "scorer_passes": 1,
        "people_pass": 0,
        "both_fail": 2,
    }
    assert close["agreement"]["value"] == pytest.approx(5 / 6)
    assert close["kappa"]["value"] == pytest.approx(2 / 3)
    assert (close["precision"], close["recall"]) == (0.75, 1.0)
    assert close["best_threshold"] == {"threshold": 0.7, "kappa": 1.0, "as_good": [0.4, 0.8]}
    assert (close["threshold"], close["corrected_pass_rate"]) == (0.5, None)
    assert body["people"] == {
        "people": 0,
        "outputs": 0,
        "fleiss_kappa": None,
        "krippendorff_alpha": None,
        "pairs": [],
    }


def test_a_random_sample_corrects_the_pass_rate(
    alices: Api, version: DatasetVersion, alice: User
) -> None:
    run = scored_run(version, {"close": [0.9, 0.1, 0.9, 0.1, 0.9, 0.1] * 33 + [0.9, 0.1]})
    draw_sample(outputs_of(run)[:120])
    give_in_turn(run, alice, [PASS, PASS, PASS, FAIL, PASS, FAIL] * 20)
    body = calibration(alices, run)
    assert body["is_random_sample"] is True
    assert body["random_sample"] == {"drawn": 120, "reviewed": 120, "out_of_turn": 0}
    corrected = body["scorers"][0]["corrected_pass_rate"]
    assert corrected["rate"]["value"] == pytest.approx(2 / 3)
    assert corrected["labels_alone"]["value"] == pytest.approx(2 / 3)
    assert (corrected["labels"], corrected["lacking_labels"]) == (120, 0)
    assert corrected["is_narrower"] is True
    assert 0 < corrected["weight"] <= 1


def test_lacking_labels_are_told(alices: Api, reviewed: Run) -> None:
    draw_sample(outputs_of(reviewed)[:100])
    corrected = calibration(alices, reviewed)["scorers"][0]["corrected_pass_rate"]
    assert corrected == {
        "rate": None,
        "labels_alone": None,
        "is_narrower": False,
        "weight": None,
        "labels": 6,
        "lacking_labels": 44,
        "more_labels": None,
    }


def test_people_are_compared(alices: Api, reviewed: Run, bob: User) -> None:
    give_in_turn(reviewed, bob, [PASS, FAIL, PASS])
    people = calibration(alices, reviewed)["people"]
    (pair,) = people["pairs"]
    assert (people["people"], people["outputs"]) == (2, 3)
    assert (pair["one"], pair["other"], pair["n"]) == ("alice@example.org", "bob@example.org", 3)
    assert pair["agreement"]["value"] == pytest.approx(2 / 3)


def test_a_run_that_is_not_there_is_not_found(alices: Api) -> None:
    assert alices.get(f"runs/{MISSING}/calibration/").status_code == 404
