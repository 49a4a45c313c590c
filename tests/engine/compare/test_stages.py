"""How far the worker says it is with a comparison, and how long it says the rest takes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.compare import comparison
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.stages import comparison_stages
from scoring.engine.jobs import job_queue, lease
from scoring.engine.jobs import progress as stages
from scoring.engine.jobs.progress import JobProgress
from scoring.models import Job, JobState, Run
from scoring.models.pairs.pairs import Pairs
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

CASES = 60
SCORERS = ["close", "far"]


@pytest.fixture
def runs(make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Run]:
    """Large ones, of two dataset versions, read in chunks of seven."""
    for module in ("scoring.models.pairs.pairs", "scoring.engine.compare.columns"):
        monkeypatch.setattr(f"{module}.CHUNK", 7)
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES - 1)
    monkeypatch.setattr(stages, "REPORT_SECONDS", 0.0)
    cases = [{"key": f"q{n}", "tags": ["all"]} for n in range(CASES)]
    edited = [{**case, "expected": "edited"} for case in cases]
    old, new = (
        run_with(make_dataset(given, name="questions"), dict.fromkeys(SCORERS, [score] * CASES))
        for given, score in ((cases, 0.9), (edited, 0.2))
    )
    return old, new


def told(*runs: Run) -> list[JobProgress]:
    found: list[JobProgress] = []
    comparison.compare_runs(*runs, found.append)
    return found


def test_every_stage_is_told_with_its_pairs(runs: tuple[Run, Run]) -> None:
    found = told(*runs)
    of = "scorer {} of 2"
    assert list(dict.fromkeys((each.doing, each.total) for each in found)) == [
        ("matching cases", CASES),
        ("counting what changed", 0),
        (f"scores of close, {of.format(1)}", CASES),
        (f"scores of far, {of.format(2)}", CASES),
        ("noting where changes stand", 0),
    ]
    assert [each.done for each in found[: 1 + CASES // 7]] == [*range(0, CASES, 7)]


def test_progress_never_goes_back(runs: tuple[Run, Run]) -> None:
    found = told(*runs)
    shares = [each.share for each in found]
    assert shares == sorted(shares)
    assert (shares[0], 0.8 < shares[-1] < 1) == (0, True)
    for doing in {each.doing for each in found}:
        done = [each.done for each in found if each.doing == doing]
        assert done == sorted(done)
        assert done[-1] <= CASES


def test_the_figures_are_those_of_a_comparison_that_nobody_watches(runs: tuple[Run, Run]) -> None:
    told(*runs)
    watched = comparison.stored_comparison(*runs)
    assert watched is not None
    assert read_figures(watched) == comparison.compute_figures(*runs)


def test_between_two_chunks_nothing_is_left_open(runs: tuple[Run, Run]) -> None:
    """Each is a query of its own, so that what is told can be written meanwhile."""
    with CaptureQueriesContext(connection) as captured:
        comparison.compare_runs(*runs)
    read = [query["sql"] for query in captured if "LIMIT 7" in query["sql"]]
    chunks = CASES // 7 + 1
    of_scores = [sql for sql in read if 'FROM "scoring_score"' in sql]
    assert len(of_scores) == 2 * len(SCORERS) * (chunks + 1)  # the last of each finds none
    assert len(read) - len(of_scores) == chunks + 1


def test_between_two_versions_matching_takes_more_of_the_whole(runs: tuple[Run, Run]) -> None:
    old, new = runs
    shares = [
        matching.cost / (matching.cost + sum(each.cost for each in rest))
        for pairs in (Pairs(old, old), Pairs(old, new))
        for matching, *rest in [list(comparison_stages(pairs, SCORERS))]
    ]
    assert shares[0] < shares[1]


# What is kept of it while the worker works.


def progress(runs: tuple[Run, Run]) -> JobProgress | None:
    return compare_jobs.comparison_progress(runs[0], [runs[1]]).get(runs[1].pk)


def test_the_job_tells_while_it_is_held(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_jobs.compare_or_enqueue(*runs, by=None)
    seen, tell = [progress(runs)], Job.store_progress

    def telling(job: Job, answer: Any) -> bool:
        is_wanted = tell(job, answer)
        seen.append(progress(runs))
        return is_wanted

    monkeypatch.setattr(Job, "store_progress", telling)
    job = Job.objects.get()
    assert lease.acquire(job)
    job_queue.run_job(job)
    assert seen[0] is None
    assert all(isinstance(each, JobProgress) for each in seen[1:])
    assert len(seen) > 2 * len(SCORERS) * CASES // 7
    assert progress(runs) is None
    assert compare_jobs.comparison_progress(runs[1], [runs[0]]) == {}
    assert (Job.objects.get().state, Job.objects.get().answer) == (JobState.DONE, {})


def test_begun_again_it_starts_from_nothing(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_jobs.compare_or_enqueue(*runs, by=None)
    Job.objects.update(state=JobState.WORKING, answer={"share": 0.9})
    answers: list[Any] = []

    def looked_at(*_: Any) -> dict[str, Any]:
        answers.append(Job.objects.get().answer)
        return {}

    monkeypatch.setattr(compare_jobs, "run_comparison", looked_at)
    job_queue.run_job(Job.objects.get())
    assert answers == [{}]
