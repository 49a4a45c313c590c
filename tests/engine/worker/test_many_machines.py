"""Workers of two machines share runs on PostgreSQL: whatever is killed, stands still or comes twice
leaves the rows of an undisturbed run.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from django.db.models import QuerySet
from kombu import Connection as BrokerConnection

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.worker.celery_app import SHARDS_QUEUE, app
from scoring.engine.worker.celery_tasks import MAX_STARTS, score_shard
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Connection, Run, RunState, Score, Shard, Team, Worker
from tests.conftest import MakeOutputs
from tests.stub import Stub
from tests.support.broker_server import Broker
from tests.support.fixtures.brokers import broker, rabbitmq, redis
from tests.support.fixtures.machines import Begin, Machine, begin_machines, expire_leases
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.thoroughness import CALLS, CALLS_BETWEEN_KILLS, KILLS
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["begin_machines", "broker", "rabbitmq", "redis"]

pytestmark = [
    pytest.mark.broker,
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
]

#: Each takes a process a tenth of a second; a run that outlasts its kills has so many for each.
SHARDS, SHARDS_A_KILL = 20, 20
SHARD_OUTPUTS = 10
SHARD_SECONDS = 0.1
LONG_SECONDS = 10 * DEADLINE_SECONDS
CONCURRENCY = 4
ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


@pytest.fixture
def planned_run(
    make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], Run]:
    """A planned run in so many shards."""

    def make(shards: int) -> Run:
        monkeypatch.setattr(planning, "SHARD_OUTPUTS", SHARD_OUTPUTS)
        scorers = [make_scorer("exact_match"), make_scorer("levenshtein")]
        slow = make_scorer("slow", seconds=SHARD_SECONDS / SHARD_OUTPUTS)
        texts = [ANSWERS[number % 6] for number in range(SHARD_OUTPUTS * shards)]
        run = make_run(texts, *scorers, slow, name="shared")
        planning.plan_attempt(run)
        return run

    return make


@pytest.fixture
def run(planned_run: Callable[[int], Run]) -> Run:
    return planned_run(SHARDS)


@pytest.fixture
def long_run(planned_run: Callable[[int], Run]) -> Run:
    return planned_run(SHARDS + SHARDS_A_KILL * KILLS)


@pytest.fixture
def assert_as_undisturbed(make_outputs: MakeOutputs) -> Callable[[Run], None]:
    """The rows are those of the same outputs by the same scorers in this process: none is missing,
    and none is there twice.
    """

    def check(run: Run) -> None:
        texts = [output.text for output in run.output_set.outputs.order_by("case__position")]
        outputs = make_outputs(run.output_set.version, texts, series="calm")
        calm = planning.create_run(outputs, suite=run.suite, name="calm")
        run_to_end(calm, InlineExecutor())
        assert rows_of(run) == rows_of(calm)
        assert verdicts_of(run) == verdicts_of(calm)
        assert Score.objects.filter(scorer__run=run).count() == 3 * len(texts)

    return check


@pytest.mark.kills
@pytest.mark.long("what is killed is started again")
def test_kills_leave_the_same_rows_as_an_undisturbed_run(
    begin_machines: Begin,
    rabbitmq: Broker,
    long_run: Run,
    assert_as_undisturbed: Callable[[Run], None],
) -> None:
    """A process is killed, all of a machine, and the broker, every other time with all it has."""
    machines = begin_machines(rabbitmq)
    for number in range(KILLS):
        machine = machines[number % 2]
        for kill in (
            machine.kill_process,
            machine.kill,
            rabbitmq.empty if number % 2 else partial(rabbitmq.stop, signal.SIGKILL),
        ):
            wait_for_progress(long_run)
            kill()
        rabbitmq.start()
    wait_until(lambda: is_finished(long_run), LONG_SECONDS)
    assert_as_undisturbed(long_run)


@pytest.mark.kills
@pytest.mark.parametrize("is_celery", [False, True])
@pytest.mark.long("two workers start, and one after the other stands still")
def test_a_machine_that_stands_still_changes_nothing_when_it_goes_on(
    begin_machines: Begin,
    redis: Broker,
    long_run: Run,
    assert_as_undisturbed: Callable[[Run], None],
    *,
    is_celery: bool,
) -> None:
    """Leases end meanwhile, and the other machine goes on with the run."""
    machines = begin_machines(redis if is_celery else None)
    for _ in range(KILLS):
        wait_for_progress(long_run)
        frozen = owner_among(machines, long_run)
        frozen.signal(signal.SIGSTOP)
        expire_leases(long_run)
        (other,) = (machine for machine in machines if machine is not frozen)
        wait_until(lambda: other.has(long_run), LONG_SECONDS)  # noqa: B023
        wait_for_progress(long_run)
        frozen.signal(signal.SIGCONT)
    wait_until(lambda: is_finished(long_run), LONG_SECONDS)
    assert_as_undisturbed(long_run)
    assert not any("Traceback" in machine.site.log for machine in machines)


@pytest.mark.long("two workers start, and score")
def test_two_workers_share_the_shards_of_one_run(
    begin_machines: Begin, broker: Broker, run: Run, assert_as_undisturbed: Callable[[Run], None]
) -> None:
    machines = begin_machines(broker)
    wait_until(lambda: is_finished(run), LONG_SECONDS)
    owners = shards_of(run).values_list("lease_owner", flat=True)
    assert len(set(owners)) == 2
    assert set(shards_of(run).values_list("start_count", flat=True)) == {1}
    assert_as_undisturbed(run)
    assert not any("Traceback" in machine.site.log for machine in machines)


@pytest.mark.long("two workers start, and score")
def test_messages_that_come_twice_or_late_do_nothing(
    begin_machines: Begin, broker: Broker, run: Run, assert_as_undisturbed: Callable[[Run], None]
) -> None:
    with app.connection_for_write(broker.url) as connection:
        send_all(run, connection)
        begin_machines(broker)
        wait_for_progress(run)
        send_all(run, connection)
        wait_until(lambda: is_finished(run), LONG_SECONDS)
        before = rows_of(run)
        send_all(run, connection)
        queue = app.amqp.queues[SHARDS_QUEUE].bind(connection.default_channel)
        wait_until(lambda: queue.queue_declare().message_count == 0)
    assert set(shards_of(run).values_list("start_count", flat=True)) == {1}
    assert rows_of(run) == before
    assert_as_undisturbed(run)


@pytest.mark.kills
@pytest.mark.long("a machine is killed twice")
def test_a_killed_machine_costs_no_more_calls_than_were_under_way(
    begin_machines: Begin,
    redis: Broker,
    stub: Stub,
    team: Team,
    make_run: MakeRun,
    make_scorer: MakeScorer,
) -> None:
    offered = [{"name": "stub-1"}]
    Connection.objects.define(
        team, "slow", stub.url("same"), offered=offered, concurrency=CONCURRENCY, by=None
    )
    judge = make_scorer("factuality", "slow", model="stub-1", connection="slow")
    stub.latency = 0.05
    run = make_run([f"Answer number {number}." for number in range(CALLS)], judge)
    machines = begin_machines(redis, EVALSITE_MODEL_HOSTS=",".join(stub.hosts))
    for _ in range(KILLS):
        target = min(len(stub.requests) + CALLS_BETWEEN_KILLS // 2, CALLS - 20)
        wait_until(lambda: len(stub.requests) >= target, LONG_SECONDS)  # noqa: B023
        owner_among(machines, run).kill()
    wait_until(lambda: is_finished(run), LONG_SECONDS)
    assert CALLS <= len(stub.requests) <= CALLS + KILLS * CONCURRENCY
    assert len(Counter(request.user for request in stub.requests)) == CALLS
    assert (Run.objects.get(pk=run.pk).error_count, len(rows_of(run))) == (0, CALLS)


@pytest.mark.long("a process dies ten times")
def test_a_scorer_that_kills_its_process_costs_only_its_shard(
    begin_machines: Begin, redis: Broker, make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    begin_machines(redis)
    run = make_run(["fine"] * 9 + ["boom"], make_scorer("crash_on"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "SHARD_OUTPUTS", 2)
        planning.plan_attempt(run)
    wait_until(lambda: is_finished(run), LONG_SECONDS)
    assert [verdict for _, _, verdict in verdicts_of(run)] == ["pass"] * 8 + ["error"] * 2
    reasons = Score.objects.exclude(code="").values_list("code", "reason").distinct()
    reason = f"the process that scored it died, {MAX_STARTS} times"
    assert list(reasons) == [("worker_crashed", reason)]


def test_workers_told_to_stop_leave_nothing_running(
    begin_machines: Begin, redis: Broker, run: Run
) -> None:
    machines = begin_machines(redis)
    wait_for_progress(run)
    groups = [(machine, machine.celery) for machine in machines]
    for machine in machines:
        machine.stop()
    for machine, celery in groups:
        wait_until(lambda: not machine.site.members(machine.pid))  # noqa: B023
        wait_until(lambda: not machine.site.members(celery))  # noqa: B023
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (RunState.RUNNING, "")
    assert not Worker.objects.exists()


HOLD = """
from django.db import connection, transaction
from scoring.models import Run
import time
with transaction.atomic():
    Run.objects.select_for_update().get()
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.mark.long("a transaction is idle for two seconds, and a worker starts")
def test_what_stands_still_in_a_transaction_loses_it(
    begin_machines: Begin, site: Site, run: Run
) -> None:
    url = f"{os.environ['DATABASE_URL']}?options=-c%20idle_in_transaction_session_timeout%3D2s"
    holder = site.start("shell", "--no-imports", "-c", HOLD, DATABASE_URL=url)
    wait_until(lambda: "locked" in site.log)
    begin_machines()
    wait_until(lambda: is_finished(run), LONG_SECONDS)
    assert holder.poll() is None


def send_all(run: Run, connection: BrokerConnection) -> None:
    """Send each shard twice, done or not."""
    for shard in list(shards_of(run).values_list("pk", flat=True)) * 2:
        score_shard.apply_async((shard,), connection=connection)


def owner_among(machines: list[Machine], run: Run) -> Machine:
    """The machine that has the lease of the run, once one has it."""
    wait_until(lambda: any(machine.has(run) for machine in machines), LONG_SECONDS)
    return next(machine for machine in machines if machine.has(run))


def wait_for_progress(run: Run) -> None:
    """Until one more shard is done, but not all of them."""
    before = done_shards(run)
    wait_until(lambda: done_shards(run) > before or is_finished(run), LONG_SECONDS)
    assert not is_finished(run)


def shards_of(run: Run) -> QuerySet[Shard]:
    return Shard.objects.filter(attempt__run=run)


def done_shards(run: Run) -> int:
    return shards_of(run).filter(done_at__isnull=False).count()


def is_finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.FINISHED
