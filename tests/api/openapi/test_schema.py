"""The schema describes what the API does, and the docs show it under the site's policy."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator  # type: ignore[import-untyped]  # it carries no types

from evalsite.api.openapi import examples
from evalsite.api.urls import v1
from scoring.models import Run, Scorer, Suite, Team
from tests.api.conftest import Api
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import finish
from tests.support.thoroughness import examples as drawn


@cache
def schema() -> dict[str, Any]:
    from drf_spectacular.generators import SchemaGenerator

    made: dict[str, Any] = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return made


def problems_of(value: Any, shape: dict[str, Any]) -> list[str]:
    """What a value lacks to be of this OpenAPI 3.0 shape."""
    whole = {**_plain(shape), "components": _plain(schema()["components"])}
    return [error.message for error in Draft4Validator(whole).iter_errors(value)]


def _plain(shape: Any) -> Any:
    """OpenAPI 3.0 says `nullable`, JSON Schema has null among the types. A field that the schema
    does not name is a problem, too: whoever reads the schema never learns of it.
    """
    if isinstance(shape, list):
        return [_plain(part) for part in shape]
    if not isinstance(shape, dict):
        return shape
    plain = {name: _plain(part) for name, part in shape.items() if name != "nullable"}
    if isinstance(shape.get("properties"), dict) and shape.get("type") == "object":
        plain.setdefault("additionalProperties", False)
    return {"anyOf": [plain, {"type": "null"}]} if shape.get("nullable") else plain


def operation(path: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = schema()["paths"][f"/api/v1/{path}"][method]
    return found


def check_answer(response: Any, path: str, method: str) -> None:
    """The answer has the shape that the schema gives for its status."""
    answers = operation(path, method)["responses"]
    answer = answers.get(str(response.status_code), answers["default"])
    assert problems_of(response.json(), answer["content"]["application/json"]["schema"]) == []
    assert str(response.status_code) in answers or response.status_code >= 400


def test_the_schema_is_valid_openapi() -> None:
    validate_schema(schema())  # type: ignore[no-untyped-call]  # untyped there
    assert schema()["openapi"].startswith("3.")


def test_every_address_is_described() -> None:
    named = {re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern)) for route in v1}
    assert {path.removeprefix("/api/v1/") for path in schema()["paths"]} == named


def test_bodies_with_unknown_fields_are_told_to_be_refused() -> None:
    shapes = schema()["components"]["schemas"]
    bodies = [name for name in shapes if name.endswith("Request")]
    assert len(bodies) >= 10
    assert all(shapes[name]["additionalProperties"] is False for name in bodies)


def test_keys_and_teams_are_told_where_they_count() -> None:
    def names(path: str, method: str) -> set[str]:
        return {each["name"] for each in operation(path, method).get("parameters", [])}

    assert names("runs/", "post") == {"Idempotency-Key", "team"}
    assert names("runs/", "get") == {"cursor", "page_size", "team"}
    assert names("runs/{uid}/start/", "post") == {"Idempotency-Key", "uid"}
    assert names("runs/{uid}/results/", "get") >= {"verdict", "min", "max", "ordering", "uid"}
    assert names("score/", "post") == set()


EXAMPLES = [
    ("invitations/", examples.INVITATION),
    ("tokens/", examples.TOKEN),
    ("score/", examples.SCORE),
    ("datasets/", examples.DATASET),
    ("scorers/", examples.SCORER),
    ("suites/", examples.SUITE),
    ("runs/", examples.RUN),
    ("runs/{uid}/outputs/", examples.MORE_OUTPUTS),
    ("alerts/rules/", examples.ALERT_RULE),
    ("runs/{uid}/release-decisions/", examples.RELEASE),
    ("reviews/", examples.REVIEW),
    ("adjudications/", examples.ADJUDICATION),
    ("corrections/", examples.CORRECTION),
    ("preferences/", examples.PREFERENCE),
    ("comments/", examples.COMMENT),
]


@pytest.fixture
def finished(
    team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs, close_enough: Scorer
) -> Run:
    from scoring.engine.runs import planning

    version = make_dataset([{"expected": "a", "tags": ["t"]}, {"expected": "b"}, {}])
    suite = Suite.objects.define(team, "release", [(close_enough, None)])
    made = planning.create_run(make_outputs(version, ["a", "x", None]), suite=suite)
    finish(made)
    return made


def test_every_answer_has_the_shape_the_schema_gives(alices: Api, finished: Run) -> None:
    scorer = finished.scorers.get().version.scorer
    ids = {
        "datasets/": finished.output_set.version.dataset.uuid,
        "scorers/": scorer.uuid,
        "suites/": finished.suite.uuid if finished.suite else "",
        "runs/": finished.uuid,
    }
    for path, uid in ids.items():
        check_answer(alices.get(path), path, "get")
        check_answer(alices.get(f"{path}{uid}/"), f"{path}{{uid}}/", "get")
        check_answer(alices.get(f"{path}{scorer.team.uuid}/"), f"{path}{{uid}}/", "get")
    run = f"runs/{finished.uuid}/"
    check_answer(alices.get(f"{run}results/"), "runs/{uid}/results/", "get")
    check_answer(alices.get(f"{run}results/", min=2), "runs/{uid}/results/", "get")
    dataset = f"datasets/{finished.output_set.version.dataset.uuid}/"
    check_answer(alices.get(f"{dataset}versions/"), "datasets/{uid}/versions/", "get")
    for action in ("start", "cancel", "retry"):
        check_answer(alices.post(f"{run}{action}/"), f"runs/{{uid}}/{action}/", "post")


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=5), parts),
    max_leaves=8,
)


@pytest.mark.parametrize(("path", "body"), [*EXAMPLES[:5], *EXAMPLES[6:]])
@settings(
    max_examples=drawn(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_nothing_that_is_sent_makes_the_api_fail(
    alices: Api, path: str, body: dict[str, Any], data: st.DataObject
) -> None:
    """Any value in any field, or any field more or less: refused in the one shape, or taken."""
    changed = json.loads(json.dumps(body))
    place = changed
    while isinstance(place, dict | list) and place:
        places = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(places))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
            place[key] = data.draw(ANY_JSON)
            break
        place = place[key]
    response = alices.post(path, json.dumps(changed))
    assert response.status_code != 500, response.content
    check_answer(response, path, "post")


@pytest.mark.parametrize("value", [{}, {"id": 1}, examples.STARTED | {"state": "lost"}, []])
def test_a_wrong_answer_would_be_noticed(value: Any) -> None:
    assert problems_of(value, {"$ref": "#/components/schemas/Started"})


def test_a_field_that_the_schema_does_not_name_would_be_noticed() -> None:
    (problem,) = problems_of(
        examples.STARTED | {"extra": 1}, {"$ref": "#/components/schemas/Started"}
    )
    assert "'extra' was unexpected" in problem


def test_a_right_answer_is_not_complained_of() -> None:
    assert problems_of(examples.STARTED, {"$ref": "#/components/schemas/Started"}) == []
