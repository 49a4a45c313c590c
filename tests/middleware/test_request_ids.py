"""Ids of requests, from a proxy or of our own."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from evalsite.middleware.request_ids import RequestIds
from scoring.core.log_context import NAMES, current_ids
from tests.support.paths import ROOT

OWN = re.compile(r"[0-9a-f]{32}")
#: What each line of the log has as JSON.
KEYS = {"time", "level", "logger", "message", "process"} | {f"{name}_id" for name in NAMES}


def answered(**headers: str) -> Any:
    seen: list[str] = []

    def respond(_: HttpRequest) -> HttpResponse:
        seen.append(current_ids()["request"])
        return HttpResponse()

    response = RequestIds(respond)(RequestFactory().get("/", headers=headers))
    assert seen == [response["X-Request-ID"]]
    return response["X-Request-ID"]


def test_the_id_of_a_proxy_is_kept() -> None:
    assert answered(**{"X-Request-ID": "edge-7f3a.2_b"}) == "edge-7f3a.2_b"


@pytest.mark.parametrize(
    "given", ["", "short", "a" * 65, "two words", "a\nlevel=ERROR", "<b>hello</b>"]
)
def test_anything_else_gets_a_new_one(given: str) -> None:
    assert OWN.fullmatch(answered(**{"X-Request-ID": given}))


def test_no_two_requests_have_the_same() -> None:
    assert answered() != answered()
    assert current_ids() == {}


def test_every_answer_has_it(client: Client, db: None) -> None:
    for path in ("/healthz", "/nowhere/", "/api/v1/datasets/", "/accounts/login/"):
        assert OWN.fullmatch(client.get(path)["X-Request-ID"]), path


def test_the_page_of_an_error_shows_it(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("evalsite.pages.operations.health._database_and_worker", fail)
    client.raise_request_exception = False
    with caplog.at_level(logging.ERROR):
        answer = client.get("/healthz", headers={"X-Request-ID": "from-the-proxy"})
    assert answer.status_code == 500
    assert "from-the-proxy" in answer.content.decode()


@pytest.mark.parametrize("kind", ["text", "json"])
def test_the_log_is_text_or_json(kind: str, tmp_path: Any) -> None:
    program = (
        "import django, logging; django.setup()\n"
        "from scoring.core.log_context import log_context\n"
        "with log_context(run='r-1', shard=7):\n"
        "    logging.getLogger('scoring.engine').warning('%s is late', 'It')\n"
        "from django.test import Client\n"
        "Client().get('/healthz', headers={'X-Request-ID': 'from-the-proxy'})\n"
    )
    environment = {
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
        "EVALSITE_DATA_DIR": str(tmp_path),
        "EVALSITE_LOG_FORMAT": kind,
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    line, refusal = done.stderr.splitlines()
    if kind == "text":
        assert line.endswith("WARNING scoring.engine: It is late run=r-1 shard=7")
        assert refusal.endswith("Service Unavailable: /healthz request=from-the-proxy")
        return
    told = json.loads(line)
    assert told["message"] == "It is late"
    assert (told["level"], told["logger"]) == ("WARNING", "scoring.engine")
    assert (told["run_id"], told["shard_id"], told["request_id"]) == ("r-1", "7", None)
    assert told.keys() == KEYS
    told = json.loads(refusal)
    assert (told["request_id"], told["status_code"]) == ("from-the-proxy", 503)
    assert told.keys() == KEYS | {"status_code"}
