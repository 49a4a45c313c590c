"""Two people start, cancel, resume, retry, delete, restore and archive runs while a worker scores,
in any order: each action does what it says or nothing, and every run can be brought to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from scoring.core import registry
from scoring.core.custom import load_custom
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.worker.run_dispatcher import RunDispatcher
from scoring.models import AuditEntry, CaseVerdict, Run, RunState, Score, Team, User
from tests.api.conftest import Api, ApiOf, api_of
from tests.conftest import MakeDataset
from tests.engine import odd_scorers
from tests.support.fixtures.runs import MakeScorer, make_scorer
from tests.support.thoroughness import examples
from tests.support.undone import undone

__all__ = ["api_of", "make_scorer"]

ANSWERS: Final = ["yes", "no", "yes", "broken", "no", "broken", "yes"]
SHARD_OUTPUTS: Final = 2
ROUNDS: Final = 4 * len(ANSWERS)  # of a worker, in which a run ends that is tried again
UNFINISHED: Final = {RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING}
ENDED: Final = {RunState.CANCELLED, RunState.FINISHED}
#: What a worker may make of a run in one round.
BY_WORKER: Final = {
    RunState.QUEUED: {RunState.QUEUED, RunState.RUNNING, RunState.FINISHED},
    RunState.RUNNING: {RunState.RUNNING, RunState.FINISHED},
    RunState.CANCELLING: {RunState.CANCELLING, RunState.CANCELLED},
    RunState.CANCELLED: {RunState.CANCELLED},
    RunState.FINISHED: {RunState.FINISHED},
}


@dataclass
class Person:
    """Someone who uses pages and the API."""

    user: User
    page: Client
    api: Api


@dataclass
class World:
    """What is there before the first action."""

    people: list[Person]
    wanted: dict[str, Any]


@dataclass
class Expected:
    """A run as it has to be."""

    uuid: str
    state: RunState = RunState.QUEUED
    is_deleted: bool = False
    is_archived: bool = False
    actions: Counter[str] = field(default_factory=lambda: Counter({"created": 1}))


class Actions(RuleBasedStateMachine):
    """Actions of people, and rounds of a worker, on runs whose expected state is kept beside."""

    runs = Bundle("runs")
    people = st.sampled_from([0, 1])

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world, self._expected = world, dict[str, Expected]()
        self._undone = undone()
        self._undone.__enter__()
        odd_scorers.mend(is_mended=False)
        self._dispatcher = RunDispatcher(InlineExecutor())

    def teardown(self) -> None:
        try:
            self._bring_all_to_their_end()
        finally:
            self._undone.__exit__(None, None, None)

    @rule(target=runs, person=people)
    def start(self, person: int) -> Expected:
        answer = self._world.people[person].api.post("runs/", self._world.wanted)
        assert answer.status_code == 202
        made = Expected(answer.json()["id"])
        self._expected[made.uuid] = made
        return made

    @rule(run=runs, person=people, by_page=st.booleans())
    def cancel(self, run: Expected, person: int, *, by_page: bool) -> None:
        has_begun = self._row(run).attempts.exists()
        self._act(run, person, "cancel", by_page=by_page)
        if run.is_deleted:
            return
        if run.state == RunState.QUEUED and not has_begun:
            self._expect(run, RunState.CANCELLED)
        elif run.state in {RunState.QUEUED, RunState.RUNNING}:
            self._expect(run, RunState.CANCELLING)

    @rule(run=runs, person=people)
    def resume(self, run: Expected, person: int) -> None:
        self._act(run, person, "resume", by_page=True)
        if not run.is_deleted and run.state == RunState.CANCELLED:
            self._expect(run, RunState.QUEUED)

    @rule(run=runs, person=people, by_page=st.booleans())
    def retry(self, run: Expected, person: int, *, by_page: bool) -> None:
        """The API goes on with a cancelled run, too."""
        has_errors = bool(self._errors(run))
        resumes = run.state == RunState.CANCELLED and not by_page
        does = not run.is_deleted and (resumes or (run.state == RunState.FINISHED and has_errors))
        refused = 200 if does or by_page else 409
        self._act(run, person, "retry", by_page=by_page, status=refused)
        if does:
            self._expect(run, RunState.QUEUED)

    @rule(run=runs, person=people)
    def delete(self, run: Expected, person: int) -> None:
        """A second time it is done already; a run under way is not deleted."""
        self._post(run, person, "delete", {302})
        if not run.is_deleted and run.state in ENDED:
            run.is_deleted = True
            run.actions["deleted"] += 1

    @rule(run=runs, person=people)
    def restore(self, run: Expected, person: int) -> None:
        self._post(run, person, "restore", {302})
        if run.is_deleted:
            run.is_deleted = False
            run.actions["restored"] += 1

    @rule(run=runs, person=people, is_archived=st.booleans())
    def archive(self, run: Expected, person: int, *, is_archived: bool) -> None:
        action = "archive" if is_archived else "unarchive"
        self._act(run, person, action, by_page=True)
        if not run.is_deleted and run.is_archived != is_archived:
            run.is_archived = is_archived
            run.actions[f"{action}d"] += 1

    @rule()
    def score(self) -> None:
        """A round of the worker, in which it may end what it can."""
        self._dispatcher.take_waiting()
        self._dispatcher.step(0)
        for run in self._expected.values():
            state = RunState(self._row(run).state)
            assert state in BY_WORKER[run.state]
            if run.state == RunState.QUEUED and state != RunState.QUEUED:
                self._expect(run, RunState.RUNNING)
            if run.state != state:
                self._expect(run, state)

    @rule()
    def restart_worker(self) -> None:
        """As if it had been killed: nothing is released, and another one goes on."""
        self._dispatcher.let_go()
        self._dispatcher = RunDispatcher(InlineExecutor())

    @rule(is_mended=st.booleans())
    def mend_scorer(self, *, is_mended: bool) -> None:
        odd_scorers.mend(is_mended=is_mended)

    @invariant()
    def runs_are_as_they_were_left(self) -> None:
        for run in self._expected.values():
            row = self._row(run)
            assert (row.state, bool(row.deleted_at), bool(row.archived_at)) == (
                run.state,
                run.is_deleted,
                run.is_archived,
            )
            if run.state in ENDED:
                assert (row.lease_owner, row.finished_at is None) == ("", False)
            if run.state == RunState.FINISHED:
                self._is_whole(run)
            entries = AuditEntry.objects.about(row).values_list("action", flat=True)
            assert Counter(entries) == Counter(
                {f"run.{action}": number for action, number in run.actions.items()}
            )

    @invariant()
    def lists_show_what_is_not_deleted(self) -> None:
        listed = self._world.people[0].api.get("runs/").json()["results"]
        assert {each["id"] for each in listed} == {
            run.uuid for run in self._expected.values() if not run.is_deleted
        }

    def _is_whole(self, run: Expected) -> None:
        """Each output has one verdict and one score by each scorer."""
        row = self._row(run)
        verdicts = CaseVerdict.objects.filter(run=row).values_list("output", flat=True)
        assert sorted(verdicts) == sorted(row.output_set.outputs.values_list("pk", flat=True))
        scores = Score.objects.filter(scorer__run=row).values_list("output", "scorer")
        assert len(scores) == len(set(scores)) == 2 * len(ANSWERS)
        counts = row.pass_count, row.fail_count, row.error_count, row.skipped_count
        errors = len(self._errors(run))
        assert (sum(counts), row.error_count) == (len(ANSWERS), errors)
        broken = ANSWERS.count("broken")
        assert errors in {0, 1, broken}

    def _errors(self, run: Expected) -> list[int]:
        rows = Score.objects.filter(scorer__run=self._row(run)).exclude(code="")
        return list(rows.values_list("output", flat=True).distinct())

    def _bring_all_to_their_end(self) -> None:
        """Nothing stands in the way of any run, whatever was done to it."""
        odd_scorers.mend(is_mended=True)
        for _ in range(ROUNDS * len(self._expected)):  # one shard each
            open_runs = [run for run in self._expected.values() if not self._is_done(run)]
            for run in open_runs:
                self.restore(run, 0)
                if run.state in ENDED:
                    self.retry(run, 1, by_page=False)
            if not open_runs:
                return
            self.score()
            self.runs_are_as_they_were_left()
        assert not self._expected, f"these do not end: {open_runs}"

    def _is_done(self, run: Expected) -> bool:
        is_finished = run.state == RunState.FINISHED and not run.is_deleted
        return is_finished and not self._errors(run)

    def _act(
        self, run: Expected, person: int, action: str, *, by_page: bool, status: int = 200
    ) -> None:
        """A deleted run is as if it had never been there."""
        if by_page:
            self._post(run, person, action, {404 if run.is_deleted else 302})
        else:
            answer = self._world.people[person].api.post(f"runs/{run.uuid}/{action}/")
            assert answer.status_code == (404 if run.is_deleted else status)

    def _post(self, run: Expected, person: int, action: str, statuses: set[int]) -> None:
        address = reverse(f"{action}_run", args=[run.uuid])
        assert self._world.people[person].page.post(address).status_code in statuses

    def _expect(self, run: Expected, state: RunState) -> None:
        run.state = state
        run.actions[state] += 1

    def _row(self, run: Expected) -> Run:
        return Run.with_deleted.get(uuid=run.uuid)


@pytest.fixture
def world(
    team: Team,
    alice: User,
    erin: User,
    api_of: ApiOf,
    make_dataset: MakeDataset,
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", SHARD_OUTPUTS)
    monkeypatch.setattr(planning, "SMALLER_SHARDS", {"custom": SHARD_OUTPUTS})
    monkeypatch.setattr("scoring.engine.worker.shard_scheduler.PAUSE_SECONDS", 0)
    monkeypatch.setattr(registry, "CUSTOM_TYPES", dict(registry.CUSTOM_TYPES))
    load_custom(["tests.engine.odd_scorers.breaks"])
    scorers = [make_scorer(kind) for kind in ("exact_match", "breaks")]
    cases = [
        {"key": f"q{n}", "expected": "broken" if text == "broken" else "yes"}
        for n, text in enumerate(ANSWERS)
    ]
    dataset = make_dataset(cases).dataset
    people = []
    for user in (alice, erin):
        client = Client()
        client.force_login(user)
        people.append(Person(user, client, api_of(user)))
    wanted = {
        "dataset": str(dataset.uuid),
        "scorers": [str(scorer.uuid) for scorer in scorers],
        "outputs": [{"key": f"q{n}", "output": text} for n, text in enumerate(ANSWERS)],
    }
    yield World(people, wanted)
    odd_scorers.mend(is_mended=False)


@pytest.mark.long("dozens of actions, again and again")
def test_whatever_two_people_do_each_run_is_as_they_left_it(world: World) -> None:
    run_state_machine_as_test(
        lambda: Actions(world),
        settings=settings(
            max_examples=examples(60),
            phases=[Phase.reuse, Phase.generate],  # shrinking takes minutes
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
