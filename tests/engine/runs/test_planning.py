from __future__ import annotations

from typing import Any

import pytest

from scoring.core.contract import ConfigError, Result
from scoring.engine.runs import planning
from scoring.models import AuditEntry, OutputSet, Run, RunState, Score, Shard, Suite, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish, run_all
from tests.support.fixtures.spy import Spy

pytestmark = pytest.mark.django_db


def ranges() -> list[tuple[int, int]]:
    """How many outputs each shard has, and in how wide a range of ids."""
    shards = Shard.objects.order_by("number")
    return [(s.output_count, s.last_output - s.first_output + 1) for s in shards]


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


class TestNewRun:
    def test_the_suite_is_frozen_into_the_run(
        self, team: Team, alice: User, make_scorer: MakeScorer, outputs: OutputSet
    ) -> None:
        close, same = make_scorer("levenshtein", "close"), make_scorer("exact_match", "same")
        suite = Suite.objects.define(team, "release", [(same, 0.4), (close, None)])
        run = planning.create_run(outputs, suite=suite, name="week 46", by=alice)
        before = close.current_id
        close.revise({"decimals": 3}, by=alice)
        suite.entries.get(scorer=same).change_threshold(0.9, by=alice, reason="too lax")
        frozen = run.scorers.values_list("name", "threshold", "version")
        assert list(frozen) == [("same", 0.4, same.current_id), ("close", 0.7, before)]
        assert (run.suite_name, run.suite_revision, run.state) == ("release", 1, "queued")

    def test_scorers_without_a_suite_are_enough(
        self, make_scorer: MakeScorer, outputs: OutputSet
    ) -> None:
        run = planning.create_run(outputs, scorers=[(make_scorer("exact_match"), 0.3)])
        assert [(s.name, s.threshold) for s in run.scorers.all()] == [("exact_match", 0.3)]
        assert (run.suite, run.name) == (None, outputs.series)

    def test_nothing_to_score_with_is_refused(self, team: Team, outputs: OutputSet) -> None:
        with pytest.raises(ConfigError, match="at least one"):
            planning.create_run(outputs)
        with pytest.raises(ConfigError, match="at least one"):
            planning.create_run(outputs, suite=Suite.objects.define(team, "empty", []))
        assert not Run.objects.exists()

    def test_it_is_audited_with_who_and_what(
        self, alice: User, make_scorer: MakeScorer, outputs: OutputSet
    ) -> None:
        run = planning.create_run(outputs, scorers=[(make_scorer("exact_match"), 0.3)], by=alice)
        entry = AuditEntry.objects.get(action="run.created")
        assert (entry.actor, entry.target_id) == (alice, str(run.uuid))
        assert entry.new == {"suite": "", "thresholds": {"exact_match": 0.3}}

    @pytest.mark.parametrize("budget", [-0.01, float("nan"), float("inf")])
    def test_a_budget_that_is_no_amount_is_refused(
        self, make_scorer: MakeScorer, outputs: OutputSet, budget: float
    ) -> None:
        scorers = [(make_scorer("exact_match"), 1.0)]
        with pytest.raises(ConfigError, match="budget_usd: must be an amount in US dollars"):
            planning.create_run(outputs, scorers=scorers, budget_usd=budget)
        assert not Run.objects.exists()

    @pytest.mark.parametrize("budget", [None, 0.0, 2.5])
    def test_a_budget_is_kept_and_audited(
        self, make_scorer: MakeScorer, outputs: OutputSet, budget: float | None
    ) -> None:
        scorers = [(make_scorer("exact_match"), 1.0)]
        assert planning.create_run(outputs, scorers=scorers, budget_usd=budget).budget_usd == budget
        assert AuditEntry.objects.get(action="run.created").new.get("budget_usd") == budget


class TestPlan:
    def test_shards_cover_every_output_once(
        self, monkeypatch: pytest.MonkeyPatch, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        monkeypatch.setattr(planning, "SHARD_OUTPUTS", 3)
        planning.plan_attempt(make_run(["yes"] * 7, make_scorer("exact_match")))
        assert ranges() == [(3, 3), (3, 3), (1, 1)]

    def test_ids_of_another_set_in_between_are_not_counted(
        self, make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset
    ) -> None:
        version = make_dataset([{"expected": "yes"}] * 3)
        mine, other = (OutputSet.objects.create(version=version, state="ready") for _ in range(2))
        for case in version.cases.all():
            mine.outputs.create(case=case, text="yes")
            other.outputs.create(case=case, text="yes")
        planning.plan_attempt(make_run(mine, make_scorer("exact_match")))
        assert ranges() == [(3, 5)]

    def test_planning_twice_gives_the_same_attempt(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["yes"], make_scorer("exact_match"))
        first = planning.plan_attempt(run)
        started = run.started_at
        again = planning.plan_attempt(Run.objects.get())
        assert (first, Shard.objects.count()) == (again, 1)
        assert Run.objects.get().started_at == started
        assert actions().count("run.running") == 1


class TestStates:
    @pytest.mark.parametrize(
        ("begun", "state", "reached", "changed"),
        [
            (False, "queued", "cancelled", True),
            (True, "queued", "cancelling", True),
            (True, "running", "cancelling", True),
            (True, "cancelling", "cancelling", False),
            (True, "cancelled", "cancelled", False),
            (True, "finished", "finished", False),
        ],
    )
    def test_cancel(
        self,
        make_run: MakeRun,
        make_scorer: MakeScorer,
        begun: bool,
        state: str,
        reached: str,
        changed: bool,
    ) -> None:
        run = make_run(["yes"], make_scorer("exact_match"))
        if begun:
            planning.plan_attempt(run)
        Run.objects.update(state=state)
        assert planning.cancel_run(run, by=None) is changed
        assert (run.state, Run.objects.get().state) == (reached, reached)
        assert planning.cancel_run(run, by=None) is False
        assert Run.objects.get().state == reached

    @pytest.mark.parametrize("state", RunState.values)
    def test_only_a_cancelled_run_is_resumed(
        self, make_run: MakeRun, make_scorer: MakeScorer, state: str
    ) -> None:
        run = make_run(["yes"], make_scorer("exact_match"))
        Run.objects.update(state=state)
        assert planning.resume_run(run, by=None) is (state == RunState.CANCELLED)
        assert Run.objects.get().state == ("queued" if state == RunState.CANCELLED else state)

    def test_a_resumed_run_keeps_what_it_had_scored(
        self, monkeypatch: pytest.MonkeyPatch, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        from scoring.engine.runs.execution import execute_shard

        monkeypatch.setattr(planning, "SHARD_OUTPUTS", 1)
        run = make_run(["1", "0"], make_scorer("spy"))
        planning.plan_attempt(run)
        execute_shard(Shard.objects.earliest("number").pk)
        planning.cancel_run(run, by=None)
        planning.change_state(run, (RunState.CANCELLING,), RunState.CANCELLED)
        planning.resume_run(run, by=None)
        finish(run)
        assert spy.asked == ["1", "0"]
        assert (run.state, run.pass_count, run.fail_count) == ("finished", 1, 1)

    def test_every_move_is_audited_in_order(
        self, make_run: MakeRun, make_scorer: MakeScorer, alice: User
    ) -> None:
        run = make_run(["yes"], make_scorer("exact_match"))
        planning.plan_attempt(run)
        planning.cancel_run(run, by=alice)
        planning.change_state(run, (RunState.CANCELLING,), RunState.CANCELLED)
        planning.resume_run(run, by=alice)
        mine = AuditEntry.objects.filter(target_id=run.uuid).order_by("pk")
        seen: list[tuple[Any, ...]] = [(e.action, e.old.get("state"), e.actor) for e in mine]
        assert seen == [
            ("run.created", None, None),
            ("run.running", "queued", None),
            ("run.cancelling", "running", alice),
            ("run.cancelled", "cancelling", None),
            ("run.queued", "cancelled", alice),
        ]

    def test_a_move_that_loses_the_race_changes_nothing(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["yes"], make_scorer("exact_match"))
        Run.objects.update(state=RunState.FINISHED)
        assert not planning.change_state(run, (RunState.RUNNING,), RunState.CANCELLED)
        assert run.state == RunState.FINISHED
        assert actions()[-1] == "run.created"


class TestRetryErrors:
    def test_shards_cover_only_ranges_with_errors(
        self, monkeypatch: pytest.MonkeyPatch, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["1", "error", "0", "error", "skip"], make_scorer("spy"))
        finish(run)
        attempt = planning.retry_errors(run, by=None)
        assert attempt is not None
        (shard,) = attempt.shards.all()
        errors = Score.objects.filter(status=1).order_by("output").values_list("output", flat=True)
        assert [shard.first_output, shard.last_output] == list(errors)
        assert (shard.output_count, run.state, attempt.number) == (2, "queued", 2)

    def test_two_scorers_that_err_on_one_output_count_it_once(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"), make_scorer("spy", "b", label="b"))
        finish(run)
        attempt = planning.retry_errors(run, by=None)
        assert attempt is not None
        assert attempt.shards.get().output_count == 1

    def test_a_cause_covers_its_own_errors_and_is_audited(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy, alice: User
    ) -> None:
        spy.answers["down"] = Result("error", None, None, "", {"code": "timeout"})
        run = make_run(["error", "down", "1", "down"], make_scorer("spy"))
        finish(run)
        assert planning.retry_errors(run, alice, code="no_such") is None
        attempt = planning.retry_errors(run, alice, code="timeout")
        assert attempt is not None
        assert (attempt.code, attempt.shards.get().output_count) == ("timeout", 2)
        entry = AuditEntry.objects.get(action="run.queued")
        assert (entry.actor, entry.new) == (alice, {"state": "queued", "cause": "timeout"})

    def test_a_run_without_errors_stays_finished(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["yes", "no"], make_scorer("exact_match"))
        finish(run)
        assert planning.retry_errors(run, by=None) is None
        assert Run.objects.get().state == RunState.FINISHED

    def test_a_run_at_work_is_not_retried(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        run_all(run)
        assert planning.retry_errors(run, by=None) is None
        assert run.attempts.count() == 1

    def test_a_new_budget_comes_with_it_and_is_audited(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy, alice: User
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        finish(run)
        assert planning.retry_errors(run, alice, budget_usd=7.5)
        run.refresh_from_db()
        entry = AuditEntry.objects.get(action="run.budget_changed")
        assert (run.budget_usd, entry.actor) == (7.5, alice)
        assert (entry.old, entry.new) == ({"budget_usd": None}, {"budget_usd": 7.5})

    def test_a_bad_budget_changes_nothing(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        finish(run)
        with pytest.raises(ConfigError):
            planning.retry_errors(run, by=None, budget_usd=-1)
        run.refresh_from_db()
        assert (run.state, run.budget_usd, run.attempts.count()) == ("finished", None, 1)

    def test_a_retry_without_a_budget_keeps_the_old_one(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        Run.objects.update(budget_usd=1.5)
        finish(run)
        planning.retry_errors(run, by=None)
        run.refresh_from_db()
        assert run.budget_usd == 1.5


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    return make_outputs(make_dataset([{"expected": "yes"}]), ["yes"])
