"""Two runs compared through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, Job, Role, Run, RunState, Team, Token, User
from tests.api.conftest import MISSING, Api, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

CASES = 12


def scores(broken: int) -> list[Given]:
    return [0.0] * broken + [1.0] * (CASES - broken)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "tags": ["odd"] if n % 2 else []} for n in range(CASES)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    old, new = (run_with(version, {"close": scores(n), "tone": scores(0)}) for n in (0, 8))
    return old, new


def ids(runs: tuple[Run, Run]) -> dict[str, str]:
    return {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid)}


def test_the_answer_has_the_contracts_shape(alices: Api, runs: tuple[Run, Run]) -> None:
    response = alices.get("compare/", **ids(runs))
    assert response.status_code == 200, response.content
    check_answer(response, "compare/", "get")
    body = response.json()
    counts = ("fixed", "broke", "unchanged", "unclear", "only_baseline", "only_candidate")
    assert [body[name] for name in counts] == [0, 8, 4, 0, 0, 0]
    assert body["warnings"] == []
    close, tone = body["scorers"]
    assert (close["name"], close["n"], close["improved"], close["regressed"]) == ("close", 12, 0, 8)
    assert close["delta"] == pytest.approx(-8 / 12)
    assert close["interval"][0] < close["delta"] < close["interval"][1] < 0
    assert (close["p"], close["p_corrected"], body["claims"]) == (2 / 2**8, 2 / 2**8 * 4, 4)
    assert close["sentence"].startswith("close fell by 0.667 [")
    assert (tone["delta"], tone["p_corrected"]) == (0, 1)
    assert body["sentence"].startswith("8 of 12 cases broke, 0 were fixed")


def test_the_address_of_the_cases_leads_to_what_broke(alices: Api, runs: tuple[Run, Run]) -> None:
    address = alices.get("compare/", **ids(runs)).json()["cases"]
    response = alices.get(address.removeprefix("http://testserver"))
    check_answer(response, "compare/cases/", "get")
    rows = response.json()["results"]
    assert [row["key"] for row in rows] == [f"q{n}" for n in range(8)]
    assert rows[0] == {
        "key": "q0",
        "trial": 0,
        "is_edited": False,
        "baseline": {"verdict": "pass", "output": "q0 0"},
        "candidate": {"verdict": "fail", "output": "q0 0"},
        "state": "open",
    }


def test_errors_in_both_runs_are_counted_apart_from_what_is_unchanged(
    alices: Api, version: DatasetVersion
) -> None:
    given: list[list[Given]] = [["error", "error", "skip", 1.0], ["error", "skip", 0.0, 1.0]]
    runs = [run_with(version, {"close": [*side, *scores(0)[4:]]}) for side in given]
    body = alices.get("compare/", **ids((runs[0], runs[1]))).json()
    assert (body["unchanged"], body["unclear"], body["judged_in_neither"]) == (9, 1, 2)
    answer = alices.get("compare/cases/", **ids((runs[0], runs[1])), kind="judged_in_neither")
    check_answer(answer, "compare/cases/", "get")
    rows = answer.json()["results"]
    verdicts = [(row["baseline"]["verdict"], row["candidate"]["verdict"]) for row in rows]
    assert verdicts == [("error", "error"), ("error", "skipped")]


def test_the_cases_come_in_pages(alices: Api, runs: tuple[Run, Run]) -> None:
    first = alices.get("compare/cases/", **ids(runs), kind="broke", page_size=3).json()
    assert first["previous"] is None
    second = alices.get(first["next"].removeprefix("http://testserver")).json()
    assert [row["key"] for row in second["results"]] == ["q3", "q4", "q5"]
    back = alices.get(second["previous"].removeprefix("http://testserver")).json()
    assert back["results"] == first["results"]


def test_the_cases_are_filtered(
    alices: Api, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], list[str]]] = [
        ({"kind": "unchanged"}, ["q8", "q9", "q10", "q11"]),
        ({"kind": "unchanged", "tag": "odd"}, ["q9", "q11"]),
        ({"kind": "broke", "scorer": "tone"}, []),
        ({"kind": "broke", "scorer": "close", "search": "q7"}, ["q7"]),
        ({"kind": "only_candidate"}, []),
    ]
    for query, keys in cases:
        with subtests.test(query=query, keys=keys), undone():
            response = alices.get("compare/cases/", **ids(runs), **query)
            assert [row["key"] for row in response.json()["results"]] == keys


def test_a_case_that_one_run_lacks_is_null_there(alices: Api, version: DatasetVersion) -> None:
    old = run_with(version, {"close": scores(0)})
    new = run_with(version, {"close": scores(0)[1:]}, leaves_out=[0])
    response = alices.get("compare/cases/", **ids((old, new)), kind="only_baseline")
    check_answer(response, "compare/cases/", "get")
    (row,) = response.json()["results"]
    assert (row["key"], row["candidate"]) == ("q0", None)


def test_large_runs_are_left_to_the_worker(
    alices: Api, runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", CASES - 1)
    for _ in range(2):
        response = alices.get("compare/", **ids(runs))
        check_answer(response, "compare/", "get")
        assert (response.status_code, response.json()) == (202, {"state": "waiting"})
        assert response.headers["Retry-After"] == "2"
    job_queue.run_job(Job.objects.get())
    assert alices.get("compare/", **ids(runs)).json()["broke"] == 8


def test_versions_are_named_and_edited_cases_told(
    alices: Api, runs: tuple[Run, Run], make_dataset: MakeDataset
) -> None:
    other = make_dataset([{"key": "q0", "input": "other"}])
    new = run_with(other, {"close": [1.0]})
    body = alices.get("compare/", **ids((runs[0], new))).json()
    assert (body["edited"], body["only_baseline"]) == (1, CASES - 1)
    assert "over versions v1 and v2 of the dataset" in body["warnings"][0]
    (row,) = alices.get("compare/cases/", **ids((runs[0], new)), kind="edited").json()["results"]
    assert (row["key"], row["is_edited"]) == ("q0", True)


PATHS = ["compare/", "compare/cases/"]


@pytest.mark.parametrize("path", PATHS)
def test_different_datasets_are_refused(
    alices: Api, runs: tuple[Run, Run], make_dataset: MakeDataset, path: str
) -> None:
    other = run_with(make_dataset([{}], name="Others"), {"close": [1.0]})
    response = alices.get(path, **ids((runs[0], other)))
    assert (response.status_code, response.json()["code"]) == (400, "different_datasets")
    assert codes(response) == [("candidate", "different_datasets")]
    assert "Answers and Others" in response.json()["message"]


@pytest.mark.parametrize("path", PATHS)
def test_a_run_is_not_compared_with_itself(alices: Api, runs: tuple[Run, Run], path: str) -> None:
    response = alices.get(path, **ids((runs[0], runs[0])))
    check_answer(response, path, "get")
    assert (response.status_code, response.json()["code"]) == (422, "same_run")
    assert codes(response) == [("candidate", "same_run")]
    said = "candidate: The run is the baseline: name another one."
    assert response.json()["message"] == said


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_several_runs_on_one_side_are_refused(
    alices: Api, runs: tuple[Run, Run], version: DatasetVersion, path: str, side: str
) -> None:
    third = run_with(version, {"close": scores(3)})
    once = ids(runs)
    response = alices.get(path, **{**once, side: [once[side], str(third.uuid)]})
    assert (response.status_code, codes(response)) == (422, [(side, "repeated")])
    assert response.json()["message"] == f"{side}: Name one run a request."
    assert alices.get(path, **{**once, side: [once[side]] * 2}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_an_unfinished_run_is_refused_by_its_id(
    alices: Api, runs: tuple[Run, Run], path: str
) -> None:
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.RUNNING)
    response = alices.get(path, **ids(runs))
    assert (response.status_code, response.json()["code"]) == (409, "run_unfinished")
    assert response.json()["id"] == str(runs[1].uuid)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({}, ("baseline", "required")),
        ({"baseline": "w1"}, ("baseline", "invalid")),
        ({"more": "1"}, ("more", "unknown_field")),
    ],
)
def test_what_is_asked_amiss_is_named(
    alices: Api, path: str, query: dict[str, str], fault: tuple[str, str]
) -> None:
    response = alices.get(path, **query)
    assert response.status_code == 400
    assert fault in codes(response)


def test_a_kind_or_cursor_that_is_none_is_refused(alices: Api, runs: tuple[Run, Run]) -> None:
    response = alices.get("compare/cases/", **ids(runs), kind="worse")
    assert (response.status_code, codes(response)) == (422, [("kind", "invalid_choice")])
    response = alices.get("compare/cases/", **ids(runs), cursor="x")
    assert codes(response) == [("cursor", "bad_cursor")]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_stranger_gets_what_a_missing_run_gives(
    charlies: Api, alices: Api, runs: tuple[Run, Run], path: str, side: str
) -> None:
    """Also where the other run is the stranger's own to see."""
    there = charlies.get(path, **ids(runs))
    nowhere = charlies.get(path, baseline=MISSING, candidate=MISSING)
    assert (there.status_code, there.content) == (404, nowhere.content)
    half = alices.get(path, **{**ids(runs), side: MISSING})
    assert (half.status_code, codes(half)) == (404, [(side, "not_found")])


def test_a_viewer_may_compare(bobs: Api, runs: tuple[Run, Run]) -> None:
    assert bobs.get("compare/", **ids(runs)).status_code == 200


def test_nobody_compares_without_signing_in(runs: tuple[Run, Run]) -> None:
    assert Api().get("compare/", **ids(runs)).status_code == 401


def test_runs_of_two_teams_of_one_person_are_different_datasets(
    runs: tuple[Run, Run], team: Team, alice: User, browser_of: Callable[[User], Any]
) -> None:
    from scoring.models import Dataset, Member

    elsewhere = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Member.objects.create(team=elsewhere, user=alice, role=Role.VIEWER)
    dataset = Dataset.objects.create(team=elsewhere, name="Answers")
    version = DatasetVersion.objects.create(dataset=dataset, state="ready", number=1, case_count=0)
    other = run_with(version, {"close": []})
    response = browser_of(alice).get("/api/v1/compare/", ids((runs[0], other)))
    assert response.json()["code"] == "different_datasets"
    _, secret = Token.objects.issue(team, alice, "a program", Role.VIEWER)
    assert Api(secret).get("compare/", **ids((runs[0], other))).status_code == 404


def test_relabelled_runs_are_told_beside_stored_verdicts(
    alices: Api, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{}] * 2)
    made = [
        suite_run(version, {"close": s}, name=f"w{n}") for n, s in enumerate([[1, 1], [1, 0.4]])
    ]
    entry_of().change_threshold(0.3, by=None, reason="x")
    relabel_run(made[1], by=None)
    response = alices.get("compare/", **ids((made[0], made[1])))
    check_answer(response, "compare/", "get")
    body = response.json()
    assert body["relabel"]["baseline"] is None
    own = alices.get(f"runs/{made[1].uuid}/").json()["relabel"]
    assert body["relabel"]["candidate"] == own
    assert own["thresholds"] == {"close": 0.3}
    assert body["broke"] == 1
