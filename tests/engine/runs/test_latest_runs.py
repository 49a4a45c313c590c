"""A team's latest runs: those that go on, and those that have ended and are not put away."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scoring.engine.runs.latest_runs import latest_runs
from scoring.models import OutputSet, Run, RunState, Team
from tests.conftest import MakeDataset, MakeOutputs


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    return make_outputs(make_dataset([{}]), ["yes"])


@pytest.mark.parametrize(
    ("limit", "running", "ended"), [(1, ["q2"], ["c1"]), (5, ["q2", "r1"], ["c1", "f1"])]
)
def test_the_newest_come_first(
    team: Team, outputs: OutputSet, limit: int, running: list[str], ended: list[str]
) -> None:
    states = {"f1": "finished", "c1": "cancelled", "r1": "running", "q2": "queued"}
    for name, state in states.items():
        Run.objects.create(team=team, output_set=outputs, name=name, state=RunState(state))
    away = {"state": RunState.FINISHED, "archived_at": timezone.now()}
    Run.objects.create(team=team, output_set=outputs, name="away", **away)
    latest = latest_runs(team, limit)
    assert [now.run.name for now in latest.running] == running
    assert [run.name for run in latest.ended] == ended


def test_a_team_without_runs_has_none(team: Team) -> None:
    assert latest_runs(team, 5) == ([], [])
