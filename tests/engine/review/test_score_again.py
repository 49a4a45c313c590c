"""Runs over older versions are scored again: what changed is scored, the rest is reused."""

from __future__ import annotations

import pytest

from scoring.engine import drafts
from scoring.engine.drafts import TypedCase
from scoring.engine.drafts.accept import accept_output
from scoring.engine.drafts.jobs import publish_or_enqueue
from scoring.engine.jobs import job_queue
from scoring.engine.review import score_again
from scoring.engine.runs import planning
from scoring.models import (
    CaseVerdict,
    Dataset,
    DatasetVersion,
    Draft,
    Job,
    JobKind,
    Output,
    OutputSet,
    Run,
    Score,
    Scorer,
    Suite,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import finish, rows_of
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db
CASES = 6


@pytest.fixture
def scorer(team: Team, spy: Spy) -> Scorer:
    return Scorer.objects.define(team, "spy", "spy", {})


@pytest.fixture
def suite(team: Team, scorer: Scorer) -> Suite:
    return Suite.objects.define(team, "release", [(scorer, 0.5)])


@pytest.fixture
def runs(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, suite: Suite, alice: User
) -> list[Run]:
    """Three finished runs of one dataset, each of outputs of its own, in one series."""
    version = make_dataset(
        [{"key": f"q{n}", "input": f"{n}?", "expected": "0"} for n in range(CASES)]
    )
    made = []
    for name in ("w1", "w2", "w3"):
        outputs = make_outputs(version, ["0.2"] * CASES, "gpt")
        OutputSet.objects.filter(pk=outputs.pk).update(labels={"model": name})
        run = planning.create_run(outputs, suite=suite, name=name, by=alice)
        finish(run)
        made.append(run)
    return made


@pytest.fixture
def dataset(runs: list[Run]) -> Dataset:
    return Dataset.objects.get(pk=runs[0].output_set.version.dataset_id)


def corrected(dataset: Dataset, by: User, key: str = "q1") -> Draft:
    """A draft in which the case expects something else."""
    dataset.refresh_from_db()
    draft = drafts.open_draft(dataset, by)
    base = draft.based_on.cases.get(key=key)
    typed = TypedCase.of(base)
    drafts.save_case(draft, key, TypedCase(typed.input, "other"), by, 0)
    return draft


def publish(draft: Draft, by: User, runs: list[Run]) -> DatasetVersion:
    version = publish_or_enqueue(draft, "q1 was wrong", by, [str(run.uuid) for run in runs])
    assert version is not None
    return version


def work() -> Job:
    job = Job.objects.select_related("team", "requested_by").get(kind=JobKind.SCORE_AGAIN)
    job_queue.run_job(job)
    job.refresh_from_db()
    for run in Run.objects.filter(state="queued"):
        finish(run)
    return job


def test_one_corrected_case_scores_one_case_a_run_and_reuses_the_rest(
    dataset: Dataset, runs: list[Run], alice: User, spy: Spy
) -> None:
    before = {run.pk: rows_of(run) for run in runs}
    spy.asked.clear()
    version = publish(corrected(dataset, alice), alice, runs)
    job = work()
    assert spy.asked == ["0.2"] * len(runs)
    again = {str(run.uuid): run for run in Run.objects.exclude(pk__in=[run.pk for run in runs])}
    pairs = dict(job.answer["runs"])
    assert set(pairs) == {str(run.uuid) for run in runs}
    for run in Run.objects.filter(pk__in=before).select_related("output_set"):
        made = again[pairs[str(run.uuid)]]
        assert made.output_set.version == version
        assert made.output_set.copied_from == run.output_set
        for name in ("series", "dated", "labels", "name"):
            assert getattr(made.output_set, name) == getattr(run.output_set, name)
        assert (made.name, made.suite, made.created_by) == (run.name, run.suite, alice)
        assert [row[3:] for row in rows_of(made)] == [row[3:] for row in before[run.pk]]
        assert rows_of(run) == before[run.pk]
        assert CaseVerdict.objects.filter(run=made).count() == CASES


def test_what_was_scored_again_lends_all_its_scores(
    dataset: Dataset, runs: list[Run], alice: User, spy: Spy
) -> None:
    publish(corrected(dataset, alice), alice, runs[:1])
    work()
    spy.asked.clear()
    outputs = OutputSet.objects.get(copied_from=runs[0].output_set)
    finish(planning.create_run(outputs, suite=runs[0].suite, name="once more"))
    assert spy.asked == []


def test_an_unchanged_case_in_another_place_is_reused(
    dataset: Dataset, runs: list[Run], alice: User, spy: Spy
) -> None:
    dataset.refresh_from_db()
    draft = drafts.open_draft(dataset, alice)
    drafts.delete_case(draft, "q0", alice)
    drafts.add_case(draft, TypedCase("new?", "x"), alice, "q9")
    spy.asked.clear()
    publish(draft, alice, runs[:1])
    work()
    assert spy.asked == []
    assert Run.objects.get(output_set__copied_from=runs[0].output_set).case_count == CASES - 1


@pytest.mark.parametrize("field", ["references", "metadata", "tags"])
def test_whatever_a_scorer_may_read_counts_as_changed(
    dataset: Dataset, runs: list[Run], alice: User, spy: Spy, field: str
) -> None:
    dataset.refresh_from_db()
    draft = drafts.open_draft(dataset, alice)
    changed = {"references": ("1",), "metadata": {"a": 1}, "tags": ("odd",)}[field]
    drafts.save_case(draft, "q1", TypedCase("1?", "0", **{field: changed}), alice, 0)
    spy.asked.clear()
    publish(draft, alice, runs[:1])
    work()
    assert spy.asked == ["0.2"]


def test_a_job_that_is_begun_again_makes_no_run_twice(
    dataset: Dataset, runs: list[Run], alice: User
) -> None:
    publish(corrected(dataset, alice), alice, runs)
    work()
    count = Run.objects.count()
    Job.objects.filter(kind=JobKind.SCORE_AGAIN).update(state="working")
    work()
    assert Run.objects.count() == count == 2 * len(runs)


def test_what_cannot_be_scored_again_is_said_and_keeps_nobody_up(
    dataset: Dataset, runs: list[Run], alice: User, suite: Suite
) -> None:
    publish(corrected(dataset, alice), alice, runs)
    Run.objects.filter(pk=runs[0].pk).update(suite=None)
    runs[0].scorers.all().delete()
    job = work()
    assert len(job.answer["runs"]) == 2
    ((name, problem),) = job.answer["problems"]
    assert name == "w1"
    assert "name at least one scorer" in problem


def test_a_run_of_single_scorers_keeps_them_and_their_thresholds(
    dataset: Dataset, runs: list[Run], alice: User, scorer: Scorer
) -> None:
    single = planning.create_run(runs[0].output_set, scorers=[(scorer, 0.125)], name="single")
    finish(single)
    publish(corrected(dataset, alice), alice, [single])
    work()
    again = Run.objects.get(name="single", output_set__copied_from=runs[0].output_set)
    assert list(again.scorers.values_list("name", "threshold")) == [("spy", 0.125)]


def test_the_newest_run_of_each_set_is_offered_until_it_is_copied_on(
    dataset: Dataset, runs: list[Run], alice: User
) -> None:
    newer = planning.create_run(runs[0].output_set, suite=runs[0].suite, name="newer")
    finish(newer)
    assert score_again.runs_to_score_again(dataset) == [newer, runs[2], runs[1]]
    assert score_again.older_runs(dataset) == []
    publish(corrected(dataset, alice), alice, [newer])
    dataset.refresh_from_db()
    older = score_again.older_runs(dataset)
    assert [(each.run, len(each.again)) for each in older] == [
        (newer, 0),
        (runs[2], 0),
        (runs[1], 0),
    ]
    work()
    done = {
        each.run.name: [run.name for run in each.again] for each in score_again.older_runs(dataset)
    }
    assert done == {"newer": ["newer"], "w3": [], "w2": []}
    offered = score_again.runs_to_score_again(dataset)
    assert [run.name for run in offered] == ["newer", "w3", "w2"]
    assert offered[0].output_set.version == dataset.latest


def test_nothing_is_enqueued_for_no_run(dataset: Dataset, runs: list[Run], alice: User) -> None:
    assert dataset.latest is not None
    assert score_again.enqueue(dataset, dataset.latest, [], alice) is None
    assert not Job.objects.filter(kind=JobKind.SCORE_AGAIN).exists()


def test_a_large_draft_scores_again_once_it_is_published(
    dataset: Dataset, runs: list[Run], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.drafts.jobs.MAX_INLINE_CASES", 0)
    draft = corrected(dataset, alice)
    assert publish_or_enqueue(draft, "q1", alice, [str(runs[0].uuid)]) is None
    publishing = Job.objects.select_related("team", "requested_by").get(kind=JobKind.PUBLISH_DRAFT)
    job_queue.run_job(publishing)
    work()
    assert Run.objects.filter(output_set__copied_from=runs[0].output_set).count() == 1


def test_an_accepted_output_passes_after_that(
    dataset: Dataset, runs: list[Run], alice: User
) -> None:
    output = Output.objects.select_related("case").get(
        output_set=runs[0].output_set, case__key="q2"
    )
    draft = drafts.open_draft(dataset, alice)
    accept_output(draft, output, alice, as_reference=False)
    version = publish(draft, alice, runs[:1])
    assert version.cases.get(key="q2").expected == "0.2"
    assert Score.objects.filter(scorer__run=runs[0]).count() == CASES
