"""Gates on their page: written, answered, refused; what their address says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare.comparison import compare_runs
from scoring.models import Job, Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.reviewed_runs import ask_to_review
from tests.support.undone import undone
from tests.support.waived_runs import waive

BrowserOf = Callable[[User], Client]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abcdef"])
    old = run_with(version, {"close": [1.0] * 6}, name="w45")
    return old, run_with(version, {"close": [0, 0, 0, 1, 1, 1]}, name="w46")


@pytest.fixture
def viewer(browser_of: BrowserOf, bob: User) -> Client:
    return browser_of(bob)


def ask(browser: Client, run: Run, *gates: str, **query: Any) -> Any:
    sent = {"gate": list(gates), **query} if gates else query
    return browser.get(reverse("run_gate", args=[run.uuid]), sent)


def words(answer: Any) -> str:
    return " ".join(Reader(answer.text).text.split())


def states(answer: Any) -> list[str]:
    return [each.outcome.state for each in answer.context["result"].answers]


def test_the_form_suggests_gates_of_the_run(viewer: Client, runs: tuple[Run, Run]) -> None:
    answer = ask(viewer, runs[1])
    assert answer.status_code == 200
    assert "result" not in answer.context
    for gate in ("regressions&lt;=0", "no_regression", "mean.close&gt;=0.5"):
        assert f'<option value="{gate}">' in answer.text
    assert "Automatic (w45)" in answer.text
    assert "Automatic (none" in ask(viewer, runs[0]).text


def test_each_gate_is_answered_with_its_reason(
    viewer: Client, alice: User, runs: tuple[Run, Run]
) -> None:
    waive(runs[1], "a", "close", alice)
    waive(runs[1], "b", "close", alice, days=-2)
    answer = ask(viewer, runs[1], "regressions<=0", "no_regression", "pass_rate>=0.5", "")
    assert states(answer) == ["failed", "undecided", "passed"]
    said = words(answer)
    assert "1 waived, 1 no longer waived" in said
    assert "3 broke, 0 fixed; power " in said
    assert "Cases that need more trials: a, b, c" in said
    assert "Waivers used" in said
    assert "Expired waivers (cases count again)" in said
    assert "Known bug 12." in said
    case = reverse("run_case", args=[runs[1].uuid, 1])
    assert f'href="{case}?against={runs[0].uuid}"' in answer.text
    assert said.count("Cases that need more trials") == said.lower().count("more trials") == 1


def test_a_waived_case_is_listed_once_with_its_scorers(
    viewer: Client, alice: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": key} for key in "ab"])
    run_with(version, {"close": [1.0] * 2, "same": [1.0] * 2}, name="w45")
    run = run_with(version, {"close": [0.0] * 2, "same": [0.0] * 2}, name="w46")
    for key, days in (("a", 7), ("b", 3)):
        waive(run, key, "close", alice)
        waive(run, key, "same", alice, days=days)
    answer = ask(viewer, run, "regressions<=0")
    ((_, rows, _),) = answer.context["result"].waived
    assert [(row.case.pair.key, row.scorers) for row in rows] == [
        ("a", "close, same"),
        ("b", "close, same"),
    ]
    assert [[terms.scorers for terms in row.terms] for row in rows] == [
        ["close, same"],
        ["close", "same"],
    ]
    said = words(answer)
    assert said.count("Known bug 12.") == 3
    week, soon = (f"{timezone.localdate() + timedelta(days=days):%-d %b %Y}" for days in (7, 3))
    assert f"close until {week}: Known bug 12." in said
    assert f"same until {soon}: Known bug 12." in said


def test_a_tiny_p_is_rounded(viewer: Client, make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"{n}"} for n in range(40)])
    run_with(version, {"close": [1.0] * 40}, name="w45")
    run = run_with(version, {"close": [0.0] * 30 + [1.0] * 10}, name="w46")
    (answer,) = ask(viewer, run, "no_regression").context["result"].answers
    assert (answer.outcome.state, answer.value) == ("failed", "p < 0.001")


def test_the_address_keeps_what_was_asked(viewer: Client, runs: tuple[Run, Run]) -> None:
    other = run_with(runs[0].output_set.version, {"close": [0.0] * 6}, name="w44", series="x")
    query = {"baseline": str(other.uuid), "max_errors": "0.2", "min_drop": "0.3"}
    answer = ask(viewer, runs[1], "regressions<=0", "pass_rate>=0.4", **query)
    assert states(answer) == ["passed", "passed"]
    for part in (
        'value="regressions&lt;=0"',
        'value="pass_rate&gt;=0.4"',
        f'<option value="{other.uuid}" selected>',
        'value="0.2"',
        'value="0.3"',
        '<details class="fold" open>',
    ):
        assert part in answer.text, part


def test_what_cannot_be_checked_is_said(
    viewer: Client, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[list[str], dict[str, str], str]] = [
        (["pass_rate"], {}, "The gate 'pass_rate' cannot be read"),
        (["mean.tone>=1"], {}, "the run has no such scorer; it has: close"),
        ([""], {}, "Enter a gate."),
        (["pass_rate>=0"] * 21, {}, "At most 20 gates"),
        (["x" * 201], {}, "at most 200 characters"),
        (["pass_rate>=0"], {"min_drop": "0"}, "greater than or equal to 0.001"),
        (["pass_rate>=0"], {"max_errors": "nan"}, "Enter a number."),
        (["pass_rate>=0"], {"baseline": "w45"}, "Select a valid choice."),
    ]
    for gates, query, said in cases:
        with subtests.test(gates=gates, query=query, said=said), undone():
            answer = ask(viewer, runs[1], *gates, **query)
            assert answer.status_code == 422
            assert said in words(answer)
            assert "Nothing was checked" in words(answer)
            assert "result" not in answer.context


def test_an_unfinished_run_is_not_checked(viewer: Client, runs: tuple[Run, Run]) -> None:
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.RUNNING)
    answer = ask(viewer, runs[1], "pass_rate>=0")
    assert answer.status_code == 200
    assert "The run is running: gates can be checked once it has ended." in words(answer)
    assert "<form" not in answer.text.partition("<main")[2].partition("</main>")[0]


def test_cases_to_review_are_counted_and_not_named(
    browser_of: BrowserOf, alice: User, runs: tuple[Run, Run]
) -> None:
    waive(runs[1], "a", "close", alice)
    ask_to_review(runs[1], alice, "a")
    said = words(ask(browser_of(alice), runs[1], "regressions<=0", "no_regression"))
    assert "1 waived" in said
    assert "Waivers used" not in said
    assert "1 waived case that you are yet to review is counted and not named" in said
    assert "Cases that need more trials: b, c and 1 more" in said


def test_large_runs_wait_for_their_comparison(
    viewer: Client, runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    answer = ask(viewer, runs[1], "regressions<=0")
    assert "The runs are compared case by case" in words(answer)
    assert Job.objects.count() == 1
    polled = {"HX-Request": "true", "HX-Target": "waiting"}
    part = viewer.get(answer.wsgi_request.get_full_path(), headers=polled)
    assert part.text.lstrip().startswith('<div class="stack" id="waiting"')
    compare_runs(*runs)
    done = viewer.get(answer.wsgi_request.get_full_path(), headers=polled)
    assert done.headers["HX-Retarget"] == "#main"
    assert states(done) == ["failed"]


def test_a_comparison_that_failed_is_not_repeated_by_itself(
    viewer: Client, runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    ask(viewer, runs[1], "regressions<=0")
    Job.objects.update(state="failed", problem="one of the runs is no longer there")
    answer = ask(viewer, runs[1], "regressions<=0")
    assert "Not compared: one of the runs is no longer there." in words(answer)
    assert Job.objects.count() == 1
    again = ask(viewer, runs[1], "regressions<=0", again="1")
    assert "The runs are compared case by case" in words(again)
    assert Job.objects.count() == 2


def test_queries_do_not_grow_with_the_cases(viewer: Client, make_dataset: MakeDataset) -> None:
    def count(cases: int) -> int:
        version = make_dataset([{"key": f"q{n}"} for n in range(cases)], f"Of {cases}")
        old = run_with(version, {"close": [1.0] * cases})
        new = run_with(version, {"close": [0.0] * cases})
        compare_runs(old, new)
        with CaptureQueriesContext(connection) as queries:
            answer = ask(viewer, new, "regressions<=0", "no_regression", "mean.close>=0.5")
        assert len(states(answer)) == 3
        return len(queries)

    ask(viewer, run_with(make_dataset([{}]), {"close": [1.0]}))  # what is read once
    assert count(3) == count(60)


def test_strangers_find_nothing(
    browser_of: BrowserOf, charlie: User, runs: tuple[Run, Run]
) -> None:
    assert ask(browser_of(charlie), runs[1], "pass_rate>=0").status_code == 404


def test_a_run_of_another_dataset_is_no_choice(
    viewer: Client, runs: tuple[Run, Run], make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "a"}], "Other")
    foreign = run_with(version, {"close": [1.0]}, name="foreign")
    answer = ask(viewer, runs[1], "regressions<=0", baseline=str(foreign.uuid))
    assert answer.status_code == 422
    assert foreign.name not in answer.text.partition("<main")[2]


def test_the_run_page_leads_to_its_gates(viewer: Client, runs: tuple[Run, Run]) -> None:
    page = viewer.get(reverse("run", args=[runs[1].uuid]))
    assert f'href="{reverse("run_gate", args=[runs[1].uuid])}"' in page.text
