"""PostgreSQL restarts, fails over or ends idle sessions: no run hangs, and nothing is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from random import Random
from urllib.parse import urlencode, urlsplit

import pytest
from django.conf import settings as site_settings
from django.db import connection
from django.urls import reverse

from scoring.engine import imports
from scoring.engine.jobs import job_queue
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import ProcessPool
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.worker.main import WorkerLoop
from scoring.models import (
    Case,
    Job,
    JobKind,
    JobState,
    Run,
    RunState,
    Score,
    Shard,
    Team,
    Upload,
    User,
    Worker,
)
from tests.conftest import MakeOutputs
from tests.engine.worker.conftest import Interrupt
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.fixtures.uploads import Put, is_imported, put, spooled
from tests.support.outages import NOTICED, end_connections, end_own_connection, outage
from tests.support.paths import ROOT
from tests.support.postgresql_server import FOLLOWED, Server, find_programs
from tests.support.thoroughness import IS_THOROUGH, KILLS
from tests.support.visitor import Visitor
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["put", "spooled"]

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

OUTPUTS, ROWS = (100_000, 200_000) if IS_THOROUGH else (2_000, 20_000)
LONG_SECONDS = 10 * DEADLINE_SECONDS
ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


ScoredAgain = Callable[[Run], Run]
Interruption = Callable[[], AbstractContextManager[None]]
FailOver = Callable[[], None]


@pytest.fixture
def three(make_scorer: MakeScorer) -> list[object]:
    return [make_scorer("exact_match"), make_scorer("levenshtein"), make_scorer("includes")]


@pytest.fixture
def scored_again(make_run: MakeRun, make_outputs: MakeOutputs, three: list[object]) -> ScoredAgain:
    """A run of the same outputs by the same scorers."""

    def again(run: Run) -> Run:
        texts = [output.text for output in run.output_set.outputs.order_by("case__position")]
        version = run.output_set.version
        return make_run(make_outputs(version, texts, series="b"), *three, name="again")

    return again


def count_teams() -> int:
    return Team.objects.count()


@pytest.mark.parametrize("forks", [False, True])
def test_a_pool_process_connects_again(team: Team, *, forks: bool) -> None:
    with ProcessPool(1, forks=forks) as pool:
        assert pool.submit(count_teams).result() == 1
        assert end_connections()
        assert pool.submit(count_teams).result() == 1


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 4])
def test_a_run_is_finished_after_the_outage_whenever_that_came(
    interrupt_run: Interrupt, rounds: int
) -> None:
    interrupt_run(outage(), rounds)


def test_a_worker_told_to_stop_during_an_outage_stops(
    work: WorkerLoop, make_run: MakeRun, make_scorer: MakeScorer, caplog: pytest.LogCaptureFixture
) -> None:
    make_run(["yes"], make_scorer("exact_match"))
    work.try_round()
    work.stop()
    with outage():
        work.run_forever()
    assert "leases expire by themselves" in caplog.text


jobs_begun: list[Job] = []


def lose_the_first_connection(job: Job) -> dict[str, int]:
    jobs_begun.append(job)
    if len(jobs_begun) == 1:
        end_own_connection()
    return {"teams": count_teams()}


@pytest.mark.parametrize(
    ("kind", "state"),
    [(JobKind.MEASURE_DRIFT, JobState.DONE), (JobKind.TEST_CONNECTION, JobState.FAILED)],
)
def test_a_job_is_repeated_where_that_costs_nothing(
    team: Team,
    threads: ThreadPool,
    monkeypatch: pytest.MonkeyPatch,
    kind: JobKind,
    state: JobState,
) -> None:
    jobs_begun.clear()
    handler = f"{__name__}.{lose_the_first_connection.__name__}"
    monkeypatch.setattr(job_queue, "HANDLERS", dict.fromkeys(JobKind, handler))
    job_queue.enqueue(kind, team, {})
    runner = JobRunner(threads)

    def has_ended() -> bool:
        runner.step()
        return Job.objects.get().state not in {JobState.WAITING, JobState.WORKING}

    wait_until(has_ended)
    assert Job.objects.get().state == state


def done_shards(run: Run) -> int:
    return Shard.objects.filter(attempt__run=run, done_at__isnull=False).count()


def is_finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == RunState.FINISHED


@pytest.fixture
def begun(make_run: MakeRun, three: list[object], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run in many shards, begun and left behind."""
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", OUTPUTS // 200)
    run = make_run([ANSWERS[number % 6] for number in range(OUTPUTS)], *three, name="disturbed")
    planning.plan_attempt(run)
    return run


@pytest.fixture
def uploaded(put: Put) -> Upload:
    """A file of ROWS cases that waits for its dry run."""
    lines = (json.dumps({"id": f"k{n}", "input": f"{n}?", "expected": "x"}) for n in range(ROWS))
    upload = put("\n".join(lines).encode(), name="cases.jsonl", dataset_name="Uploaded")
    assert imports.request_check(upload)
    return upload


@pytest.fixture(params=["outage", pytest.param("restart", marks=pytest.mark.slow)])
def interruption(
    request: pytest.FixtureRequest,
    transactional_db: None,
    chance: Random,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Interruption]:
    """What makes the database go and come; for restarts there is a server of this test's own."""
    if request.param == "outage":
        yield outage
        return
    programs = find_programs()
    assert programs
    server, name = Server(programs), "postgres"
    monkeypatch.setenv("DATABASE_URL", server.url(name))
    subprocess.run([sys.executable, ROOT / "manage.py", "migrate", "--verbosity", "0"], check=True)
    url = urlsplit(server.url(name))
    connection.close()
    for key, value in (("NAME", name), ("PORT", url.port), ("PASSWORD", url.password)):
        monkeypatch.setitem(connection.settings_dict, key, value)
    yield partial(restarted, server, chance)
    connection.close()
    server.end()


@pytest.fixture
def fail_over(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[FailOver]:
    """Lets a server die and its standby take over; the site and this test know of both."""
    programs = find_programs()
    assert programs
    first = Server(programs, FOLLOWED)
    standby = Server(programs, FOLLOWED, follows=first)
    url, servers = urlsplit(first.url("postgres")), (first, standby)
    hosts = ",".join([str(url.hostname)] * len(servers))
    ports = ",".join(str(server.port) for server in servers)
    both = {"host": hosts, "port": ports, "target_session_attrs": "read-write"}
    where = f"{url.username}:{url.password}@"
    monkeypatch.setenv("DATABASE_URL", f"postgresql://{where}/postgres?{urlencode(both)}")
    monkeypatch.setenv("EVALSITE_SECRET_KEY", site_settings.SECRET_KEY)
    monkeypatch.setenv("EVALSITE_ENCRYPTION_KEY", site_settings.SECRET_KEY[::-1])
    subprocess.run([sys.executable, ROOT / "manage.py", "migrate", "--verbosity", "0"], check=True)
    connection.close()
    options = {**connection.settings_dict["OPTIONS"], **both}
    own = {"NAME": "postgres", "HOST": "", "PORT": "", "PASSWORD": url.password, "OPTIONS": options}
    for key, value in own.items():
        monkeypatch.setitem(connection.settings_dict, key, value)

    def change() -> None:
        connection.close()
        first.stop(signal.SIGQUIT)
        standby.take_over()

    yield change
    connection.close()
    for server in servers:
        server.end()


@contextmanager
def restarted(server: Server, chance: Random) -> Iterator[None]:
    """In order, or as after a crash."""
    connection.close()
    server.stop(chance.choice([signal.SIGINT, signal.SIGQUIT]))
    yield
    server.start()


@pytest.mark.kills
@pytest.mark.long("a site scores, imports and serves while its database goes and comes")
def test_outages_leave_the_same_rows_as_an_undisturbed_site(
    interruption: Interruption,
    site: Site,
    port: int,
    begun: Run,
    uploaded: Upload,
    alice: User,
    scored_again: ScoredAgain,
) -> None:
    """Pages answer, or say when to come back."""
    site.start("start", "--port", str(port), EVALSITE_SECRET_KEY=site_settings.SECRET_KEY)
    visitor = Visitor(port, alice, [reverse("team_home", args=["support"]), "/healthz"])
    wait_until(lambda: visitor.get("/healthz") == 200)
    with visitor.browsing():
        for _ in range(KILLS):
            before = done_shards(begun)
            wait_until(lambda: done_shards(begun) > before or is_finished(begun))  # noqa: B023
            noticed = site.log.count(NOTICED)
            with interruption():
                wait_until(lambda: site.log.count(NOTICED) > noticed)  # noqa: B023
            wait_until(lambda: visitor.get("/healthz") == 200)
            is_imported(uploaded)
        wait_until(lambda: is_finished(begun), LONG_SECONDS)
        wait_until(lambda: is_imported(uploaded), LONG_SECONDS)
    assert set(visitor.seen) <= {200, 503}
    assert visitor.seen[200] > visitor.seen[503]
    calm = scored_again(begun)
    wait_until(lambda: is_finished(calm), LONG_SECONDS)
    assert rows_of(begun) == rows_of(calm)
    assert verdicts_of(begun) == verdicts_of(calm)
    assert Score.objects.filter(scorer__run=begun).count() == 3 * OUTPUTS
    keys = Case.objects.filter(version__dataset__name="Uploaded").values_list("key", flat=True)
    assert sorted(keys) == sorted(f"k{n}" for n in range(ROWS))
    assert Worker.objects.count() == 1  # it was never replaced
    assert "Traceback" not in site.log


@pytest.mark.long("a server of the database dies under a site, and its standby takes over")
def test_a_run_goes_on_where_a_standby_takes_over(
    fail_over: FailOver,
    site: Site,
    port: int,
    begun: Run,
    alice: User,
    scored_again: ScoredAgain,
) -> None:
    site.start("start", "--port", str(port))
    visitor = Visitor(port, alice, [reverse("team_home", args=["support"]), "/healthz"])
    wait_until(lambda: visitor.get("/healthz") == 200)
    with visitor.browsing():
        wait_until(lambda: done_shards(begun) > 10)
        fail_over()
        wait_until(lambda: visitor.get("/healthz") == 200)
        wait_until(lambda: is_finished(begun), LONG_SECONDS)
    assert NOTICED in site.log
    assert set(visitor.seen) <= {200, 503}
    calm = scored_again(begun)
    wait_until(lambda: is_finished(calm), LONG_SECONDS)
    assert rows_of(begun) == rows_of(calm)
    assert verdicts_of(begun) == verdicts_of(calm)
    assert "Traceback" not in site.log
