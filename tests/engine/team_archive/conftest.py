"""A team with one of everything, its archive, and a site that does not know it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring.engine.retention.policies import change_policy
from scoring.engine.team_archive import export_team
from scoring.models import (
    Connection,
    Member,
    ModelCall,
    RetentionPolicy,
    Role,
    Run,
    RunState,
    Score,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.database import empty_tables
from tests.support.fixtures.house import furnish
from tests.support.run_states import CLOSE, finished_run

MoveOut = Callable[[], None]


@pytest.fixture
def furnished(
    team: Team, alice: User, bob: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> Team:
    """The team, with a scored run whose judge rests on a call."""
    furnish(team, alice, make_dataset, make_outputs)
    Run.with_deleted.update(state=RunState.CANCELLED)
    version = make_dataset([{"input": "ä", "expected": "yes"}], name="scored")
    run = finished_run(make_outputs(version, ["no\u2028\U0001f600"]), CLOSE, name="scored")
    call = ModelCall.objects.create(
        team=team, run=run, purpose="judge", connection_name="own", model="m", cache_key="k"
    )
    judged = {
        "refs": [str(call.pk), "999999"],
        "children": [{"metadata": {"refs": [str(call.pk)]}}],
    }
    Score.objects.filter(scorer__run=run).update(metadata_json=json.dumps(judged))
    change_policy(team, {**dict.fromkeys(RetentionPolicy.RULES), "runs_days": 400}, alice)
    return team


@pytest.fixture
def archive(furnished: Team, tmp_path: Path) -> Path:
    target = tmp_path / "team.tar"
    export_team(furnished, target)
    return target


@pytest.fixture
def move_out(furnished: Team) -> MoveOut:
    """Makes the site one that knows nothing of the team, and has used many ids."""

    def moved() -> None:
        empty_tables()
        other = Team.objects.create(name="Other", slug="support")
        for number in range(7):
            user = User.objects.create_user(f"{number}@other.example.org")
            Member.objects.create(team=other, user=user, role=Role.ADMIN)
            Connection.objects.define(
                other, f"c{number}", "https://api.example.org/v1", key="sk-other", by=user
            )

    return moved


def rows_of(archive: Path) -> dict[str, bytes]:
    """The files of rows in an archive, by name."""
    with tarfile.open(archive) as opened:
        names = [name for name in opened.getnames() if name.endswith(".jsonl")]
        return {name: opened.extractfile(name).read() for name in names}  # type: ignore[union-attr]


def lines_of(archive: Path, name: str) -> list[Any]:
    return [json.loads(line) for line in rows_of(archive)[f"{name}.jsonl"].splitlines()]
