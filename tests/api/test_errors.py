"""Every error has one shape, whatever went wrong and wherever."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError
from django.http import Http404
from django.test import Client
from rest_framework.exceptions import ErrorDetail, Throttled
from rest_framework.exceptions import ValidationError as ShapeError
from rest_framework.throttling import UserRateThrottle

from evalsite.api import errors as api_errors
from scoring.core.contract import CaseProblem, ConfigError, ServiceError
from scoring.core.files import FileProblem
from scoring.engine.tryout import tryout
from scoring.models import Scorer
from tests.api.conftest import API, Api, codes
from tests.support.undone import undone

VALID = {"scorer": {"type": "exact_match"}, "cases": [{"output": "x", "expected": "x"}]}

LOST = OperationalError("connection refused")
LOST.__cause__ = psycopg.OperationalError("connection refused")


def check_shape(response: Any) -> None:
    body = response.json()
    assert set(body) - {"id"} == {"code", "message", "errors"}
    assert body["code"]
    assert body["message"]
    for fault in body["errors"]:
        assert set(fault) - {"line"} == {"field", "code", "message"}


def test_a_body_that_is_not_sound_json_is_refused(alices: Api, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str | bytes, str, str]] = [
        ("{", "invalid_json", ""),
        ('{"a": 1,}', "invalid_json", ""),
        ("{'a': 1}", "invalid_json", ""),
        ('{"cases": [{"output": NaN}]}', "not_finite", "cases[0].output"),
        ('{"cases": [{"output": -Infinity}]}', "not_finite", "cases[0].output"),
        ('{"cases": [{"output": 1e999}]}', "not_finite", "cases[0].output"),
        ('{"cases": [], "cases": []}', "duplicate_key", "cases"),
        ('{"cases": [{"metadata": {"a": 1, "a": 2}}]}', "duplicate_key", "cases[0].metadata.a"),
        ('{"cases": [{"id": "\\ud800"}]}', "invalid_unicode", "cases[0].id"),
        ('{"cases": [{"id": "a\\u0000"}]}', "nul_character", "cases[0].id"),
        ('{"\\u0000": 1}', "nul_character", '["\\u0000"]'),
        ('{"cases": ' + "[" * 70 + "]" * 70 + "}", "too_deep", ""),
        ("[" * 100_000, "too_deep", ""),
        ('{"a": ' + "9" * 5000 + "}", "number_too_long", "a"),
        (b'{"a": "\xff"}', "encoding", ""),
        ('{"a": 1}'.encode("utf-16"), "encoding", ""),
    ]
    for body, code, field in cases:
        with subtests.test(body=body, code=code, field=field), undone():
            response = alices.post("score/", body)
            assert response.status_code == 400, response.content
            check_shape(response)
            assert response.json()["code"] == code
            if field:
                assert codes(response) == [(field, code)]


def test_a_byte_order_mark_is_accepted(alices: Api) -> None:
    assert alices.post("score/", "\ufeff{}").json()["code"] == "required"


def test_proto_is_plain_data(alices: Api) -> None:
    case = {"output": "x", "expected": "x", "metadata": {"__proto__": {"a": 1}}}
    assert alices.post("score/", VALID | {"cases": [case]}).status_code == 200


@pytest.mark.parametrize("body", ["null", "[]", "3", '"text"', "true"])
def test_a_body_that_is_no_object_is_refused(alices: Api, body: str) -> None:
    response = alices.post("score/", body)
    assert response.status_code == 400
    check_shape(response)


def test_a_body_over_the_limit_is_refused(alices: Api, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
    response = alices.post("score/", VALID | {"cases": [{"output": "x" * 2000}]})
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    check_shape(response)


def test_another_content_type_is_refused(alices: Api) -> None:
    response = alices.client.post(
        f"{API}score/", "<a/>", content_type="text/xml", headers=alices.headers
    )
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")
    check_shape(response)


@pytest.mark.parametrize("method", ["delete", "put", "patch", "options", "trace"])
def test_another_method_is_refused(alices: Api, method: str) -> None:
    response = getattr(alices.client, method)(f"{API}scorers/", headers=alices.headers)
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in response["Allow"]
    check_shape(response)


@pytest.mark.parametrize(
    "path",
    ["/api/", f"{API}", f"{API}nothing/", f"{API}scorers", f"{API}scorers/1/", "/api/v2/scorers/"],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_address_that_leads_nowhere_answers_in_json(
    client: Client, path: str, method: str
) -> None:
    response = getattr(client, method)(path)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    check_shape(response)


def test_a_post_that_leads_nowhere_needs_no_csrf_token(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post(f"{API}runs/x/start/")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_forgotten_slash_is_named(client: Client) -> None:
    assert "v1/scorers/" in client.get(f"{API}scorers").json()["message"]


def test_json_comes_whatever_is_accepted(alices: Api) -> None:
    response = alices.client.get(
        f"{API}scorers/", headers={**alices.headers, "Accept": "text/html"}
    )
    assert response["Content-Type"] == "application/json"


def test_too_many_requests_are_told_when_to_come_back(
    alices: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UserRateThrottle, "get_rate", lambda self: "1/min")
    assert alices.get("scorers/").status_code == 200
    response = alices.get("scorers/")
    assert (response.status_code, response.json()["code"]) == (429, "too_many_requests")
    assert 1 <= int(response["Retry-After"]) <= 60
    check_shape(response)


def test_what_nobody_foresaw_tells_nothing(
    alices: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("the secret is xyzzy")

    monkeypatch.setattr(tryout, "score", fail)
    response = alices.post("score/", VALID)
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert b"xyzzy" not in response.content
    assert "xyzzy" in caplog.text
    check_shape(response)


@pytest.mark.parametrize(
    ("fault", "status", "code", "errors"),
    [
        (Http404("Run matching query"), 404, "not_found", []),
        (CaseProblem("too_deep", "deep", "a.b"), 400, "too_deep", [("a.b", "too_deep")]),
        (
            FileProblem("missing_column", "no input", line=1, column="input"),
            422,
            "missing_column",
            [("input", "missing_column")],
        ),
        (ConfigError({"scorers": ["one"]}), 422, "config_error", [("scorers", "config_error")]),
        (OSError(28, "No space left on device"), 507, "disk_full", []),
        (OSError(5, "Input/output error"), 500, "internal_error", []),
        (OperationalError("disk I/O error"), 500, "internal_error", []),
        (LOST, 503, "database_unreachable", []),
        (ServiceError("took too long", retry=True), 503, "no_answer", []),
        (ValidationError({"reason": "Enter a reason."}), 422, "invalid", [("reason", "invalid")]),
        (ValidationError("Not so."), 422, "invalid", [("", "invalid")]),
    ],
)
def test_every_error_of_ours_has_its_status(
    fault: Exception, status: int, code: str, errors: list[tuple[str, str]]
) -> None:
    problem = api_errors.problem_from_exception(fault)
    assert (problem.status_code, problem.body["code"]) == (status, code)
    assert [(each["field"], each["code"]) for each in problem.body["errors"]] == errors


def test_the_line_of_a_file_is_kept() -> None:
    fault = FileProblem("row_width", "too wide", line=7, column="")
    assert api_errors.problem_from_exception(fault).body["errors"][0]["line"] == 7


def test_a_text_over_the_databases_limits_is_refused_not_stored(alices: Api) -> None:
    response = alices.post("scorers/", {"name": "x", "type": "y" * 500})
    assert codes(response) == [("type", "max_length")]
    assert not Scorer.objects.exists()


@pytest.mark.parametrize(("wait", "seconds"), [(None, 1), (0, 1), (0.2, 1), (1.2, 2), (60, 60)])
def test_who_is_throttled_waits_whole_seconds(wait: float | None, seconds: int) -> None:
    problem = api_errors.problem_from_exception(Throttled(wait))
    assert (problem.status_code, problem.code) == (429, "too_many_requests")
    assert problem.retry_after == seconds


@pytest.mark.parametrize(
    ("codes", "status"),
    [(["blank"], 422), (["blank", "max_length"], 422), (["blank", "invalid"], 400)],
)
def test_a_body_is_unusable_if_only_values_are_wrong(codes: list[str], status: int) -> None:
    faults = {f"field{number}": [ErrorDetail("Wrong.", code)] for number, code in enumerate(codes)}
    assert api_errors.problem_from_exception(ShapeError(faults)).status_code == status


def test_the_message_counts_the_further_errors_and_the_list_is_cut() -> None:
    faults = [api_errors.Fault(f"rows[{number}]", "blank", "Empty.") for number in range(101)]
    assert api_errors.validation_problem(422, faults[:1]).message == "rows[0]: Empty."
    body = api_errors.validation_problem(422, faults).body
    assert body["message"] == "rows[0]: Empty. (and 100 more)"
    assert len(body["errors"]) == 100


def test_an_id_in_a_body_that_names_nothing_is_not_found() -> None:
    problem = api_errors.missing_problem("suite")
    assert (problem.status_code, problem.code) == (404, "not_found")
