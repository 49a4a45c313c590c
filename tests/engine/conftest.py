"""Runs to score, and scorer types that tell what they were asked."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection

from scoring.core import registry
from scoring.core.config import Config
from scoring.core.contract import Case, Result, error, scored, skipped
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    CaseVerdict,
    OutputSet,
    Run,
    RunState,
    Score,
    Scorer,
    Shard,
    Suite,
    Team,
    Verdict,
)
from scoring.models.runs.result_rows import SCORE_COLUMNS
from tests.conftest import MakeDataset, MakeOutputs
from tests.stub import Stub
from tests.support.paths import ROOT

MakeScorer = Callable[..., Scorer]
MakeRun = Callable[..., Run]
RunOfYes = Callable[[int], Run]


@pytest.fixture
def stub(stub: Stub, settings: LazySettings) -> Stub:
    """One that connections of the site may name."""
    settings.EVALSITE_MODEL_HOSTS = sorted(stub.hosts)
    return stub


@pytest.fixture
def threads() -> Iterator[ThreadPool]:
    with ThreadPool() as threads:
        yield threads


@pytest.fixture
def make_scorer(team: Team) -> MakeScorer:
    """A scorer of the team; the name is the type's unless given."""

    def make(kind: str, name: str = "", threshold: float | None = None, **config: Any) -> Scorer:
        return Scorer.objects.define(team, name or kind, kind, config, threshold)

    return make


@pytest.fixture
def make_run(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> MakeRun:
    """A queued run over outputs, each expected to be `yes` unless `expected` tells otherwise."""

    def make(
        outputs: Sequence[str | None] | OutputSet,
        *scorers: Scorer,
        expected: Sequence[Any] = (),
        name: str = "first",
    ) -> Run:
        if not isinstance(outputs, OutputSet):
            wanted = expected or ["yes"] * len(outputs)
            cases = [{} if value is ... else {"expected": value} for value in wanted]
            outputs = make_outputs(make_dataset(cases), outputs)
        entries = [(scorer, None) for scorer in scorers]
        suite = Suite.objects.define(team, f"suite {Suite.objects.count()}", entries)
        return planning.create_run(outputs, suite=suite, name=name)

    return make


@pytest.fixture
def run_of_yes(make_run: MakeRun, make_scorer: MakeScorer) -> RunOfYes:
    """A queued run of so many outputs `yes`, scored by `exact_match`."""
    return lambda count: make_run(["yes"] * count, make_scorer("exact_match"))


@dataclass
class Spy:
    """A scorer type `spy`: answers by what an output says, and remembers what it was asked.

    Outputs: a number is the score, `error` and `skip` are what they say, `nan` is not a number.
    """

    asked: list[str] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    answers: dict[str, Result | Iterator[Result]] = field(default_factory=dict)
    on_asked: Callable[[], object] = field(default=lambda: None)

    def score(self, cases: Sequence[Case], config: Config) -> list[Result]:
        self.cases += cases
        self.asked += [str(case.output) for case in cases]
        self.on_asked()
        return [self.answer(str(case.output)) for case in cases]

    def answer(self, output: str) -> Result:
        if output in self.answers:
            known = self.answers[output]
            return known if isinstance(known, Result) else next(known)
        return reply_of(output)


def reply_of(output: str) -> Result:
    if output == "error":
        return error("service_down", "no answer")
    if output == "skip":
        return skipped("nothing", "nothing to judge")
    return scored(float(output))


@dataclass(frozen=True, kw_only=True)
class SpyConfig(Config):
    """Different labels make different scorer versions."""

    label: str = ""


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    made = Spy()
    kind = registry.ScorerType(
        name="spy",
        label="Spy",
        summary="",
        config=SpyConfig,
        score=made.score,
        default_threshold=0.5,
    )
    monkeypatch.setitem(registry.CUSTOM_TYPES, "spy", kind)
    monkeypatch.setattr("scoring.engine.runs.execution._configured", {})
    return made


def run_all(run: Run) -> None:
    """Plan the run and execute its open shards here and now, without finishing it."""
    planning.plan_attempt(run)
    for shard in Shard.objects.filter(attempt__run=run, done_at=None):
        execute_shard(shard.pk)


def finish(run: Run) -> None:
    """Score the run to its end, as a worker would."""
    run_all(run)
    summarize_run(run)
    planning.change_state(run, (RunState.RUNNING,), RunState.FINISHED)


def rows_of(run: Run) -> list[tuple[Any, ...]]:
    """Everything a run's scores say, in a fixed order and without ids."""
    columns = ("scorer__name", "output__case__key", "output__trial", *SCORE_COLUMNS[2:])
    found = Score.objects.filter(scorer__run=run).values_list(*columns)
    return sorted(found, key=lambda row: row[:3])


def verdicts_of(run: Run) -> list[tuple[int, int, str]]:
    found = CaseVerdict.objects.filter(run=run).order_by("position", "trial")
    return [(row.position, row.trial, Verdict(row.verdict).label) for row in found]


class Site:
    """Real `manage.py` processes with a data folder of their own, ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
        """A process in a group of its own; its output is in `log`."""
        with (self.folder / "log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *arguments],
                env={**os.environ, "EVALSITE_DATA_DIR": str(self.folder), **environment},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                text=True,
            )
        self.processes.append(process)
        return process

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def members(self, group: int) -> set[int]:
        """The living processes of a group, zombies left out."""
        found = set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    found.add(int(path.parent.name))
        return found

    def end(self) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if (self.folder / "log").exists():
            sys.stdout.write(self.log)  # pytest shows it where the test has failed


@pytest.fixture
def site(transactional_db: None, tmp_path: Path) -> Iterator[Site]:
    """A site on the test's own database file."""
    (tmp_path / "evalsite.sqlite3").symlink_to(connection.settings_dict["NAME"])
    made = Site(tmp_path)
    yield made
    made.end()


@pytest.fixture
def fresh_site(tmp_path: Path) -> Iterator[Site]:
    """A site whose data folder is empty."""
    made = Site(tmp_path)
    yield made
    made.end()
