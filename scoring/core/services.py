"""What scorers may ask of the world: vectors of texts and replies of models.

A scorer stays a function of cases and config; whoever runs it says with `using` who answers. The
core knows only these shapes. Without `using`, `standalone` answers: local embeddings, and the
endpoint of OPENAI_API_KEY and OPENAI_BASE_URL, with nothing kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from scoring.core.contract import Json

if TYPE_CHECKING:
    import numpy as np

Provider = Literal["openai", "local"]
Role = Literal["system", "user", "assistant"]

#: In place of a connection's name: the endpoint of OPENAI_API_KEY and OPENAI_BASE_URL.
ENVIRONMENT: Final = "environment"


class Vectors(NamedTuple):
    """Embeddings of texts, in their order.

    `matrix` is float32 of shape (texts, dimensions), each row of length 1, or all 0 for a text
    that has no vector. `is_cut[i]` tells that text i was longer than the model's window.
    `model` names what made them, revision included where it is known.
    """

    matrix: np.ndarray
    is_cut: Sequence[bool]
    model: str


class Message(NamedTuple):
    role: Role
    content: str


@dataclass(frozen=True)
class Question:
    """One call of a chat model, and everything that decides its reply.

    `connection` is a connection's name, None for the default one. `schema` is the JSON schema the
    reply must keep, None for free text. `sample` numbers repeated calls that must not share a
    cached reply, and `scope` names what alone may share one, all the team when empty. `purpose` is
    what the call is paid for.
    """

    model: str
    messages: tuple[Message, ...]
    connection: str | None = None
    schema: Json = None
    parameters: tuple[tuple[str, Json], ...] = ()  # temperature, max_tokens, top_p, seed, stop …
    sample: int = 0
    scope: str = ""
    purpose: Literal["judge", "generate"] = "judge"


@dataclass(frozen=True)
class Reply:
    """What a model answered, as it came; whether it is any use is the asker's to find out.

    `refusal` is the model's own refusal text, `finish` the wire's finish reason. Tokens and cost
    are None where the endpoint or the price is not known. `latency_ms` is that of the attempt
    that succeeded. `ref` names the kept raw reply. A cached reply cost nothing this time.
    """

    text: str
    refusal: str = ""
    finish: str = "stop"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    attempts: int = 1
    is_cached: bool = False
    ref: str = ""


@dataclass(frozen=True)
class Fault:
    """Why there is no reply: a stable code, what happened and what to do, attempts made.

    `can_retry` says whether asking again later may help.
    """

    code: str
    text: str
    attempts: int = 1
    can_retry: bool = True


Answer = Reply | Fault
Heard = Callable[[float], None]  # called with the share of a batch that is answered


class Services(Protocol):
    """Who answers. Any thread may ask; both calls wait for the whole batch."""

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        """One vector per text. Raises ServiceError when there can be none."""

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order. A question that fails is a Fault, never raised."""


@dataclass(frozen=True)
class Available:
    """What a scorer that leaves a choice open can be settled with, when it is saved.

    `default_connection` is the name of the team's default connection, None where there is none;
    `has_environment_key` tells of OPENAI_API_KEY; `connections` are all names of the team.
    """

    connections: Sequence[str] = ()
    default_connection: str | None = None
    has_environment_key: bool = False
    has_local_embeddings: bool = field(default=True)


_services: ContextVar[Services | None] = ContextVar("services", default=None)


@contextmanager
def using(services: Services) -> Iterator[None]:
    """Let `services` answer what is scored inside the block, in this thread."""
    token = _services.set(services)
    try:
        yield
    finally:
        _services.reset(token)


def current() -> Services:
    """Who answers here and now."""
    services = _services.get()
    if services is None:
        from scoring.core.standalone import standalone

        services = standalone()
    return services
