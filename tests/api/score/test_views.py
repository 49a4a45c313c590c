"""Cases are scored at once and nothing is kept."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.tryout import tryout
from scoring.models import Score
from tests.api.conftest import Api, codes
from tests.support.undone import undone

CONTRACT: dict[str, Any] = {
    "scorer": {"type": "levenshtein", "config": {"case_sensitive": True}, "threshold": 0.9},
    "cases": [{"id": "a", "output": "Hello World!", "expected": "Hello World"}],
}


def scored(api: Api, scorer: dict[str, Any], *cases: dict[str, Any]) -> list[dict[str, Any]]:
    response = api.post("score/", {"scorer": scorer, "cases": list(cases)})
    assert response.status_code == 200, response.content
    results: list[dict[str, Any]] = response.json()["results"]
    return results


def test_the_best_of_several_right_answers_is_named(alices: Api) -> None:
    case = {"output": "NYC", "expected": "New York", "references": ["Big Apple", "NYC"]}
    scorer: dict[str, Any] = {"type": "exact_match"}
    (best,) = scored(alices, scorer, case)
    winner = {"answer": "reference 2", "answer_text": "NYC", "answers": 3}
    assert (best["verdict"], best["metadata"]) == ("pass", winner)
    (alone,) = scored(alices, {**scorer, "config": {"use_references": False}}, case)
    assert (alone["verdict"], alone["metadata"]) == ("fail", {})


def test_the_contracts_example_comes_out_as_written(alices: Api) -> None:
    response = alices.post("score/", CONTRACT)
    assert response.status_code == 200
    assert response.json() == {
        "results": [
            {
                "id": "a",
                "status": "scored",
                "score": 0.92,
                "verdict": "pass",
                "reason": "",
                "metadata": {"distance": 1, "max_length": 12, "truncated": False},
            }
        ]
    }
    assert not Score.objects.exists()


def test_a_viewer_may_score(bobs: Api) -> None:
    assert bobs.post("score/", CONTRACT).status_code == 200


def test_results_keep_the_order_and_a_place_stands_in_for_an_id(alices: Api) -> None:
    cases = [{"output": str(n), "expected": "1"} for n in range(3)]
    results = scored(alices, {"type": "exact_match"}, *cases)
    assert [(r["id"], r["verdict"]) for r in results] == [
        ("1", "fail"),
        ("2", "pass"),
        ("3", "fail"),
    ]


def test_no_cases_give_no_results(alices: Api) -> None:
    assert scored(alices, {"type": "exact_match"}) == []


def test_a_missing_output_is_an_error_and_no_score(alices: Api) -> None:
    (result,) = scored(alices, {"type": "exact_match"}, {"expected": "x"})
    assert (result["status"], result["score"], result["verdict"]) == ("error", None, None)
    assert result["metadata"]["code"] == "no_output"


@pytest.mark.parametrize("case", [{}, {"expected": None}])
def test_a_missing_expected_fails_whatever_the_threshold(alices: Api, case: dict[str, Any]) -> None:
    (result,) = scored(alices, {"type": "levenshtein", "threshold": 0}, {"output": "x", **case})
    assert (result["score"], result["verdict"]) == (0.0, "fail")
    assert result["metadata"]["code"] == "expected_missing"


def test_null_is_a_value(alices: Api) -> None:
    (result,) = scored(alices, {"type": "exact_match"}, {"output": None, "expected": ""})
    assert result["verdict"] == "pass"


def test_an_empty_text_is_present(alices: Api) -> None:
    (result,) = scored(alices, {"type": "exact_match"}, {"output": "", "expected": ""})
    assert result["verdict"] == "pass"


def test_white_space_and_unicode_survive(alices: Api) -> None:
    text = " \u200b\n\té 🙂 "
    (result,) = scored(alices, {"type": "exact_match"}, {"output": text, "expected": text})
    assert result["verdict"] == "pass"


def changed(**parts: Any) -> dict[str, Any]:
    return CONTRACT | parts


def test_a_bad_request_is_refused_with_its_place(alices: Api, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], int, list[tuple[str, str]]]] = [
        ({}, 400, [("scorer", "required"), ("cases", "required")]),
        (changed(extra=1), 400, [("extra", "unknown_field")]),
        (changed(scorer={"type": "guess"}), 422, [("scorer.type", "config_error")]),
        (
            changed(scorer={"type": "regex", "config": {"pattern": "("}}),
            422,
            [("scorer.config.pattern", "config_error")],
        ),
        (
            changed(scorer={"type": "exact_match", "threshold": -1}),
            422,
            [("scorer.threshold", "config_error")],
        ),
        (changed(cases=[{"out": 1}]), 400, [("cases[0].out", "unknown_field")]),
        (changed(cases=[{}, {"id": 5}]), 400, [("cases[1].id", "invalid")]),
        (changed(cases=[{"references": "x"}]), 400, [("cases[0].references", "not_a_list")]),
        (changed(cases=[{"tags": [3]}]), 400, [("cases[0].tags[0]", "invalid")]),
        (changed(cases=[{"metadata": []}]), 400, [("cases[0].metadata", "invalid")]),
        (changed(cases=[{}] * 1001), 413, [("cases", "too_many_rows")]),
    ]
    for body, status, errors in cases:
        with subtests.test(body=body, status=status, errors=errors), undone():
            response = alices.post("score/", body)
            assert (response.status_code, codes(response)) == (status, errors)


def test_only_the_first_hundred_faults_are_listed(alices: Api) -> None:
    response = alices.post("score/", changed(cases=[{"x": 1}] * 300))
    assert len(response.json()["errors"]) == 100
    assert response.json()["message"].endswith("(and 299 more)")


def test_a_type_that_needs_a_model_is_refused(alices: Api) -> None:
    judge = {"type": "llm_judge", "config": {"rubric": "Is it kind?", "model": "m"}}
    response = alices.post("score/", changed(scorer=judge))
    assert response.status_code == 422
    assert codes(response)[0][1] == "config_error"


def test_what_takes_too_long_is_given_up(alices: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(helper: tryout.Helper, seconds: float) -> None:
        raise TimeoutError

    monkeypatch.setattr(tryout.Helper, "_await", late)
    response = alices.post("score/", CONTRACT)
    assert (response.status_code, response.json()["code"]) == (503, "no_answer")
    assert response["Retry-After"] == "1"
    monkeypatch.undo()
    assert alices.post("score/", CONTRACT).status_code == 200
