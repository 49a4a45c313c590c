"""A team with runs, replies and audit entries of two ages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import models
from django.utils import timezone

from scoring.models import ModelCall, OutputSet, Run, Team
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run

AGE = timedelta(days=100)
COMBINATION = (
    "both",
    "all",
    {"scorers": [{"type": "levenshtein", "name": "near"}, {"type": "includes"}]},
)


def backdate(rows: models.QuerySet[Any], *columns: str) -> None:
    """Let these columns of the rows say that they are of AGE."""
    rows.update(**dict.fromkeys(columns, timezone.now() - AGE))


@dataclass(frozen=True)
class Store:
    """An old and a new run of a team, each with outputs of its own and a reply of a model."""

    team: Team
    old: Run
    new: Run

    @property
    def before(self) -> datetime:
        """A moment between the two ages."""
        return timezone.now() - AGE / 2


@pytest.fixture
def store(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Store:
    version = make_dataset([{"expected": "the red fox"}, {"expected": "a blue bird"}])
    said = [["the red dog Ä", "a blue bird"], ["the red fox", "a green bird"]]
    old, new = (
        finished_run(make_outputs(version, texts), CLOSE, COMBINATION, name=name)
        for texts, name in zip(said, ["old", "new"], strict=True)
    )
    for run in (old, new):
        fields = {"purpose": "judge", "connection_name": "c", "model": "m", "tokens_in": 7}
        ModelCall.objects.create(
            team=run.team, run=run, cache_key=run.name, reply="said", refusal="no", **fields
        )
    backdate(Run.objects.filter(pk=old.pk), "created_at", "finished_at")
    backdate(OutputSet.objects.filter(pk=old.output_set_id), "created_at")
    backdate(ModelCall.objects.filter(run=old), "created_at")
    return Store(old.team, Run.objects.get(pk=old.pk), Run.objects.get(pk=new.pk))
