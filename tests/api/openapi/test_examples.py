"""The examples of the schema are true."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalsite.api.openapi import examples
from tests.api.conftest import Api
from tests.api.openapi.test_schema import EXAMPLES, check_answer, operation, problems_of


@pytest.mark.parametrize(("path", "body"), EXAMPLES)
def test_every_example_has_the_shape_it_illustrates(path: str, body: dict[str, Any]) -> None:
    content = operation(path, "post")["requestBody"]["content"]["application/json"]
    assert problems_of(body, content["schema"]) == []
    assert [each["value"] for each in content["examples"].values()] == [body]


def test_the_examples_are_accepted_and_answered_as_shown(alices: Api) -> None:
    """One after the other, as somebody new would try them."""
    ids: dict[str, str] = {}

    def post(path: str, body: dict[str, Any], shown: str = "") -> Any:
        text = json.dumps(body)
        for example, real in ids.items():
            text = text.replace(example, real)
        response = alices.post(path.replace("{uid}", ids.get("{uid}", "")), text)
        assert response.status_code < 300, response.content
        check_answer(response, path, "post")
        return response.json()

    assert post("score/", examples.SCORE) == examples.SCORED
    made = post("datasets/", examples.DATASET)
    assert made | {"id": examples.ID} == examples.DATASET_MADE
    ids[examples.ID] = made["id"]
    ids[examples.OTHER_ID] = post("scorers/", examples.SCORER)["id"]
    ids[examples.OTHER_ID] = post("suites/", examples.SUITE)["id"]
    started = post("runs/", examples.RUN | {"final": False})
    assert started.keys() == examples.STARTED.keys()
    assert started["state"] == examples.STARTED["state"]
    ids["{uid}"] = started["id"]
    assert post("runs/{uid}/outputs/", examples.MORE_OUTPUTS) == examples.ACCEPTED
    assert post("alerts/rules/", examples.ALERT_RULE)["watches"]
    ids[examples.ID] = started["id"]
    assert post("reviews/", examples.REVIEW)["verdict"] == "fail"
    assert post("comments/", examples.COMMENT)["author"] == "alice@example.org"
