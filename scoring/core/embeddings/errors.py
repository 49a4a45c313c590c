"""The error raised when there are no vectors."""

from __future__ import annotations

from typing import Final

from scoring.core.contract import ServiceError

INSTALL: Final = "pip install -r requirements-embeddings.txt"
MISSING: Final = f"local embeddings are not installed; install them with: {INSTALL}"


class EmbeddingError(ServiceError):
    """No vectors for a batch; `code` is the code of each result that needed them.

    Besides the codes of calls: embeddings_missing, embedding_failed, no_key, connection_missing.
    """

    def __init__(self, code: str, text: str, *, retry: bool = False) -> None:
        self.code = code
        super().__init__(text, retry=retry)
