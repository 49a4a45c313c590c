"""What the schema says of an operation beyond what can be seen, noted at its method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack

Method = TypeVar("Method", bound=Callable[..., Any])


class Description(TypedDict, total=False):
    """As `extend_schema` of drf-spectacular takes it."""

    parameters: list[Any]
    request: Any
    responses: Any
    examples: list[Any]


def describe(**words: Unpack[Description]) -> Callable[[Method], Method]:
    """Note the words for `evalsite.api.openapi.schema`, read when the schema is requested.

    Its own `extend_schema` makes every command wait for imports that only the schema needs.
    """

    def decorate(method: Method) -> Method:
        method.description = words  # type: ignore[attr-defined]
        return method

    return decorate
