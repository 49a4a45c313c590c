"""The OpenAPI schema: what spectacular cannot see for itself."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from evalsite.api.authentication import SCHEME
from evalsite.api.idempotency import HEADER
from evalsite.api.openapi.descriptions import Description

TEAM = OpenApiParameter(
    "team",
    OpenApiTypes.STR,
    description="The team, by the name in its addresses. Needed with a session in several teams.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Any text of your own: the same key with the same body counts once.",
)

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, where, and what to do.",
    "required": ["code", "message", "errors"],
    "properties": {
        "code": {
            "type": "string",
            "description": "Stable; for programs.",
            "example": "unknown_field",
        },
        "message": {"type": "string", "description": "For people."},
        "errors": {
            "type": "array",
            "maxItems": 100,
            "items": {
                "type": "object",
                "required": ["field", "code", "message"],
                "properties": {
                    "field": {"type": "string", "example": "cases[3].expected"},
                    "line": {"type": "integer", "description": "In an uploaded file."},
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                },
            },
        },
        "id": {"type": "string", "format": "uuid", "description": "With 409: what exists."},
    },
}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped there
    target_class = "evalsite.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002
        scheme: dict[str, Any] = build_bearer_security_scheme_object("Authorization", SCHEME)
        return scheme


class Operation(AutoSchema):
    """Knows what methods are described with and what several take, and names shapes plainly."""

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        name: str = super().get_serializer_name(serializer, direction)
        return name.removesuffix("Shape").removesuffix("Body")

    def get_paginated_name(self, serializer_name: str) -> str:
        return f"{serializer_name}Page"

    @property
    def called(self) -> Any:
        """The view's method."""
        return getattr(self.view, self.method.lower(), None)

    @property
    def words(self) -> Description:
        """What the method is described with."""
        return cast("Description", getattr(self.called, "description", {}))

    def get_override_parameters(self) -> list[Any]:
        shared = {
            TEAM: getattr(self.view, "asks_team", False),
            IDEMPOTENCY_KEY: getattr(self.called, "is_idempotent", False),
        }
        taken = [parameter for parameter, is_taken in shared.items() if is_taken]
        own = self.words.get("parameters", [])
        return [*super().get_override_parameters(), *taken, *own]

    def get_request_serializer(self) -> Any:
        if "request" in self.words:
            return self.words["request"]
        return super().get_request_serializer()

    def get_response_serializers(self) -> Any:
        if "responses" in self.words:
            return self.words["responses"]
        return super().get_response_serializers()

    def get_examples(self) -> list[Any]:
        return [*super().get_examples(), *self.words.get("examples", [])]


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Every operation may answer with a problem, and no body may have unknown fields."""
    shapes = result["components"]["schemas"]
    for name, body in shapes.items():
        if name.endswith("Request"):
            body["additionalProperties"] = False
    shapes["Problem"] = PROBLEM
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = {"description": "A problem", "content": shape}
    return result
