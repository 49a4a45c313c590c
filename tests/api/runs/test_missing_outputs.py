"""The cases without an output in a run, a page at a time."""

from __future__ import annotations

import pytest

from scoring.models import Run
from tests.api.conftest import Api
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    version = make_dataset([{"key": f"q{n}", "expected": "1"} for n in range(6)])
    outputs = make_outputs(version, ["1"] * 6)
    outputs.outputs.filter(case__position__in=[1, 4, 6]).delete()
    return finished_run(outputs)


def test_the_run_counts_them(alices: Api, run: Run) -> None:
    body = alices.get(f"runs/{run.uuid}/").json()
    (scorer,) = body["scorers"]
    assert (body["missing_outputs"], scorer["scored"], scorer["n"]) == (3, 3, 6)


def test_they_are_listed(alices: Api, run: Run) -> None:
    first = alices.get(f"runs/{run.uuid}/missing-outputs/", page_size=2)
    check_answer(first, "runs/{uid}/missing-outputs/", "get")
    assert first.json()["results"] == [
        {"key": "q0", "position": 1},
        {"key": "q3", "position": 4},
    ]
    second = alices.get(first.json()["next"].removeprefix("http://testserver")).json()
    assert second["results"] == [{"key": "q5", "position": 6}]
    assert (second["next"], second["previous"] is None) == (None, False)
