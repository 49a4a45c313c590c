"""A config on some cases of a past run: which cases, what comes of them, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from pytest_django.fixtures import Settings

from scoring.core.contract import ConfigError, Result, ServiceError
from scoring.engine.jobs import job_queue
from scoring.engine.tryout import preview, tryout
from scoring.engine.tryout.preview import MAX_NEAR_THRESHOLD, SAMPLE_SIZE, Config, Sample
from scoring.models import (
    AuditEntry,
    Connection,
    Job,
    JobKind,
    JobState,
    ModelCall,
    Output,
    Run,
    RunScorer,
    Score,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.stub import Stub, wire
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db(transaction=True)

LETTERS = "abcdefghij"
CLOSE = ("close", "levenshtein", {"decimals": None})
PRICE = {"usd_per_million_in": 1.0, "usd_per_million_out": 1.0}


def text(matching: int) -> str:
    """Ten characters of which so many are those that are expected."""
    return LETTERS[:matching] + "-" * (10 - matching)


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """220 cases with scores from 0 to 1 in steps of 0.1; the threshold is 0.7."""
    version = make_dataset([{"expected": LETTERS}] * 220)
    return finished_run(make_outputs(version, [text(n % 11) for n in range(220)]), CLOSE)


def scorer_of(run: Run) -> RunScorer:
    return run.scorers.get()


def scores(run: Run, sample: Sample) -> list[float]:
    found = dict(Score.objects.filter(scorer__run=run).values_list("output", "score"))
    return [found[output] or 0.0 for output in sample.outputs]


def test_half_of_the_sample_lies_next_to_the_threshold_on_either_side(run: Run) -> None:
    sample = preview.sample_outputs(run, scorer_of(run))
    assert (len(sample.outputs), sample.near, sample.left_out) == (
        SAMPLE_SIZE,
        MAX_NEAR_THRESHOLD,
        0,
    )
    near = [score for score in scores(run, sample) if score in {0.6, 0.7}]
    assert len(near) >= MAX_NEAR_THRESHOLD
    assert min(near.count(0.6), near.count(0.7)) >= MAX_NEAR_THRESHOLD // 2
    assert len(set(scores(run, sample))) > 5  # the others are from anywhere


def test_the_sample_is_the_same_each_time_and_in_the_order_of_the_dataset(run: Run) -> None:
    one, other = (preview.sample_outputs(run, scorer_of(run)) for _ in range(2))
    assert one == other
    places = dict(Output.objects.values_list("pk", "case__position"))
    assert [places[output] for output in one.outputs] == sorted(places[o] for o in one.outputs)


def test_a_run_without_the_scorer_is_sampled_at_random(run: Run) -> None:
    sample = preview.sample_outputs(run, None)
    assert (len(sample.outputs), sample.near) == (SAMPLE_SIZE, 0)


@pytest.mark.parametrize(
    ("texts", "near"),
    [(["abcdefghij"] * 40, MAX_NEAR_THRESHOLD), (["-"] * 40, MAX_NEAR_THRESHOLD), (["-"] * 3, 3)],
)
def test_a_side_that_is_empty_leaves_its_room_to_the_other(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, texts: list[str], near: int
) -> None:
    version = make_dataset([{"expected": LETTERS}] * len(texts))
    run = finished_run(make_outputs(version, texts), CLOSE)
    sample = preview.sample_outputs(run, scorer_of(run))
    assert (len(sample.outputs), sample.near) == (len(texts), near)


def test_what_failed_or_is_too_long_is_no_part_of_it(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MAX_CHARS", 100)
    cases = [{"expected": "a"}, {"expected": "a"}, {"expected": "b" * 200}, {"expected": "a"}]
    run = finished_run(make_outputs(make_dataset(cases), ["a", None, "a", "c" * 101]), CLOSE)
    sample = preview.sample_outputs(run, None)
    positions = Output.objects.filter(pk__in=sample.outputs).values_list("case__position")
    assert (list(positions), sample.left_out) == ([(1,)], 2)


def test_a_large_run_is_sampled_without_reading_its_ids(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    monkeypatch.setattr(preview, "MAX_IDS", 100)
    with django_assert_max_num_queries(8):
        sample = preview.sample_outputs(run, scorer_of(run))
    assert len(sample.outputs) == SAMPLE_SIZE
    assert sample == preview.sample_outputs(run, scorer_of(run))


def test_old_and_new_stand_beside_each_other_and_flips_come_first(run: Run, alice: User) -> None:
    sample = preview.sample_outputs(run, scorer_of(run))
    outputs = sample.outputs
    wanted = Config("levenshtein", {"decimals": None}, 0.65)
    after = preview.score_cases(wanted, outputs, alice)
    rows = preview.make_rows(sample, preview.read_results(scorer_of(run), outputs), after)
    flips = [row for row in rows if row.is_flipped]
    assert rows[: len(flips)] == flips
    assert not flips  # 0.6 is below 0.65 as it was below 0.7
    after = preview.score_cases(wanted._replace(threshold=0.6), outputs, alice)
    rows = preview.make_rows(sample, preview.read_results(scorer_of(run), outputs), after)
    flips = [row for row in rows if row.is_flipped]
    assert flips
    assert {row.words for row in flips} == {("fail", "pass")}
    assert {row.after.score for row in flips} == {0.6}
    assert not any(row.is_changed for row in rows)
    assert rows[: len(flips)] == flips


def test_a_changed_score_that_flips_nothing_comes_before_the_unchanged(run: Run) -> None:
    sample = preview.sample_outputs(run, None)
    outputs = sample.outputs
    same = Result("scored", 1.0, "pass", "", {})
    lower = Result("scored", 0.9, "pass", "", {})
    after = [lower if place == 30 else same for place in range(len(outputs))]
    rows = preview.make_rows(sample, [same] * len(outputs), after)
    assert [row.is_changed for row in rows[:2]] == [True, False]
    assert rows[0].position == preview.make_rows(sample, [None] * len(outputs), after)[30].position


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        (Config("regex", {"pattern": "("}, 1.0), ConfigError),
        (Config("regex", {"pattern": "(?=x)(x+x+)+y"}, 1.0), ServiceError),
    ],
)
def test_what_cannot_be_scored_says_so(
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    monkeypatch: pytest.MonkeyPatch,
    alice: User,
    wanted: Config,
    fault: type[Exception],
) -> None:
    run = finished_run(make_outputs(make_dataset([{}] * 9), ["x" * 5_000] * 9), CLOSE)
    outputs = preview.sample_outputs(run, None).outputs
    tryout.score("exact_match", {}, None, [])  # the helper is warm
    if fault is ServiceError:
        monkeypatch.setattr(tryout, "TIMEOUT_SECONDS", 0.3)
    with pytest.raises(fault):
        preview.score_cases(wanted, outputs, alice)


# Through the worker

RUBRIC = {"rubric": "Good?", "choices": {"good": 1.0, "bad": 0.0}, "model": "stub-1"}


@pytest.fixture
def judge(stub: Stub, team: Team, settings: Settings) -> Config:
    """A judge that says good of everything."""
    settings.EVALSITE_MODEL_HOSTS = stub.hosts
    url = stub.play("judge", wire.verdict("good"))
    Connection.objects.define(team, "own", url, offered=[{"name": "stub-1", **PRICE}], by=None)
    return Config("llm_judge", RUBRIC, 0.5)


def distinct(outputs: Sequence[int]) -> int:
    """How many texts the outputs hold: of each, a judge is asked once."""
    return Output.objects.filter(pk__in=outputs).values("text").distinct().count()


def test_a_judge_is_foreseen_without_being_asked(judge: Config, stub: Stub, run: Run) -> None:
    outputs = preview.sample_outputs(run, None).outputs
    found = preview.estimate_preview(run.team, judge, outputs)
    assert found.calls == distinct(outputs)
    assert found.cost_usd is not None
    assert found.cost_usd > 0
    assert stub.requests == []
    nothing = preview.estimate_preview(run.team, Config("exact_match", {}, 1.0), outputs)
    assert nothing.calls == 0


def test_the_worker_asks_the_judge_and_the_run_stays_as_it_is(
    judge: Config, stub: Stub, run: Run, alice: User
) -> None:
    before = list(Score.objects.values())
    sample = preview.sample_outputs(run, None)
    job = preview.enqueue_preview(judge, run, None, sample, alice)
    entry = AuditEntry.objects.get(action="scorer.previewed")
    assert (entry.actor, entry.team, entry.new["cases"]) == (alice, run.team, SAMPLE_SIZE)
    assert preview.enqueue_preview(judge, run, None, sample, alice) == job
    job_queue.run_job(job)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.problem
    results = preview.job_results(job)
    assert [result.verdict for result in results] == ["pass"] * SAMPLE_SIZE
    asked = ModelCall.objects.filter(team=run.team).count()
    assert asked == len(stub.requests) == distinct(sample.outputs)
    assert list(Score.objects.values()) == before


@pytest.mark.parametrize("what", ["run", "team", "config"])
def test_what_is_gone_meanwhile_is_said(
    judge: Config, run: Run, alice: User, charlie: User, what: str
) -> None:
    wanted = judge if what != "config" else Config("llm_judge", {}, 0.5)
    job = preview.enqueue_preview(wanted, run, None, preview.sample_outputs(run, None), alice)
    if what == "run":
        Run.objects.all().delete()
    if what == "team":
        Job.objects.update(team=Team.objects.get(slug="elsewhere"))
    job_queue.run_job(Job.objects.get())
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    said = "rubric: is required" if what == "config" else "the run is no longer there"
    assert said in job.problem


def test_codes_survive_the_way_through_the_worker(run: Run, alice: User) -> None:
    wanted = Config("exact_match", {"target_output_key": "a"}, 1.0)
    job = preview.enqueue_preview(wanted, run, None, preview.sample_outputs(run, None), alice)
    job_queue.run_job(job)
    job.refresh_from_db()
    assert {result.code for result in preview.job_results(job)} == {"invalid_json"}
    assert job.kind == JobKind.PREVIEW_SCORER
