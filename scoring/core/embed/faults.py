"""Why there are no vectors."""

from __future__ import annotations

from typing import Final, Literal

from scoring.core.contract import ServiceError

INSTALL: Final = "pip install -r requirements-embeddings.txt"
MISSING: Final = f"local embeddings are not installed; install them with: {INSTALL}"

Code = Literal["embeddings_missing", "embedding_failed", "no_key", "connection_missing"]


class EmbeddingError(ServiceError):
    """No vectors for a batch; `code` is the code of each result that needed them."""

    def __init__(self, code: Code, text: str, *, retry: bool = False) -> None:
        self.code = code
        super().__init__(text, retry=retry)
