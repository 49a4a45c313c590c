"""Which rows are too old, and which stay although they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.engine.retention import rules
from scoring.engine.review.carry_over import carry_over
from scoring.engine.runs import lifecycle
from scoring.models import (
    AuditEntry,
    Baseline,
    ModelCall,
    OutputSet,
    ReleaseDecision,
    ReviewQueue,
    Run,
    RunState,
    Team,
    User,
)
from scoring.models.runs.release_decision import ReleaseState
from tests.conftest import MakeDataset
from tests.engine.retention.conftest import Store, backdate


def test_only_what_is_older_than_the_moment(store: Store) -> None:
    team, before = store.team, store.before
    assert list(rules.runs_to_delete(team, before)) == [store.old]
    assert list(rules.sets_to_empty(team, before)) == [store.old.output_set]
    assert [call.run for call in rules.replies_to_remove(team, before)] == [store.old]
    assert not rules.entries_to_remove(team, before).exists()
    everything = timezone.now() + timedelta(hours=1)
    assert rules.entries_to_remove(team, everything).count() == AuditEntry.objects.count()


def test_a_copy_is_as_old_as_what_was_first_stored(
    store: Store, alice: User, make_dataset: MakeDataset
) -> None:
    """Or copying outputs from version to version would keep their texts for ever."""
    later = make_dataset([{"expected": "the red fox"}, {"expected": "a blue bird"}], name="later")
    copy = carry_over(store.old.output_set, later, alice)
    assert set(rules.sets_to_empty(store.team, store.before)) == {store.old.output_set, copy}


def test_another_team_keeps_its_own(store: Store) -> None:
    other = Team.objects.create(name="Elsewhere", slug="elsewhere")
    later = timezone.now() + timedelta(hours=1)
    assert not rules.runs_to_delete(other, later).exists()
    assert not rules.sets_to_empty(other, later).exists()
    assert not rules.replies_to_remove(other, later).exists()


def pin(run: Run, by: User) -> None:
    Baseline.objects.pin(run, by=by)


def decide(run: Run, by: User) -> None:
    ReleaseDecision.objects.decide(run, ReleaseState.REJECTED, "Not yet.", {}, baseline=None, by=by)


def queue(run: Run, by: User) -> None:
    ReviewQueue.objects.create(team=run.team, run=run, name="w46", created_by=by)


@pytest.mark.parametrize("need", [pin, decide, queue])
def test_a_run_that_something_rests_on_stays(store: Store, alice: User, need: object) -> None:
    assert callable(need)
    need(store.old, alice)
    assert not rules.runs_to_delete(store.team, store.before).exists()
    assert list(rules.runs_still_needed(store.team, store.before)) == [store.old]


def test_a_closed_queue_needs_no_run(store: Store, alice: User) -> None:
    queue(store.old, alice)
    ReviewQueue.objects.update(closed_at=timezone.now())
    assert list(rules.runs_to_delete(store.team, store.before)) == [store.old]


def test_a_restored_run_starts_anew(store: Store, alice: User) -> None:
    lifecycle.delete_run(store.old, alice)
    assert not rules.runs_to_delete(store.team, store.before).exists()
    lifecycle.restore_run(store.old, alice)
    assert not rules.runs_to_delete(store.team, store.before).exists()
    backdate(Run.objects.filter(pk=store.old.pk), "restored_at")
    assert list(rules.runs_to_delete(store.team, store.before)) == [store.old]


def test_a_run_that_is_working_keeps_its_texts(store: Store) -> None:
    Run.objects.filter(pk=store.old.pk).update(state=RunState.QUEUED)
    assert not rules.sets_to_empty(store.team, store.before).exists()
    assert not rules.runs_to_delete(store.team, store.before).exists()


def test_what_is_removed_is_not_removed_again(store: Store) -> None:
    ModelCall.objects.update(removed_at=timezone.now())
    OutputSet.objects.update(state="emptied")
    assert not rules.replies_to_remove(store.team, store.before).exists()
    assert not rules.sets_to_empty(store.team, store.before).exists()
