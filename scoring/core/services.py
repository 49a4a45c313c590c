"""The services a scorer may call: embeddings of texts and replies of models.

A scorer stays a function of cases and config; its caller provides the services with
`use_services`. Otherwise the default provider answers: local embeddings, and the endpoint of
OPENAI_API_KEY and OPENAI_BASE_URL, kept in memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from scoring.core.contract import ConfigError, Json

if TYPE_CHECKING:
    import numpy as np

Provider = Literal["openai", "local"]
Role = Literal["system", "user", "assistant"]

#: In place of a connection's name: the endpoint of OPENAI_API_KEY and OPENAI_BASE_URL.
ENVIRONMENT: Final = "environment"
CHOOSE_CONNECTION: Final = "choose a connection: the team has no default one"

#: The function that returns the default services, imported when they are first needed.
DEFAULT_PROVIDER: Final = "scoring.core.local_services.local_services"


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
    """What a model answered, unchecked: the scorer finds out whether it can be used.

    `refusal` is the model's own refusal text, `finish` the API's finish reason. Tokens and cost
    are None where the usage or the price is not known; `estimated_cost_usd` is what such a
    reply costs at a guess, where the price is known. `latency_ms` is that of the attempt
    that succeeded. `ref` names the stored raw reply. A cached reply cost nothing this time.
    `choice_count` is how many replies came where one was asked for; `text` is the first.
    """

    text: str
    refusal: str = ""
    finish: str = "stop"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    estimated_cost_usd: float | None = None
    latency_ms: float | None = None
    attempts: int = 1
    is_cached: bool = False
    ref: str = ""
    choice_count: int = 1


@dataclass(frozen=True)
class CallFailure:
    """Why there is no reply: a stable code, what happened and what to do, attempts made.

    `can_retry` says whether asking again later may help.
    """

    code: str
    text: str
    attempts: int = 1
    can_retry: bool = True


Answer = Reply | CallFailure
OnProgress = Callable[[float], None]  # called with the share of a batch that is answered


class Services(Protocol):
    """Provides vectors and replies. Thread-safe; both calls wait for the whole batch."""

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        """One vector per text. Raises ServiceError when there can be none."""

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order. A failure is a CallFailure, never raised."""


@dataclass(frozen=True)
class AvailableServices:
    """The choices there are for what a scorer's config leaves open when it is saved.

    `connections` are the names of all connections of the team, `default_connection` is the name
    of its default one or None. `has_environment_key` says whether OPENAI_API_KEY is set.
    """

    connections: Sequence[str] = ()
    default_connection: str | None = None
    has_environment_key: bool = False
    has_local_embeddings: bool = True

    @property
    def endpoint_names(self) -> list[str]:
        """What a config may name as its connection: the team's, then the environment."""
        return [*self.connections, *[ENVIRONMENT] * self.has_environment_key]

    @property
    def default_endpoint(self) -> str | None:
        """What a config that names no connection uses: the team's default, else the environment."""
        return self.default_connection or (ENVIRONMENT if self.has_environment_key else None)

    def choose_connection(self, wanted: str | None) -> str | None:
        """The wanted connection, else the default endpoint; None where there is no connection.

        Raises ConfigError where the team has connections, but none is wanted or the default.
        """
        if wanted is None:
            if self.connections and not self.default_endpoint:
                raise ConfigError({"connection": [CHOOSE_CONNECTION]})
            return self.default_endpoint
        if wanted not in self.endpoint_names:
            raise ConfigError({"connection": [f"the team has no connection {wanted!r}"]})
        return wanted


class DefaultServices(Services, Protocol):
    """Services that also say what a scorer may choose from where there is no team."""

    def available(self) -> AvailableServices:
        """The choices for a config that was never saved."""


_services: ContextVar[Services | None] = ContextVar("services", default=None)


@contextmanager
def use_services(services: Services) -> Iterator[None]:
    """Use these services for all scoring inside the block, in this thread."""
    token = _services.set(services)
    try:
        yield
    finally:
        _services.reset(token)


def current_services() -> Services:
    """The services in use in this thread, else the default ones."""
    return _services.get() or default_services()


@cache
def default_services() -> DefaultServices:
    """What the default provider returns: one object for the process."""
    module, _, name = DEFAULT_PROVIDER.rpartition(".")
    services: DefaultServices = getattr(import_module(module), name)()
    return services
