"""The list of what changed since a run: where its cases stand is kept from the first look on."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.jobs import job_queue
from scoring.models import Comparison, Job, JobKind, JobState, Run, RunState
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

CASES = 4

Pair = tuple[Run, Run]


@pytest.fixture
def runs(make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Of two dataset versions, and large ones; each case breaks."""
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES - 1)
    cases = [{"key": f"q{n}", "input": "zebra", "tags": ["all"]} for n in range(CASES)]
    edited = [{**case, "expected": "edited"} for case in cases]
    old, new = (
        run_with(make_dataset(given, name="questions"), {"close": [score] * CASES}, name=f"{score}")
        for given, score in ((cases, 0.9), (edited, 0.2))
    )
    return old, new


def address(pair: Pair, change: str = "broke") -> str:
    baseline, run = pair
    return f"{reverse('run', args=[run.uuid])}?change={change}&baseline={baseline.uuid}"


def asked() -> list[tuple[str, str]]:
    found = Job.objects.filter(kind=JobKind.COMPARE).order_by("pk")
    return [(each.request["baseline"], each.request["candidate"]) for each in found]


def named(pair: Pair) -> tuple[str, str]:
    return str(pair[0].uuid), str(pair[1].uuid)


def queries(browser: Client, url: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(url)
    assert f"{CASES} of {CASES}" in answer.text
    return [query["sql"] for query in captured]


def test_the_first_look_leaves_the_comparison_to_the_worker_once(bobs: Client, runs: Pair) -> None:
    for _ in range(2):
        queries(bobs, address(runs))
    assert asked() == [named(runs)]
    assert Job.objects.get().requested_by is None  # nobody waits: the list is there


#: Of a line of the page that stands there only once the runs are compared.
SIGN_OFF = ("scoring_casedecision", "scoring_waiver")


@pytest.mark.parametrize("turned", [False, True])
def test_once_compared_the_list_is_read_from_where_its_cases_stand(
    bobs: Client, runs: Pair, turned: bool
) -> None:
    pair, change = ((runs[1], runs[0]), "fixed") if turned else (runs, "broke")
    searched = queries(bobs, address(pair, change))
    job_queue.run_job(Job.objects.get())
    kept = queries(bobs, address(pair, change))
    reads = [
        sum(sql.startswith('SELECT "scoring_pairindex"') for sql in asked_queries)
        for asked_queries in (searched, kept)
    ]
    assert reads[0] < reads[1]
    assert not [sql for sql in kept if "scoring_caseverdict c" in sql]
    of_the_list = [sql for sql in kept if not any(table in sql for table in SIGN_OFF)]
    assert len(of_the_list) < len(searched)
    assert asked() == [named(pair)]


def test_it_is_asked_for_again_only_where_that_can_help(
    bobs: Client, runs: Pair, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[JobState, int]] = [
        (JobState.WAITING, 1),
        (JobState.WORKING, 1),
        (JobState.FAILED, 1),
        (JobState.DONE, 2),  # and one of the runs was scored again since
    ]
    for state, count in cases:
        with subtests.test(state=state, count=count), undone():
            bobs.get(address(runs))
            Job.objects.update(state=state)
            bobs.get(address(runs))
            assert asked() == [named(runs)] * count


def test_with_other_filters_it_is_the_first_look_too(
    bobs: Client, runs: Pair, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "&sort=close",
        "&tag=all&q=zebra",
        "&verdict=fail&reviewed=no&tag=all&q=e&n=1",
    ]
    for more in cases:
        with subtests.test(more=more), undone():
            first, second = (queries(bobs, address(runs) + more) for _ in "12")
            assert len(second) < len(first)
            assert len([sql for sql in first if sql.startswith("INSERT")]) == 1
            assert asked() == [named(runs)]


def test_a_run_scored_again_is_compared_again(bobs: Client, runs: Pair) -> None:
    compare_runs(*runs)
    bobs.get(address(runs))
    assert asked() == []
    Run.objects.filter(pk=runs[1].pk).update(finished_at=timezone.now())
    bobs.get(address(runs))
    assert asked() == [named(runs)]


def test_the_job_of_another_pair_is_none_of_this_one(bobs: Client, runs: Pair) -> None:
    turned = runs[1], runs[0]
    for pair in (turned, runs):
        bobs.get(address(pair, "fixed"))
    assert asked() == [named(turned), named(runs)]


def test_the_measure_that_nobody_named_is_compared_too(bobs: Client, runs: Pair) -> None:
    url = address(runs).partition("&baseline")[0]
    bobs.get(url)
    assert asked() == [named(runs)]


def test_what_needs_no_places_asks_for_none(
    bobs: Client, runs: Pair, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "?change=unchanged", "?change=nonsense", "?change=broke&min=x"]
    for query in cases:
        with subtests.test(query=query), undone():
            bobs.get(reverse("run", args=[runs[1].uuid]) + query)
            assert asked() == []


def test_small_runs_are_searched_each_time(
    bobs: Client, runs: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES)
    queries(bobs, address(runs))
    assert asked() == []


def test_a_run_under_way_is_compared_when_it_has_ended(bobs: Client, runs: Pair) -> None:
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.RUNNING)
    assert bobs.get(address(runs)).status_code == 200
    assert (asked(), Comparison.objects.count()) == ([], 0)


def test_a_case_and_an_export_of_the_list_ask_the_worker_for_nothing(
    bobs: Client, runs: Pair
) -> None:
    query = address(runs).partition("?")[2]
    case = reverse("run_case", args=[runs[1].uuid, 2])
    bobs.get(case)
    assert f"2 of {CASES}" in bobs.get(f"{case}?{query}&n=2").text
    export = reverse("export_run", args=[runs[1].uuid])
    lines = bobs.get(f"{export}?{query}&format=csv").getvalue().decode().splitlines()
    assert [line.split('"')[1] for line in lines] == ["key", "q0", "q1", "q2", "q3"]
    assert asked() == []
