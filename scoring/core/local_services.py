"""The default services, without a database: for `manage.py score` and users of the core alone.

Local embeddings, and the endpoint of the environment; results are kept in memory only.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.core.embeddings.cache import Embedder, MemoryCache, embed_texts
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.reply_cache import MemoryReplyCache
from scoring.core.services import (
    ENVIRONMENT,
    Answer,
    AvailableServices,
    CallFailure,
    Provider,
    Question,
    Vectors,
)

NO_KEY = "no endpoint is set; set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider's"


class LocalServices:
    """The services of one process. `endpoint` is that of the environment, None without a key."""

    def __init__(self, endpoint: Endpoint | None = None) -> None:
        self.endpoint = endpoint
        self._vectors = MemoryCache()
        self._replies = MemoryReplyCache()

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        if provider == "openai":
            return embed_texts(texts, self._vectors, self._remote(model, connection))
        from scoring.core.embeddings.local import get_model

        return embed_texts(texts, self._vectors, get_model(model))

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        from scoring.core.llm.judge_client import JudgeClient

        return JudgeClient(self._endpoint_of, self._replies).ask(questions)

    def available(self) -> AvailableServices:
        """The choices for a config that was never saved."""
        return AvailableServices(has_environment_key=self.endpoint is not None)

    def _endpoint_of(self, connection: str | None) -> Endpoint | CallFailure:
        if connection not in (None, ENVIRONMENT):
            return CallFailure(
                "connection_missing", _no_team(connection), attempts=0, can_retry=False
            )
        if self.endpoint is None:
            return CallFailure("no_key", NO_KEY, attempts=0, can_retry=False)
        return self.endpoint

    def _remote(self, model: str, connection: str | None) -> Embedder:
        from scoring.core.embeddings.remote import RemoteModel

        if connection not in (None, ENVIRONMENT):
            raise EmbeddingError("connection_missing", _no_team(connection))
        if self.endpoint is None:
            raise EmbeddingError("no_key", NO_KEY)
        return RemoteModel(self.endpoint, model)


def _no_team(connection: str | None) -> str:
    return f"connections such as {connection!r} belong to a team; there is none here"


_process_services = LocalServices()


def configure_local_services(endpoint: Endpoint | None) -> None:
    """Set the endpoint of this process's services; None for no endpoint."""
    _process_services.endpoint = endpoint


def local_services() -> LocalServices:
    """The services of this process, whose memory all batches share."""
    return _process_services
