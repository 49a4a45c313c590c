"""Which run a series is compared with: pinned, changed and taken back, never silently."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from scoring.models import (
    AuditEntry,
    Baseline,
    CaseVerdict,
    ModelCall,
    Output,
    OutputSet,
    Run,
    RunScorer,
    RunState,
    RunSummary,
    Score,
    Scorer,
    User,
    Verdict,
)
from scoring.models.pairs.comparison import baseline_problem
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, finished_run, queued_run

MakeRun = Callable[..., Run]


@pytest.fixture
def make_run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> MakeRun:
    version = make_dataset([{"expected": "yes"}, {"expected": "no"}])

    def make(name: str, texts: Sequence[str | None] = ("yes", "yes"), series: str = "a") -> Run:
        return finished_run(make_outputs(version, texts, series=series), CLOSE, name=name)

    return make


def entries() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action__startswith="baseline.").order_by("id"))


def test_a_finished_run_is_pinned_for_its_dataset_and_series(
    make_run: MakeRun, alice: User
) -> None:
    run = make_run("w1")
    pinned = Baseline.objects.pin(run, by=alice)
    assert (pinned.run, pinned.series, pinned.pinned_by) == (run, "a", alice)
    assert pinned.dataset == run.output_set.version.dataset
    assert Baseline.objects.of(run).get() == pinned
    (entry,) = entries()
    assert (entry.action, entry.actor, entry.team) == ("baseline.pinned", alice, run.team)
    assert (entry.old, entry.new) == ({}, {"run": str(run.uuid), "name": "w1"})


def test_another_run_takes_its_place_and_the_audit_knows_both(
    make_run: MakeRun, alice: User
) -> None:
    first, second = make_run("w1"), make_run("w2")
    Baseline.objects.pin(first, by=alice)
    Baseline.objects.pin(second, by=alice)
    assert Baseline.objects.get().run == second
    entry = entries()[-1]
    assert entry.old == {"run": str(first.uuid), "name": "w1"}
    assert entry.new == {"run": str(second.uuid), "name": "w2"}


def test_pinning_the_same_run_again_changes_nothing(make_run: MakeRun, alice: User) -> None:
    run = make_run("w1")
    once = Baseline.objects.pin(run, by=alice)
    assert Baseline.objects.pin(run, by=None) == once
    assert Baseline.objects.get().pinned_by == alice
    assert len(entries()) == 1


def test_every_series_has_its_own(make_run: MakeRun, alice: User) -> None:
    one, other = make_run("w1", series="a"), make_run("w1", series="b")
    Baseline.objects.pin(one, by=alice)
    Baseline.objects.pin(other, by=alice)
    assert Baseline.objects.of(one).get().run == one
    assert Baseline.objects.of(other).get().run == other


def test_a_series_never_has_two(make_run: MakeRun, alice: User) -> None:
    first, second = make_run("w1"), make_run("w2")
    pinned = Baseline.objects.pin(first, by=alice)
    with pytest.raises(IntegrityError), transaction.atomic():
        Baseline.objects.create(dataset=pinned.dataset, series="a", run=second)


def test_unpinning_is_audited(make_run: MakeRun, alice: User) -> None:
    run = make_run("w1")
    Baseline.objects.pin(run, by=alice).unpin(by=alice)
    assert not Baseline.objects.exists()
    entry = entries()[-1]
    assert (entry.action, entry.actor, entry.target_name) == ("baseline.unpinned", alice, "w1")
    assert (entry.old, entry.new) == ({"run": str(run.uuid), "name": "w1"}, {})


def test_a_removed_run_is_nobodys_baseline(make_run: MakeRun, alice: User) -> None:
    run = make_run("w1")
    Baseline.objects.pin(run, by=alice)
    run.delete()
    assert not Baseline.objects.exists()


# Who is no measure.

WITHOUT_OUTPUT = "of the dataset version without an output: make a run over all."


def test_a_run_that_has_not_finished_is_refused(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "yes"}]), ["yes"])
    run = queued_run(outputs)
    refused(run, "The run is queued: only a finished run can be a baseline.")
    run.state = RunState.CANCELLED
    refused(run, "The run is cancelled: only a finished run can be a baseline.")


def test_a_run_with_errors_is_refused(make_run: MakeRun) -> None:
    refused(make_run("w1", ["yes", None]), "1 case has an error: score the errors again first.")


def test_an_error_behind_a_failed_case_is_refused_too(make_run: MakeRun) -> None:
    run = make_run("w1")
    assert run.error_count == 0
    RunSummary.objects.filter(scorer__run=run).update(error_causes={"timeout": 2})
    refused(run, "close has 2 errors: score the errors again first.")


def test_a_run_over_a_part_of_the_cases_is_refused(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"expected": "yes"}] * 3)
    outputs = make_outputs(version, ["yes"] * 3)
    Output.objects.filter(output_set=outputs, case__position__gt=1).delete()
    OutputSet.objects.filter(pk=outputs.pk).update(output_count=1)
    refused(finished_run(outputs), f"2 cases {WITHOUT_OUTPUT}")


def test_several_trials_of_a_case_are_one_case(make_run: MakeRun) -> None:
    run = make_run("w1")
    first = CaseVerdict.objects.filter(run=run).earliest("position")
    CaseVerdict.objects.create(
        run=run, output_id=first.output_id, position=1, trial=1, verdict=Verdict.PASS
    )
    assert baseline_problem(run) == ""
    CaseVerdict.objects.filter(run=run, position=2).delete()
    refused(run, f"1 case {WITHOUT_OUTPUT}")


def judged(run: Run, *names: str) -> Run:
    """The run as if one judge had scored it, its paid calls answered by these models."""
    judge = Scorer.objects.define(run.team, "judge", "llm_judge", JUDGE)
    RunScorer.objects.filter(run=run).update(version=judge.current, name="judge")
    for number, name in enumerate(names):
        ModelCall.objects.create(**call(run), model=name, cache_key=f"{number:064}")
    return run


JUDGE = {
    "model": "gpt-4o",
    "rubric": "Is {{output}} right?",
    "choices": {"yes": 1.0, "no": 0.0},
}


def call(run: Run) -> dict[str, Any]:
    return {"team": run.team, "run": run, "purpose": "judge"}


def refused(run: Run, text: str) -> None:
    assert baseline_problem(run) == text
    with pytest.raises(ValidationError) as raised:
        Baseline.objects.pin(run, by=None)
    assert raised.value.messages == [text]
    assert not Baseline.objects.exists()
    assert entries() == []


def test_a_judge_that_several_models_answered_for_is_refused(make_run: MakeRun) -> None:
    run = judged(make_run("w1"), "gpt-4o-2024-05-13", "gpt-4o-2024-08-06")
    said = "gpt-4o-2024-05-13, gpt-4o-2024-08-06"
    refused(run, f"The judge judge was answered by several models ({said}): make a run with one.")


def test_a_judge_with_one_model_behind_it_will_do(make_run: MakeRun) -> None:
    assert baseline_problem(judged(make_run("w1"), "gpt-4o-2024-05-13")) == ""


def told(run: Run, answered: dict[str, list[str]]) -> Run:
    """The run as if these judges had scored it; each score tells a model that answered."""
    RunScorer.objects.filter(run=run).delete()
    outputs = list(Output.objects.filter(output_set=run.output_set))
    for place, (name, models) in enumerate(answered.items()):
        judge = Scorer.objects.define(run.team, name, "llm_judge", JUDGE)
        scorer = RunScorer.objects.create(
            run=run, version=judge.current, name=name, threshold=0.5, position=place
        )
        Score.objects.bulk_create(
            Score(
                scorer=scorer,
                output=output,
                status=0,
                score=1.0,
                verdict=0,
                metadata_json=json.dumps({"reasons": "fine", "model": model}),
            )
            for output, model in zip(outputs, models, strict=True)
        )
        for output, model in zip(outputs, models, strict=True):
            key = f"{name} {output.pk}"
            ModelCall.objects.create(**call(run), model=model, cache_key=key)
    return run


def test_of_several_judges_each_is_looked_at(make_run: MakeRun) -> None:
    run = told(make_run("w1"), {"tone": ["mini", "mini"], "truth": ["large-b", "large-a"]})
    said = "The judge truth was answered by several models (large-a, large-b): make a run with one."
    refused(run, said)


def test_several_judges_may_have_a_model_each(make_run: MakeRun) -> None:
    run = told(make_run("w1"), {"tone": ["mini", "mini"], "truth": ["large", "large"]})
    assert baseline_problem(run) == ""


def test_kept_replies_of_another_model_count_as_well(make_run: MakeRun) -> None:
    """They were paid by an earlier run."""
    run = told(make_run("w1"), {"tone": ["mini-1", "mini-2"]})
    ModelCall.objects.filter(model="mini-1").update(run=None)
    refused(
        run, "The judge tone was answered by several models (mini-1, mini-2): make a run with one."
    )


def test_what_other_scorers_tell_of_models_is_no_judgement(make_run: MakeRun) -> None:
    run = make_run("w1")
    for number, score in enumerate(Score.objects.filter(scorer__run=run)):
        Score.objects.filter(pk=score.pk).update(metadata_json=f'{{"model": "m{number}"}}')
    assert baseline_problem(run) == ""


def test_a_deleted_run_is_refused(make_run: MakeRun, alice: User) -> None:
    run = make_run("w1")
    Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now())
    with pytest.raises(ValidationError, match="deleted meanwhile"):
        Baseline.objects.pin(run, by=alice)


def test_unpinning_twice_is_audited_once(make_run: MakeRun, alice: User) -> None:
    Baseline.objects.pin(make_run("w1"), by=alice)
    one, same = Baseline.objects.get(), Baseline.objects.get()
    one.unpin(by=alice)
    same.unpin(by=alice)
    assert AuditEntry.objects.filter(action="baseline.unpinned").count() == 1
