"""A run's name and note, the archive, deletion for a while and for good."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from scoring.engine import search
from scoring.engine.compare import comparison
from scoring.engine.runs import lifecycle, neighbours, planning, score_reuse
from scoring.models import (
    Attempt,
    AuditEntry,
    Baseline,
    CaseVerdict,
    Output,
    Run,
    RunScorer,
    RunSummary,
    Score,
    Shard,
    User,
)
from scoring.models.runs.case_history import read_case_history
from scoring.models.runs.run_drift import runs_in_time
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import EXACT, finished_run, queued_run


@pytest.fixture
def two(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> list[Run]:
    """An earlier run and a later one of its series, over the same cases."""
    version = make_dataset([{"expected": "yes"}, {"expected": "no"}])
    texts = [["yes", "no"], ["yes", "yes"]]
    names = ["w45", "w46"]
    return [
        finished_run(make_outputs(version, said), EXACT, name=name)
        for said, name in zip(texts, names, strict=True)
    ]


def actions() -> list[str]:
    entries = AuditEntry.objects.filter(target_type="run").order_by("pk")
    told = entries.values_list("action", flat=True)
    return [action for action in told if action.split(".")[1] not in {"created", "finished"}]


def test_a_name_and_a_note_are_audited_with_what_they_were(two: list[Run], alice: User) -> None:
    run = two[0]
    lifecycle.edit_run(run, name="release", note="Do not\nship.", by=alice)
    lifecycle.edit_run(run, name="release", note="Do not\nship.", by=alice)
    run.refresh_from_db()
    assert (run.name, run.note) == ("release", "Do not\nship.")
    [entry] = AuditEntry.objects.filter(action="run.edited")
    assert (entry.old, entry.actor) == ({"name": "w45", "note": ""}, alice)


def test_archiving_twice_archives_once(two: list[Run], alice: User) -> None:
    for _ in range(2):
        lifecycle.archive_run(two[0], alice)
    assert list(Run.objects.unarchived()) == [two[1]]
    for _ in range(2):
        lifecycle.unarchive_run(two[0], alice)
    assert Run.objects.unarchived().count() == 2
    assert actions()[-2:] == ["run.archived", "run.unarchived"]


def test_a_deleted_run_is_nowhere_and_comes_back_whole(two: list[Run], alice: User) -> None:
    before, after = two
    lifecycle.delete_run(before, alice)
    dataset = before.output_set.version.dataset
    assert list(Run.objects.all()) == list(before.team.runs.all()) == [after]
    assert list(RunScorer.objects.values_list("run", flat=True)) == [after.pk]
    assert [point.run for point in runs_in_time(dataset)] == [after]
    assert [seen.name for seen in read_case_history(after, "case-1").seen] == ["w46"]
    assert neighbours.run_baseline(after) is None
    assert search.search(before.team, "w45").runs == []
    assert score_reuse.reusable_scorers(after, list(after.scorers.all())) == {}
    lifecycle.restore_run(Run.with_deleted.get(pk=before.pk), alice)
    assert neighbours.run_baseline(after) == before
    assert comparison.compare_runs(before, after).figures["broke"] == 1
    assert actions()[-2:] == ["run.deleted", "run.restored"]


def test_drift_forgets_a_deleted_run(two: list[Run]) -> None:
    lifecycle.delete_run(two[1], None)
    dataset = two[0].output_set.version.dataset
    assert [point.run for point in runs_in_time(dataset)] == [two[0]]


def test_a_run_at_work_is_not_deleted(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
    run = queued_run(make_outputs(make_dataset([{}]), ["a"]))
    with pytest.raises(ValidationError, match="The run is queued: cancel it first"):
        lifecycle.delete_run(run, None)
    assert planning.cancel_run(run, None)
    lifecycle.delete_run(run, None)
    assert not Run.objects.exists()


def test_a_baseline_is_not_deleted(two: list[Run], alice: User) -> None:
    Baseline.objects.pin(two[0], by=alice)
    with pytest.raises(ValidationError, match="take it back as baseline first"):
        lifecycle.delete_run(two[0], alice)


@pytest.mark.parametrize(("days", "is_kept"), [(6.9, True), (7.1, False)])
def test_a_deleted_run_is_purged_when_its_time_is_over(
    two: list[Run], alice: User, days: float, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "ROWS_A_STEP", 1)
    gone, other = two
    lifecycle.delete_run(gone, alice)
    when = timezone.now() - timedelta(days=days)
    Run.with_deleted.filter(pk=gone.pk).update(deleted_at=when)
    lifecycle.purge_deleted_runs()
    assert Run.with_deleted.filter(pk=gone.pk).exists() == is_kept
    rows = [
        Score.objects.filter(scorer__run_id=gone.pk),
        CaseVerdict.objects.filter(run=gone.pk),
        RunSummary.objects.filter(scorer__run_id=gone.pk),
        Shard.objects.filter(attempt__run_id=gone.pk),
        Attempt.objects.filter(run_id=gone.pk),
    ]
    assert {found.exists() for found in rows} == {is_kept}
    assert Output.objects.filter(output_set=gone.output_set_id).exists()
    assert CaseVerdict.objects.filter(run=other).count() == 2
    assert (actions()[-1] == "run.purged") == (not is_kept)
    assert Run.objects.get() == other


def test_a_run_that_cannot_be_purged_keeps_no_other(
    two: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in two:
        lifecycle.delete_run(run, None)
    Run.with_deleted.update(deleted_at=timezone.now() - timedelta(days=8))
    real = Run.delete

    def delete(run: Run) -> object:
        if run.pk == two[0].pk:
            raise OverflowError("too large")
        return real(run)

    monkeypatch.setattr(Run, "delete", delete)
    lifecycle.purge_deleted_runs()
    assert Run.with_deleted.get() == two[0]


def test_what_is_not_deleted_is_never_purged(two: list[Run]) -> None:
    lifecycle.archive_run(two[0], None)
    lifecycle.purge_deleted_runs()
    assert Run.objects.count() == 2


def test_a_run_whose_time_is_over_cannot_be_brought_back(two: list[Run], alice: User) -> None:
    lifecycle.delete_run(two[0], alice)
    for days, is_there in ((6.9, True), (7.1, False)):
        when = timezone.now() - timedelta(days=days)
        Run.with_deleted.filter(pk=two[0].pk).update(deleted_at=when)
        assert Run.with_deleted.deleted().exists() is is_there


@pytest.mark.parametrize("act", [lifecycle.delete_run, lifecycle.restore_run])
def test_what_follows_a_change_fails_with_it(
    two: list[Run], alice: User, act: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if act is lifecycle.restore_run:
        lifecycle.delete_run(two[0], alice)
    before = Run.with_deleted.get(pk=two[0].pk).deleted_at, actions()
    monkeypatch.setattr(lifecycle, "call_hooks", Mock(side_effect=KeyError("hook")))
    with pytest.raises(KeyError, match="hook"):
        act(Run.with_deleted.get(pk=two[0].pk), alice)
    assert (Run.with_deleted.get(pk=two[0].pk).deleted_at, actions()) == before
