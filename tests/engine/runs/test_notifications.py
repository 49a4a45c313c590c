"""Whoever started a run, or scored its errors again, is told its end in a sentence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.runs.notifications import MIN_DURATION, notify_run_end
from scoring.models import Attempt, AttemptKind, Notice, OutputSet, Run, RunState, User
from tests.conftest import MakeDataset, MakeOutputs


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    return make_outputs(make_dataset([{}]), ["yes"])


def ended(outputs: OutputSet, **given: object) -> Run:
    fields = {"name": "w1", "state": RunState.FINISHED} | given
    return Run.objects.create(team=outputs.version.dataset.team, output_set=outputs, **fields)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "w1 has finished."),
        ({"pass_count": 1_000, "fail_count": 0, "error_count": 2},
         "w1 has finished: 1,000 pass, 2 error."),
        ({"state": RunState.CANCELLED, "pass_count": 1}, "w1 was cancelled."),
    ],
)  # fmt: skip
def test_a_notice_counts_what_there_is(
    outputs: OutputSet, alice: User, given: dict[str, object], text: str
) -> None:
    notify_run_end(ended(outputs, created_by=alice, **given))
    notice = Notice.objects.get()
    assert (notice.user, notice.text) == (alice, text)


@pytest.mark.parametrize(
    ("lasted", "is_told"), [(MIN_DURATION, True), (MIN_DURATION - timedelta(seconds=1), False)]
)
def test_of_a_programs_runs_only_long_ones_are_told(
    outputs: OutputSet, alice: User, lasted: timedelta, is_told: bool
) -> None:
    now = timezone.now()
    times = {"started_at": now - lasted, "finished_at": now}
    notify_run_end(ended(outputs, created_by=alice, by_program=True, **times))
    assert Notice.objects.exists() == is_told


def test_a_retry_is_told_to_who_asked_for_it(outputs: OutputSet, alice: User, bob: User) -> None:
    run = ended(outputs, created_by=alice)
    for number, person in enumerate((alice, bob), start=1):
        Attempt.objects.create(run=run, number=number, kind=AttemptKind.SCORE, started_by=person)
    notify_run_end(run)
    assert Notice.objects.get().user == bob
