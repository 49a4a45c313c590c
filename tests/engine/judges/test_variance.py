"""A/A checks: what they ask, what they leave alone, and their figures against numpy and scipy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.engine.jobs import job_queue
from scoring.engine.judges import variance
from scoring.engine.judges.variance import (
    Pair,
    TooFewOutputsError,
    estimate_variance,
    measure_variance,
    run_variance_check,
)
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.services.team_services import TeamServices
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    CallPurpose,
    Connection,
    Job,
    JobKind,
    JobState,
    JudgeVariance,
    ModelCall,
    Run,
    RunScorer,
    Team,
    User,
)
from tests.stub import Asked, Stub, wire
from tests.stub.wire import Answer
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CHOICES = {"good": 1.0, "fair": 0.5, "bad": 0.0}
PRICE = {"usd_per_million_in": 100.0, "usd_per_million_out": 0.0}
CALL_USD = 0.01

Script = Callable[[Asked], Answer]
Judged = Callable[..., Run]


@pytest.fixture
def judged(
    team: Team, stub: Stub, make_scorer: MakeScorer, make_run: MakeRun, threads: ThreadPool
) -> Judged:
    """A run of so many outputs, scored by the judge that the script plays."""

    def made(count: int, script: Script | Answer, **config: object) -> Run:
        url = stub.play("judge", script)
        Connection.objects.define(team, "own", url, offered=[{"name": "stub-1", **PRICE}], by=None)
        wanted = {"rubric": "How good is it?", "choices": CHOICES, "model": "stub-1", **config}
        run = make_run([f"Answer {n}." for n in range(count)], make_scorer("llm_judge", **wanted))
        run_to_end(run, threads)
        stub.requests.clear()
        return run

    return made


def wavering(first: str, *later: Answer) -> Script:
    """Says `first` of every output, and from the second time on what comes next in `later`."""
    times: defaultdict[str, int] = defaultdict(int)

    def answer(asked: Asked) -> Answer:
        number = times[asked.user]
        times[asked.user] += 1
        return wire.verdict(first) if number == 0 else later[(number - 1) % len(later)]

    return answer


def scorer_of(run: Run) -> RunScorer:
    return RunScorer.objects.select_related("run__team", "version").get(run=run)


def checked(run: Run, sample: int = variance.SAMPLE, by: User | None = None) -> JudgeVariance:
    services = TeamServices(run.team, purpose=CallPurpose.TRY)
    return measure_variance(scorer_of(run), services, sample=sample, by=by)


class TestFigures:
    PAIRS = st.lists(
        st.builds(Pair, st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=2, max_size=80
    )

    @given(PAIRS)
    def test_they_are_those_of_numpy_and_scipy(self, pairs: list[Pair]) -> None:
        found = variance.variance_figures(pairs)
        differences = np.array([second - first for first, second, _ in pairs])
        n = len(pairs)
        deviation = differences.std(ddof=1)
        assert (found["n"], found["flips"]) == (n, sum(pair.is_flipped for pair in pairs))
        assert found["mean_difference"] == pytest.approx(differences.mean(), abs=1e-12)
        assert found["deviation"] == pytest.approx(deviation, abs=1e-12)
        band = stats.t.ppf(0.975, n - 1) * deviation / np.sqrt(n)
        assert found["band"] == pytest.approx(band, rel=1e-4, abs=1e-12)

    def test_the_band_holds_what_noise_alone_does(self) -> None:
        """Of 500 pairs of runs that differ by nothing, some 95 % lie inside each one's band."""
        random = np.random.default_rng(7)
        inside = 0
        for _ in range(500):
            first, second = random.normal(0.5, 0.1, (2, 30))
            row = JudgeVariance(
                **variance.variance_figures(
                    [Pair(*p, False) for p in zip(first, second, strict=True)]
                )
            )
            again = random.normal(0.5, 0.1, (2, 300)).mean(axis=1)
            band = row.band_for(300)
            assert band is not None
            inside += abs(again[1] - again[0]) <= band
        assert 0.92 <= inside / 500 <= 0.98

    @pytest.mark.parametrize(("n", "deviation", "count"), [(0, None, 5), (1, None, 5), (9, 0.1, 0)])
    def test_without_a_deviation_there_is_no_band(
        self, n: int, deviation: float | None, count: int
    ) -> None:
        assert JudgeVariance(n=n, deviation=deviation).band_for(count) is None


class TestCheck:
    def test_a_judge_that_never_wavers_has_no_noise(self, judged: Judged, stub: Stub) -> None:
        check = checked(judged(12, wire.verdict("fair")))
        assert (check.n, check.errors, check.flips) == (12, 0, 0)
        assert (check.mean_difference, check.deviation, check.band) == (0.0, 0.0, 0.0)
        assert check.pairs == [[0.5, 0.5]] * 12
        assert len(stub.requests) == 12

    def test_a_wavering_judge_gives_the_known_figures(self, judged: Judged) -> None:
        choices = ["fair", "fair", "bad", "good"]
        seen: set[str] = set()

        def answer(asked: Asked) -> Answer:
            if asked.user not in seen:
                seen.add(asked.user)
                return wire.verdict("fair")
            (choice,) = (c for n, c in enumerate(choices) if f"Answer {n}." in asked.user)
            return wire.verdict(choice)

        check = checked(judged(4, answer))
        assert check.pairs == [[0.5, 0.5], [0.5, 0.5], [0.5, 0.0], [0.5, 1.0]]
        assert (check.n, check.flips, check.mean_difference) == (4, 1, 0.0)
        deviation = (0.5 / 3) ** 0.5
        assert check.deviation == pytest.approx(deviation)
        assert check.band == pytest.approx(3.182446 * deviation / 2, rel=1e-5)
        assert check.band_for(400) == pytest.approx(3.182446 * deviation / 20, rel=1e-5)

    def test_the_run_stays_as_it_is(self, judged: Judged, threads: ThreadPool) -> None:
        run = judged(5, wavering("good", wire.verdict("bad")))
        before = rows_of(run), verdicts_of(run), Run.objects.values().get()
        check = checked(run)
        assert (check.n, check.flips, check.mean_difference) == (5, 5, -1.0)
        assert (rows_of(run), verdicts_of(run), Run.objects.values().get()) == before

    def test_each_check_asks_anew_and_is_paid_by_no_run(self, judged: Judged, stub: Stub) -> None:
        run = judged(6, wavering("good", wire.verdict("bad"), wire.verdict("fair")))
        found = [checked(run).mean_difference, checked(run).mean_difference]
        assert found == [-1.0, -0.5]
        assert len(stub.requests) == 12
        calls = ModelCall.objects.filter(purpose=CallPurpose.TRY)
        assert (calls.count(), calls.filter(run=None).count()) == (12, 12)
        assert sum(call.cost_usd or 0 for call in calls) == pytest.approx(12 * CALL_USD)
        assert ModelCall.objects.paid_by(run).count() == 6

    def test_checks_of_two_runs_of_the_same_outputs_share_no_reply(
        self, judged: Judged, make_run: MakeRun, stub: Stub, threads: ThreadPool
    ) -> None:
        run = judged(4, wire.verdict("good"))
        again = make_run(run.output_set, run.team.scorers.get(), name="again")
        run_to_end(again, threads)
        assert stub.requests == []
        checked(run)
        Run.objects.filter(pk=run.pk).delete()
        checked(again)
        assert len(stub.requests) == 8

    def test_a_check_that_was_broken_off_pays_nothing_twice(
        self, judged: Judged, stub: Stub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = judged(4, wire.verdict("good"))
        with monkeypatch.context() as patch:
            patch.setattr(variance, "_pairs", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                checked(run)
        assert estimate_variance(scorer_of(run)).cached == 4
        assert checked(run).n == 4
        assert len(stub.requests) == 4

    def test_every_sample_of_a_case_is_asked_anew(self, judged: Judged, stub: Stub) -> None:
        run = judged(4, wire.verdict("good"), samples=3)
        assert checked(run).n == 4
        assert len(stub.requests) == 12

    def test_errors_are_counted_and_are_no_differences(self, judged: Judged) -> None:
        def answer(asked: Asked) -> Answer:
            again = asked.number > 6
            is_odd = any(f"Answer {n}." in asked.user for n in (1, 4))
            return wire.completion("Hm.") if again and is_odd else wire.verdict("good")

        check = checked(judged(6, answer))
        assert (check.n, check.errors, check.pairs) == (4, 2, [[1.0, 1.0]] * 4)

    def test_outputs_that_had_no_score_are_not_asked(self, judged: Judged, stub: Stub) -> None:
        def answer(asked: Asked) -> Answer:
            return wire.completion("") if "Answer 1." in asked.user else wire.verdict("good")

        assert checked(judged(4, answer)).n == 3
        assert not any("Answer 1." in asked.user for asked in stub.requests)

    @pytest.mark.parametrize("count", [1, 4])
    def test_with_too_few_pairs_nothing_is_kept(self, judged: Judged, count: int) -> None:
        run = judged(count, wavering("good", wire.key_refused()))
        with pytest.raises(
            TooFewOutputsError, match=f"0 of {count} outputs .*: key_refused {count}"
        ):
            checked(run)
        assert not JudgeVariance.objects.exists()


class TestSample:
    def test_it_is_seeded_and_the_next_check_takes_another(
        self, judged: Judged, stub: Stub
    ) -> None:
        run = judged(20, wire.verdict("good"))
        assert checked(run, sample=5).n == 5
        first = {asked.user for asked in stub.requests}
        scorer = scorer_of(run)
        assert len(first) == 5
        assert variance._sample_scores(scorer, 5, "one") == variance._sample_scores(
            scorer, 5, "one"
        )
        assert variance._sample_scores(scorer, 5, "one") != variance._sample_scores(
            scorer, 5, "other"
        )
        stub.requests.clear()
        checked(run, sample=5)
        assert {asked.user for asked in stub.requests} != first

    def test_it_has_a_limit(self, judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
        assert variance.MAX_SAMPLE == 500
        monkeypatch.setattr(variance, "MAX_SAMPLE", 20)
        scorer = scorer_of(judged(25, wire.verdict("good")))
        assert [estimate_variance(scorer, wanted).calls for wanted in (10, 600)] == [10, 20]

    def test_the_estimate_is_what_the_check_asks(self, judged: Judged, stub: Stub) -> None:
        run = judged(10, wire.verdict("good"), samples=2)
        found = estimate_variance(scorer_of(run), 5)
        assert (found.calls, found.cached, stub.requests) == (10, 0, [])
        assert found.cost_usd
        checked(run, sample=5)
        assert len(stub.requests) == 10
        assert estimate_variance(scorer_of(run), 5).calls == 10


class TestJob:
    def done(self, run: Run, by: User | None = None, **request: object) -> Job:
        wanted = {"run": str(run.uuid), "place": 0, "sample": 5, **request}
        job = job_queue.enqueue_once(JobKind.MEASURE_VARIANCE, run.team, by, wanted)
        job_queue.run_job(job)
        job.refresh_from_db()
        return job

    def test_it_answers_with_the_check(self, judged: Judged, alice: User) -> None:
        job = self.done(judged(8, wire.verdict("good")), by=alice)
        check = JudgeVariance.objects.get()
        assert (job.state, job.answer) == (JobState.DONE, {"check": str(check.uuid)})
        assert (check.requested_by, check.n) == (alice, 5)

    def test_it_says_why_there_is_no_check(self, judged: Judged) -> None:
        job = self.done(judged(8, wavering("good", wire.completion(""))))
        assert job.state == JobState.FAILED
        assert job.problem == (
            "0 of 5 outputs could be scored again, and it takes 2: reply_empty 5"
        )

    def test_a_run_of_another_team_or_none_is_not_there(self, judged: Judged) -> None:
        run = judged(4, wire.verdict("good"))
        assert "no longer there" in self.done(run, place=7).problem
        job = Job.objects.get(kind=JobKind.MEASURE_VARIANCE)
        job.team = Team.objects.create(name="Elsewhere", slug="elsewhere")
        job.request["place"] = 0
        with pytest.raises(variance.JobError, match="no longer there"):
            run_variance_check(job)


@pytest.mark.slow
def test_a_real_worker_does_it(judged: Judged, stub: Stub, site: Site) -> None:
    run = judged(8, wavering("good", wire.verdict("bad")))
    request = {"run": str(run.uuid), "place": 0, "sample": 8}
    job = job_queue.enqueue_once(JobKind.MEASURE_VARIANCE, run.team, None, request)
    site.start("worker", EVALSITE_MODEL_HOSTS=",".join(sorted(stub.hosts)))
    wait_until(lambda: not Job.objects.get(pk=job.pk).is_open)
    check = JudgeVariance.objects.get()
    assert (check.n, check.flips, check.mean_difference) == (8, 8, -1.0)
    assert "Traceback" not in site.log


def test_the_latest_check_of_a_version_is_found(judged: Judged, make_run: MakeRun) -> None:
    run = judged(4, wire.verdict("good"))
    version = scorer_of(run).version
    assert JudgeVariance.objects.latest_for(version) is None
    checked(run)
    latest = checked(run)
    JudgeVariance.objects.create(run=run, version=version, n=1)  # without a band
    assert JudgeVariance.objects.latest_for(version) == latest
    other = run.team.scorers.get().revise({**version.config, "rubric": "Another one."}, by=None)
    assert JudgeVariance.objects.latest_for(other) is None
