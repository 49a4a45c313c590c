"""Workers that share the shards of a run through a broker, on PostgreSQL."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from scoring.core import registry
from scoring.core.custom import load_custom
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.services.team_services import RunStoppedError
from scoring.engine.worker import celery_pool
from scoring.engine.worker.celery_pool import BROKER_LOST, RESEND_SECONDS, CeleryPool
from scoring.engine.worker.celery_tasks import MAX_STARTS
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.engine.worker.shard_scheduler import ShardError
from scoring.models import Run, RunState, Score, Shard, Worker
from tests.conftest import MakeOutputs
from tests.support.broker_server import Broker
from tests.support.fixtures.brokers import broker, rabbitmq, redis
from tests.support.fixtures.runs import MakeRun, MakeScorer, RunOfYes, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.thoroughness import IS_THOROUGH, KILLS
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["broker", "rabbitmq", "redis"]

OUTPUTS = 4_000 if IS_THOROUGH else 400
LONG_SECONDS = 10 * DEADLINE_SECONDS
ODD = ["tests.engine.odd_scorers.slow", "tests.engine.odd_scorers.crash_on"]
ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


class Sent:
    """A task that is only sent. With a fault the broker is out of reach."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.fault: Exception | None = None

    def apply_async(self, args: tuple[int], **_: Any) -> None:
        if self.fault:
            raise self.fault
        self.ids.extend(args)


@pytest.mark.django_db
class TestMessages:
    """A pool whose thread does not run."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [1000.0]
        monkeypatch.setattr(celery_pool.time, "monotonic", lambda: now[0])
        return now

    @pytest.fixture
    def sent(self, monkeypatch: pytest.MonkeyPatch) -> Sent:
        task = Sent()
        monkeypatch.setattr(celery_pool, "_TASKS", {execute_shard: task})
        return task

    @pytest.fixture
    def shard(self, run_of_yes: RunOfYes) -> Shard:
        planning.plan_attempt(run_of_yes(2))
        return Shard.objects.get()

    def lease(self, seconds: int) -> None:
        until = timezone.now() + timedelta(seconds=seconds)
        Shard.objects.update(lease_owner="elsewhere:1", lease_expires_at=until)

    def test_a_shard_is_sent_once_and_ends_when_it_is_done(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        pool = CeleryPool()
        future = pool.submit(execute_shard, shard.pk)
        for _ in range(3):
            pool.look()
        assert (sent.ids, future.done()) == ([shard.pk], False)
        execute_shard(shard.pk)
        pool.look()
        assert future.result(0) is None

    def test_a_message_that_nobody_begins_with_is_sent_again(
        self, shard: Shard, sent: Sent, clock: list[float], caplog: pytest.LogCaptureFixture
    ) -> None:
        pool = CeleryPool()
        pool.submit(execute_shard, shard.pk)
        pool.look()
        clock[0] += RESEND_SECONDS + 1
        sent.fault = BrokerError("gone")
        for _ in range(3):
            pool.look()
        assert "sent again" not in caplog.text
        clock[0] += celery_pool.BROKER_SECONDS
        sent.fault = None
        pool.look()
        pool.look()
        assert sent.ids == [shard.pk] * 2
        assert caplog.text.count("was sent again") == 1

    def test_one_that_is_being_scored_is_not_however_long_it_takes(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        pool = CeleryPool()
        pool.submit(execute_shard, shard.pk)
        pool.look()
        self.lease(20)
        clock[0] += 10 * RESEND_SECONDS
        pool.look()
        assert sent.ids == [shard.pk]

    def test_one_whose_lease_ran_out_is_sent_again_at_once(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        pool = CeleryPool()
        pool.submit(execute_shard, shard.pk)
        pool.look()
        for seconds in (20, -1):
            self.lease(seconds)
            pool.look()
        assert sent.ids == [shard.pk] * 2

    def test_a_fault_is_the_futures_and_does_not_last(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        pool = CeleryPool()
        future = pool.submit(execute_shard, shard.pk)
        pool.look()
        Shard.objects.update(fault="ValueError: odd")
        pool.look()
        fault = future.exception(0)
        assert isinstance(fault, ShardError)
        assert fault.text == "ValueError: odd"
        again = pool.submit(execute_shard, shard.pk)
        pool.look()
        pool.look()
        assert (sent.ids, again.done()) == ([shard.pk] * 2, False)

    def test_shards_of_a_run_that_has_ended_are_not_waited_for(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        """Those that are being scored are."""
        pool = CeleryPool()
        future = pool.submit(execute_shard, shard.pk)
        pool.look()
        Run.objects.update(state=RunState.CANCELLING)
        self.lease(20)
        pool.look()
        assert not future.done()
        self.lease(-1)
        pool.look()
        assert isinstance(future.exception(0), RunStoppedError)

    def test_a_run_that_was_deleted_is_done_with(
        self, shard: Shard, sent: Sent, clock: list[float]
    ) -> None:
        pool = CeleryPool()
        future = pool.submit(execute_shard, shard.pk)
        Shard.objects.all().delete()
        pool.look()
        assert future.result(0) is None

    @pytest.mark.parametrize("fault", [BrokerError("gone"), ConnectionRefusedError()])
    def test_a_broker_out_of_reach_is_told_and_tried_again(
        self, shard: Shard, sent: Sent, clock: list[float], fault: Exception
    ) -> None:
        pool = CeleryPool()
        pool.submit(execute_shard, shard.pk)
        sent.fault = fault
        for _ in range(3):
            pool.look()
        assert pool.stall_reason == BROKER_LOST
        sent.fault = None
        pool.look()
        assert sent.ids == []  # it is not asked at every look
        clock[0] += celery_pool.BROKER_SECONDS
        pool.look()
        assert (sent.ids, pool.stall_reason) == ([shard.pk], "")


@pytest.mark.broker
@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
class TestRealWorkers:
    @pytest.fixture(autouse=True)
    def odd_types(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "CUSTOM_TYPES", dict(registry.CUSTOM_TYPES))
        load_custom(ODD)

    @pytest.fixture
    def sites(self, site: Site, tmp_path: Path) -> Iterator[list[Site]]:
        """Two machines: each has a data folder."""
        folder = tmp_path / "other"
        folder.mkdir()
        yield [site, other := Site(folder)]
        other.end()

    @pytest.fixture
    def run(
        self, make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
    ) -> Run:
        """A planned run in 40 shards, which takes two processes two seconds."""
        monkeypatch.setattr(planning, "SHARD_OUTPUTS", OUTPUTS // 40)
        scorers = [make_scorer("exact_match"), make_scorer("levenshtein")]
        slow = make_scorer("slow", seconds=4 / OUTPUTS)
        texts = [ANSWERS[number % 6] for number in range(OUTPUTS)]
        run = make_run(texts, *scorers, slow, name="shared")
        planning.plan_attempt(run)
        return run

    @pytest.fixture
    def calm(self, run: Run, make_outputs: MakeOutputs) -> Callable[[], Run]:
        """A run of the same outputs by the same scorers, in this process."""

        def score() -> Run:
            texts = [output.text for output in run.output_set.outputs.order_by("case__position")]
            outputs = make_outputs(run.output_set.version, texts, series="calm")
            made = planning.create_run(outputs, suite=run.suite, name="calm")
            run_to_end(made, InlineExecutor())
            return made

        return score

    @staticmethod
    def begin(site: Site, broker: Broker) -> int:
        """Start a worker of one process there; its process id, which is its group's, too."""
        return site.start(
            *("worker", "--celery"),
            CELERY_BROKER_URL=broker.url,
            EVALSITE_WORKER_PROCESSES="1",
            EVALSITE_SCORERS=",".join(ODD),
        ).pid

    @pytest.mark.long("two workers start, and score")
    def test_two_workers_share_the_shards_of_one_run(
        self, sites: list[Site], broker: Broker, run: Run, calm: Callable[[], Run]
    ) -> None:
        for site in sites:
            self.begin(site, broker)
        wait_until(lambda: is_finished(run), LONG_SECONDS)
        owners = shards_of(run).values_list("lease_owner", flat=True)
        assert len(set(owners)) == 2
        assert set(shards_of(run).values_list("start_count", flat=True)) == {1}
        assert_equal(run, calm())
        assert not any("Traceback" in site.log for site in sites)

    @pytest.mark.long("what is killed is started again")
    def test_kills_leave_the_same_rows_as_an_undisturbed_run(
        self, sites: list[Site], rabbitmq: Broker, run: Run, calm: Callable[[], Run]
    ) -> None:
        """A process is killed, all of a worker, the broker, and the broker with all it has."""
        groups = [self.begin(site, rabbitmq) for site in sites]
        for number in range(max(1, KILLS // 2)):
            mine = number % 2
            for killed in ("process", "machine", "broker", "messages"):
                before = done_shards(run)
                wait_until(lambda: done_shards(run) > before, LONG_SECONDS)  # noqa: B023
                assert not is_finished(run)
                celery = own_celery(groups[mine])
                match killed:
                    case "process":
                        os.kill(max(sites[mine].members(celery)), signal.SIGKILL)
                    case "machine":
                        for group in (groups[mine], celery):
                            os.killpg(group, signal.SIGKILL)
                        groups[mine] = self.begin(sites[mine], rabbitmq)
                    case "broker":
                        rabbitmq.stop(signal.SIGKILL)
                        rabbitmq.start()
                    case "messages":
                        rabbitmq.empty()
                        rabbitmq.start()
        wait_until(lambda: is_finished(run), LONG_SECONDS)
        assert_equal(run, calm())

    @pytest.mark.long("a process dies ten times")
    def test_a_scorer_that_kills_its_process_costs_only_its_shard(
        self, site: Site, redis: Broker, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        run = make_run(["fine"] * 9 + ["boom"], make_scorer("crash_on"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(planning, "SHARD_OUTPUTS", 2)
            planning.plan_attempt(run)
        self.begin(site, redis)
        wait_until(lambda: is_finished(run), LONG_SECONDS)
        assert [verdict for _, _, verdict in verdicts_of(run)] == ["pass"] * 8 + ["error"] * 2
        reasons = Score.objects.exclude(code="").values_list("code", "reason").distinct()
        reason = f"the process that scored it died, {MAX_STARTS} times"
        assert list(reasons) == [("worker_crashed", reason)]

    def test_a_worker_told_to_stop_leaves_nothing_running(
        self, site: Site, redis: Broker, run: Run
    ) -> None:
        group = self.begin(site, redis)
        wait_until(lambda: done_shards(run) > 0)
        celery = own_celery(group)
        os.kill(group, signal.SIGTERM)
        wait_until(lambda: not (site.members(group) or site.members(celery)))
        run.refresh_from_db()
        assert (run.state, run.lease_owner) == (RunState.RUNNING, "")
        assert not Worker.objects.exists()


def own_celery(worker: int) -> int:
    """The process group of the Celery worker that this worker has started."""
    found: list[int] = []

    def is_there() -> bool:
        threads = Path(f"/proc/{worker}/task").glob("*/children")
        children = [child for path in threads for child in path.read_text().split()]
        found.extend(int(child) for child in children if is_celery(child))
        return bool(found)

    wait_until(is_there)
    return found[0]


def is_celery(pid: str) -> bool:
    return b"celery_processes" in Path(f"/proc/{pid}/cmdline").read_bytes()


def shards_of(run: Run) -> QuerySet[Shard]:
    return Shard.objects.filter(attempt__run=run)


def done_shards(run: Run) -> int:
    return shards_of(run).filter(done_at__isnull=False).count()


def is_finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.FINISHED


def assert_equal(run: Run, calm: Run) -> None:
    """Neither lacks anything, and nothing is there twice."""
    assert rows_of(run) == rows_of(calm)
    assert verdicts_of(run) == verdicts_of(calm)
    assert Score.objects.filter(scorer__run=run).count() == 3 * OUTPUTS
