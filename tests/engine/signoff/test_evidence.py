"""The evidence for a release, compared already or not."""

from __future__ import annotations

import pytest

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.signoff.evidence import count_states, gather_evidence
from scoring.models import CaseDecision, CaseDecisionState, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waived_runs import waive


@pytest.fixture
def runs(make_dataset: MakeDataset, alice: User) -> tuple[Run, Run]:
    """a to d broke: a is waived, b rejected, c accepted; e was fixed, f is an error."""
    version = make_dataset([{"key": key} for key in "abcdef"])
    old = run_with(version, {"close": [1, 1, 1, 1, 0, 1]}, name="w45")
    new = run_with(version, {"close": [0, 0, 0, 0, 1, "error"]}, name="w46")
    waive(new, "a", "close", alice)
    outputs = new.output_set.outputs.in_bulk(field_name="pk")
    by_key = {output.case.key: output.pk for output in outputs.values()}
    decide = CaseDecision.objects.decide
    decide((old, new), [by_key["b"]], CaseDecisionState.REJECTED, by=alice)
    decide((old, new), [by_key["c"]], CaseDecisionState.ACCEPTED, by=alice)
    return old, new


@pytest.mark.parametrize("is_compared", [True, False])
def test_it_counts_what_broke_and_how_it_stands(runs: tuple[Run, Run], is_compared: bool) -> None:
    if is_compared:
        compare_runs(*runs)
    found = gather_evidence(runs[1], runs[0])
    assert (found.passed, found.failed, found.errors, found.baseline) == (1, 4, 1, "w45")
    assert (found.broke, found.fixed, found.unsigned) == (4, 1, 2)
    assert (found.open, found.accepted, found.rejected, found.waived) == (1, 1, 1, 1)
    assert bool(found.sentence) == is_compared
    states = count_states(runs[1], runs[0])
    assert (states.unsigned if states else None) == (2 if is_compared else None)
    assert found.as_json()["broke"] == 4


def test_without_a_baseline_nothing_broke(runs: tuple[Run, Run]) -> None:
    found = gather_evidence(runs[0], None)
    assert (found.passed, found.baseline, found.broke, found.unsigned) == (5, None, None, None)
