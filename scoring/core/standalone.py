"""Who answers scorers where no database is: `manage.py score` and whoever imports the core.

Local embeddings, and the endpoint of the environment; what was computed is kept in memory only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from scoring.core.embed.cached import InMemory, embedded
from scoring.core.embed.faults import Code, EmbeddingError
from scoring.core.services import Answer, Available, Fault, Provider, Question, Services, Vectors

NO_KEY = "no endpoint is set; set OPENAI_API_KEY, and OPENAI_BASE_URL for one of another provider"


def _no_endpoint(connection: str | None) -> tuple[Code, str]:
    if connection is None:
        return "no_key", NO_KEY
    return "connection_missing", f"there is no connection called {connection!r} outside a team"


class Standalone:
    """The services of one process."""

    def __init__(self) -> None:
        self._vectors = InMemory()

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        if provider == "openai":
            raise EmbeddingError(*_no_endpoint(connection))
        from scoring.core.embed.local import local

        return embedded(texts, self._vectors, local(model))

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return [Fault("no_key", NO_KEY, attempts=0, can_retry=False) for _ in questions]


@cache
def standalone() -> Services:
    """The one of this process, so that what it keeps serves every batch."""
    return Standalone()


def available() -> Available:
    """What a config that was never saved is settled with."""
    return Available()
