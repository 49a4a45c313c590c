"""Who answers scorers where no database is: `manage.py score` and whoever imports the core.

Local embeddings, and the endpoint of the environment; what was computed is kept in memory only.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.core.embed.cached import Embedder, InMemory, embedded
from scoring.core.embed.faults import EmbeddingError
from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.ledger import RecentReplies
from scoring.core.services import (
    ENVIRONMENT,
    Answer,
    Available,
    Fault,
    Provider,
    Question,
    Services,
    Vectors,
)

NO_KEY = "no endpoint is set; set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider's"


class Standalone:
    """The services of one process. `endpoint` is that of the environment, None without a key."""

    def __init__(self, endpoint: Endpoint | None = None) -> None:
        self.endpoint = endpoint
        self._vectors = InMemory()
        self._replies = RecentReplies()

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        chosen = self._remote(model, connection) if provider == "openai" else _local(model)
        return embedded(texts, self._vectors, chosen)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        from scoring.core.judge.caller import Caller

        return Caller(self._endpoint_of, self._replies).ask(questions)

    def _endpoint_of(self, connection: str | None) -> Endpoint | Fault:
        if connection not in (None, ENVIRONMENT):
            return Fault("connection_missing", _no_team(connection), attempts=0, can_retry=False)
        if self.endpoint is None:
            return Fault("no_key", NO_KEY, attempts=0, can_retry=False)
        return self.endpoint

    def _remote(self, model: str, connection: str | None) -> Embedder:
        from scoring.core.embed.remote import Remote

        if connection not in (None, ENVIRONMENT):
            raise EmbeddingError("connection_missing", _no_team(connection))
        if self.endpoint is None:
            raise EmbeddingError("no_key", NO_KEY)
        return Remote(self.endpoint, model)


def _no_team(connection: str | None) -> str:
    return f"connections such as {connection!r} belong to a team; there is none here"


def _local(model: str) -> Embedder:
    from scoring.core.embed.local import local

    return local(model)


_of_process = Standalone()


def configure(endpoint: Endpoint | None) -> None:
    """Let this endpoint answer; None for none."""
    _of_process.endpoint = endpoint


def standalone() -> Services:
    """The one of this process, so that what it keeps serves every batch."""
    return _of_process


def available() -> Available:
    """What a config that was never saved is settled with."""
    return Available(has_environment_key=_of_process.endpoint is not None)
