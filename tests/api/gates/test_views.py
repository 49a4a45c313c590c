"""Gates checked through the API."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from scoring.models import Run, RunState, User
from tests.api.conftest import MISSING, Api, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.undone import undone
from tests.support.waived_runs import waive

PATH = "runs/{uid}/gate/"
GATES = ["regressions<=0", "no_regression", "pass_rate>=0.5", "mean.close>=0.4"]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abcdef"])
    old = run_with(version, {"close": [1.0] * 6}, name="w45")
    return old, run_with(version, {"close": [0, 0, 0, 1, 1, 1]}, name="w46")


@pytest.fixture
def path(runs: tuple[Run, Run]) -> str:
    return f"runs/{runs[1].uuid}/gate/"


def ask(api: Api, path: str, *gates: str, **query: Any) -> Any:
    answer = api.get(path, gate=list(gates), **query)
    check_answer(answer, PATH, "get")
    return answer


def test_it_answers_as_the_command_does(
    bobs: Api, alice: User, runs: tuple[Run, Run], path: str
) -> None:
    waive(runs[1], "a", "close", alice)
    waive(runs[1], "b", "close", alice, days=-2)
    answer = ask(bobs, path, *GATES).json()
    words = [word for gate in GATES for word in ("--gate", gate)]
    out = StringIO()
    with pytest.raises(CommandError, match="not met: regressions<=0, no_regression"):
        call_command("compare", "w45", "w46", "--json", *words, stdout=out)
    (told,) = json.loads(out.getvalue())["comparisons"]
    for name in ("gates", "waivers", "broke", "regressions", "stamps", "warnings"):
        assert answer[name] == told[name], name
    assert (answer["run"], answer["baseline"]) == (str(runs[1].uuid), str(runs[0].uuid))
    assert (answer["state"], answer["broke"], answer["regressions"]) == ("failed", 3, 2)
    assert [gate["state"] for gate in answer["gates"]] == [
        "failed",
        "undecided",
        "passed",
        "passed",
    ]
    assert answer["gates"][1]["unstable_cases"] == {"count": 3, "keys": ["a", "b", "c"]}
    assert answer["regressions_unknown"] == {
        "unknown": 0,
        "of": 6,
        "unclear": 0,
        "only_in_one_run": 0,
    }


def test_a_waiver_turns_the_answer(
    bobs: Api, alice: User, runs: tuple[Run, Run], path: str
) -> None:
    assert ask(bobs, path, "regressions<=2").json()["state"] == "failed"
    waive(runs[1], "a", "close", alice)
    assert ask(bobs, path, "regressions<=2").json()["state"] == "passed"


def test_the_baseline_is_found_or_named(
    bobs: Api, runs: tuple[Run, Run], path: str, make_dataset: MakeDataset
) -> None:
    other = run_with(runs[0].output_set.version, {"close": [0.0] * 6}, name="w47", series="other")
    for named in ({}, {"baseline": "auto"}, {"baseline": str(runs[0].uuid)}):
        assert ask(bobs, path, "regressions<=3", **named).json()["baseline"] == str(runs[0].uuid)
    found = ask(bobs, path, "regressions<=0", baseline=str(other.uuid)).json()
    assert (found["state"], found["baseline"]) == ("passed", str(other.uuid))
    first = ask(bobs, f"runs/{runs[0].uuid}/gate/", "regressions<=0").json()
    assert (first["state"], first["baseline"], first["waivers"]) == ("passed", None, None)
    alone = ask(bobs, path, "pass_rate>=0.6").json()
    assert (alone["state"], alone["baseline"], alone["regressions"]) == ("failed", None, None)


def test_limits_are_heeded(bobs: Api, path: str) -> None:
    strict, lax = (
        ask(bobs, path, "no_regression", min_drop=drop).json()["gates"][0] for drop in (0.1, 0.5)
    )
    assert (strict["drop"], lax["drop"]) == (0.1, 0.5)
    assert strict["power"] < lax["power"]


def test_a_bad_question_is_refused(bobs: Api, path: str, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({}, 400, "gate"),
        ({"gate": "pass_rate"}, 422, "gate[0]"),
        ({"gate": ["regressions<=0", "x"]}, 422, "gate[1]"),
        ({"gate": "mean.tone>=0.5"}, 422, "gate"),
        ({"gate": ["pass_rate>=0"] * 21}, 422, "gate"),
        ({"gate": "pass_rate>=0", "max_errors": "nan"}, 422, "max_errors"),
        ({"gate": "pass_rate>=0", "max_errors": "1.1"}, 422, "max_errors"),
        ({"gate": "pass_rate>=0", "min_drop": "0"}, 422, "min_drop"),
        ({"gate": "pass_rate>=0", "baseline": "w45"}, 422, "baseline"),
        ({"gate": "pass_rate>=0", "baseline": MISSING}, 404, "baseline"),
        ({"gate": "pass_rate>=0", "series": "x"}, 400, "series"),
    ]
    for query, status, fault in cases:
        with subtests.test(query=query, status=status, fault=fault), undone():
            answer = bobs.get(path, **query)
            check_answer(answer, PATH, "get")
            assert codes(answer)[0][0] == fault, codes(answer)
            assert answer.status_code in {400, status}, answer.content


def test_runs_that_cannot_be_compared_are_refused(
    bobs: Api, runs: tuple[Run, Run], path: str, make_dataset: MakeDataset
) -> None:
    same = bobs.get(path, gate="regressions<=0", baseline=str(runs[1].uuid))
    assert (same.status_code, same.json()["code"]) == (422, "same_run")
    foreign = run_with(make_dataset([{"key": "a"}], "Other"), {"close": [1.0]})
    other = bobs.get(path, gate="regressions<=0", baseline=str(foreign.uuid))
    assert (other.status_code, other.json()["code"]) == (400, "different_datasets")
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.RUNNING)
    unready = bobs.get(path, gate="pass_rate>=0")
    assert (unready.status_code, unready.json()["code"]) == (409, "run_unfinished")


def test_strangers_find_nothing(charlies: Api, path: str) -> None:
    assert charlies.get(path, gate="pass_rate>=0").status_code == 404


def test_cases_to_review_are_counted_and_not_named(
    alices: Api, bobs: Api, alice: User, runs: tuple[Run, Run], path: str
) -> None:
    waive(runs[1], "a", "close", alice)
    ask_to_review(runs[1], alice, "a")
    blind = ask(alices, path, "regressions<=0", "no_regression")
    assert blind.headers["X-Left-Out"] == "1"
    assert blind.json()["waivers"]["used"] == []
    assert blind.json()["gates"][1]["unstable_cases"] == {"count": 3, "keys": ["b", "c"]}
    assert blind.json()["regressions"] == 2
    seen = ask(bobs, path, "regressions<=0")
    assert [case["key"] for case in seen.json()["waivers"]["used"]] == ["a"]
    assert "X-Left-Out" not in seen.headers


def test_large_runs_are_compared_first(
    bobs: Api, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    answer = ask(bobs, path, "regressions<=0")
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    assert ask(bobs, path, "pass_rate>=0").status_code == 200
