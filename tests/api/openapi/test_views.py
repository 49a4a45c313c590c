"""The schema as JSON."""

from __future__ import annotations

from tests.api.conftest import Api
from tests.api.openapi.test_schema import schema


def test_the_schema_comes_as_json_to_a_token(bobs: Api) -> None:
    response = bobs.get("/api/schema/")
    assert response["Content-Type"].startswith("application/vnd.oai.openapi+json")
    assert response.json()["paths"].keys() == schema()["paths"].keys()
