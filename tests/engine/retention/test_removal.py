"""What is removed is gone everywhere, what is kept is unchanged, and the log tells of it."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from scoring.core.contract import ConfigError
from scoring.engine.judges.variance import TooFewOutputsError, measure_variance
from scoring.engine.retention import removal
from scoring.engine.review import carry_over as copying
from scoring.engine.review.carry_over import CarryOverError, carry_over
from scoring.engine.runs import lifecycle, planning
from scoring.models import (
    AuditEntry,
    CaseVerdict,
    DatasetVersion,
    ModelCall,
    Output,
    OutputSet,
    Run,
    RunState,
    RunSummary,
    Score,
    User,
)
from scoring.models.runs.run import TEXT_REMOVED
from tests.conftest import MakeDataset
from tests.engine.retention.conftest import Store
from tests.support.run_states import queued_run


def entries(action: str) -> list[dict[str, Any]]:
    return list(AuditEntry.objects.filter(action=action, actor_id="").values_list("new", flat=True))


def test_old_runs_are_deleted_and_can_be_restored(store: Store, alice: User) -> None:
    removal.delete_runs(store.team, store.before)
    assert list(Run.objects.all()) == [store.new]
    assert entries("run.deleted") == [{}]
    lifecycle.restore_run(Run.with_deleted.get(pk=store.old.pk), alice)
    removal.delete_runs(store.team, store.before)
    assert Run.objects.count() == 2


def test_a_run_that_was_started_again_meanwhile_stays(store: Store) -> None:
    Run.objects.filter(pk=store.old.pk).update(state=RunState.QUEUED)
    removal._delete_run(store.old)
    assert Run.objects.count() == 2


def test_texts_go_and_figures_stay(store: Store) -> None:
    rows = Score.objects.order_by("pk").values_list("pk", "status", "score", "verdict", "code")
    before = list(rows), list(CaseVerdict.objects.values()), list(RunSummary.objects.values())
    assert Output.objects.exclude(search_text=None).count() == 1
    removal.remove_texts(store.team, store.before)
    assert before == (
        list(rows),
        list(CaseVerdict.objects.values()),
        list(RunSummary.objects.values()),
    )
    gone = Output.objects.filter(output_set=store.old.output_set)
    assert set(gone.values_list("text", "search_text", "error")) == {(None, None, TEXT_REMOVED)}
    kept = Output.objects.filter(output_set=store.new.output_set)
    assert list(kept.values_list("text", flat=True)) == ["the red fox", "a green bird"]
    emptied = OutputSet.objects.get(pk=store.old.output_set_id)
    assert emptied.state == "emptied"
    assert emptied.emptied_at
    assert entries("output_set.texts_removed") == [{"outputs": 2}]


def test_of_two_workers_one_marks_the_outputs(store: Store) -> None:
    outputs = OutputSet.objects.get(pk=store.old.output_set_id)
    for _ in range(2):
        removal._mark_emptied(outputs)
    assert len(entries("output_set.texts_removed")) == 1


def test_no_quotation_of_the_texts_is_left(store: Store) -> None:
    quoted = Score.objects.filter(scorer__run=store.old)
    quoted.update(reason="says dog", metadata_json=json.dumps({"answer": "dog", "code": "odd"}))
    parts = [{"name": "near", "status": "scored", "score": 0.5, "metadata": {"answer": "dog"}}]
    of_parts = quoted.filter(scorer__name="both")
    of_parts.update(metadata_json=json.dumps({"children": parts}))
    removal.remove_texts(store.team, store.before)
    stored = [{**row} for row in quoted.values("reason", "metadata_json")]
    assert "dog" not in json.dumps(stored)
    assert {row["reason"] for row in stored} == {""}
    plain = quoted.exclude(scorer__name="both").first()
    assert plain
    assert plain.metadata == {"code": "odd", "trimmed": True}
    both = of_parts.first()
    assert both
    assert both.metadata["children"] == [{"name": "near", "status": "scored", "score": 0.5}]


def test_a_removal_that_was_interrupted_is_finished(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "ROWS_A_STEP", 1)
    remove, steps = removal._remove_quotations, []

    def fail_later(scorer: int, outputs: list[int]) -> None:
        steps.append(scorer)
        if len(steps) == 3:  # of the second output
            raise RuntimeError("killed")
        remove(scorer, outputs)

    monkeypatch.setattr(removal, "_remove_quotations", fail_later)
    removal.remove_texts(store.team, store.before)
    of_set = Output.objects.filter(output_set=store.old.output_set)
    assert of_set.filter(text=None).count() == 1
    removal.remove_texts(store.team, store.before)
    assert of_set.filter(text=None).count() == 2
    assert OutputSet.objects.filter(emptied_at__isnull=False).count() == 1
    assert len(entries("output_set.texts_removed")) == 1


def test_emptied_outputs_are_not_scored_again(store: Store, alice: User) -> None:
    run = store.old
    before_removal = OutputSet.objects.get(pk=run.output_set_id)
    Score.objects.filter(scorer__run=run).update(status=1, score=None, verdict=None, code="late")
    removal.remove_texts(store.team, store.before)
    with pytest.raises(ConfigError):
        queued_run(before_removal)
    assert planning.retry_errors(run, alice) is None
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED)
    assert not planning.resume_run(run, alice)
    judged = Run.objects.get(pk=run.pk).scorers.get(name="close")
    with pytest.raises(TooFewOutputsError):
        measure_variance(judged, services=None)  # type: ignore[arg-type]


def test_emptied_outputs_are_not_carried_over(
    store: Store, alice: User, make_dataset: MakeDataset
) -> None:
    removal.remove_texts(store.team, store.before)
    later: DatasetVersion = make_dataset([{"expected": "the red fox"}], name="other")
    with pytest.raises(CarryOverError):
        carry_over(OutputSet.objects.get(pk=store.old.output_set_id), later, alice)


def test_a_copy_of_outputs_that_are_emptied_meanwhile_is_none(
    store: Store, alice: User, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = make_dataset([{"expected": "the red fox"}, {"expected": "a blue bird"}], name="later")
    copy = copying._copy_outputs

    def copy_late(*given: Any) -> None:
        copy(*given)
        removal.remove_texts(store.team, store.before)

    monkeypatch.setattr(copying, "_copy_outputs", copy_late)
    with pytest.raises(CarryOverError):
        copying.carry_over(store.old.output_set, later, alice)
    assert not OutputSet.objects.filter(version=later).exists()


def test_replies_go_and_costs_stay(store: Store) -> None:
    removal.remove_replies(store.team, store.before)
    old, new = (ModelCall.objects.get(run=run) for run in (store.old, store.new))
    assert (old.reply, old.refusal, old.cache_key, old.tokens_in) == ("", "", None, 7)
    assert old.removed_at
    assert (new.reply, new.cache_key, new.removed_at) == ("said", "new", None)
    assert entries("model_replies.removed") == [{"calls": 1}]


def test_without_old_replies_nothing_is_told(store: Store) -> None:
    removal.remove_replies(store.team, store.old.created_at)
    assert entries("model_replies.removed") == []


def test_the_rest_of_the_log_is_still_verified(store: Store) -> None:
    last = AuditEntry.objects.of(store.team).first()
    assert last
    removal.remove_entries(store.team, last.at)
    assert entries("audit.removed")[0]["entries"] > 0
    out = StringIO()
    call_command("verify_audit", stdout=out)
    assert "The audit log is sound: 2 entries in 1 chain." in out.getvalue()
