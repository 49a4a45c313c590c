"""Why a run has no verdict on a case: another version, no output, or it was cancelled before."""

from __future__ import annotations

import pytest

from scoring.engine.runs.missing_case import missing_case_reason
from scoring.models import Run, RunState
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    """Of two cases and their two trials, the last of which has no output."""
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    run = run_with(version, {"close": [1.0] * 3}, trials=2, leaves_out=[3])
    run.state = RunState.CANCELLED
    return run


@pytest.mark.parametrize(
    ("key", "trial", "said"),
    [
        ("c", 0, "w46 is over v1 of the dataset, which lacks this case."),
        ("b", 1, "w46 has no output for trial 1 of this case."),
        ("a", 7, "w46 has no output for trial 7 of this case."),
        ("b", 0, "w46 was cancelled before this case was scored."),
    ],
)
def test_each_cause_has_its_sentence(run: Run, key: str, trial: int, said: str) -> None:
    assert missing_case_reason(run, key, trial) == said


def test_the_only_trial_is_not_numbered(make_dataset: MakeDataset) -> None:
    run = run_with(make_dataset([{"key": "a"}]), {"close": []}, leaves_out=[0])
    assert missing_case_reason(run, "a", 0) == "w46 has no output for this case."
