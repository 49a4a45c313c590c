"""Embeds each distinct text once: looked up in the cache, else computed and stored there."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.services import OnProgress, Vectors

if TYPE_CHECKING:
    import numpy as np

DTYPE: Final = "<f4"
SAVE_EVERY: Final = 512  # texts computed between two writes to the cache
MEMORY_BYTES: Final = 128 * 1024 * 1024
NORMALISATION: Final = "l2"  # changes with the way in which a vector is brought to length 1


def text_key_function(provider: str, model: str, revision: str) -> Callable[[str], str]:
    """A function that returns the cache key of a text for this model: 64 hexadecimal digits.

    `revision` tells two models of one name apart: a hash of the weights, or the endpoint's URL.
    """
    parts = json.dumps([provider, model, revision, NORMALISATION])
    start = hashlib.sha256(parts.encode())

    def key(text: str) -> str:
        whole = start.copy()
        whole.update(b"\0" + text.encode())
        return whole.hexdigest()

    return key


class CachedVector(NamedTuple):
    """Little-endian float32 values of length 1, empty for a text that has no vector."""

    vector: bytes
    is_cut: bool


class VectorCache(Protocol):
    """Stores vectors. Thread-safe."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, CachedVector]: ...

    def put_many(self, kept: Mapping[str, CachedVector]) -> None: ...


class Embedder(Protocol):
    """One model of one provider.

    `turn` is a lock held while missing texts are looked up once more and computed, so that two
    threads do not compute the same text. `compute` returns rows of any length in order, and whether
    each text was cut; it raises EmbeddingError. `step` is the number of texts between two reports
    of progress.
    """

    @property
    def step(self) -> int: ...

    @property
    def model(self) -> str: ...

    def key(self, text: str) -> str: ...

    def turn(self) -> AbstractContextManager[object]: ...

    def compute(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[bool]]: ...


def embed_texts(
    texts: Sequence[str],
    cache: VectorCache,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
) -> Vectors:
    """One vector per text, from the cache where it has them. Raises EmbeddingError."""
    # No model reads half characters (lone surrogates).
    readable = [text.encode("utf-8", "replace").decode() for text in texts]
    keys = {text: embedder.key(text) for text in readable}
    vectors = dict(cache.get_many(list(keys.values())))
    if len(vectors) < len(keys):
        with embedder.turn():
            missing = [key for key in keys.values() if key not in vectors]
            vectors.update(cache.get_many(missing))
            wanted = {text: key for text, key in keys.items() if key not in vectors}
            for block in _compute(wanted, embedder, embedder.step if on_progress else SAVE_EVERY):
                cache.put_many(block)
                vectors.update(block)
                if on_progress:
                    on_progress(len(vectors) / len(keys))
    rows = [vectors[keys[text]] for text in readable]
    return Vectors(_matrix(rows), [row.is_cut for row in rows], embedder.model)


def _compute(
    wanted: Mapping[str, str], embedder: Embedder, size: int
) -> Iterator[dict[str, CachedVector]]:
    """The vectors by key, in blocks of that size; texts of similar length share a block."""
    texts = iter(sorted(wanted, key=len))
    while block := list(islice(texts, size)):
        matrix, is_cut = embedder.compute(block)
        rows = map(CachedVector, _pack(matrix, len(block)), is_cut)
        yield dict(zip((wanted[text] for text in block), rows, strict=True))


def _pack(matrix: np.ndarray, rows: int) -> list[bytes]:
    import numpy as np

    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or len(values) != rows or not np.isfinite(values).all():
        raise EmbeddingError("embedding_failed", "the model gave vectors that are no numbers")
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    units = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    packed = units.astype(DTYPE)
    return [row.tobytes() if length else b"" for row, length in zip(packed, lengths, strict=True)]


def _matrix(rows: Sequence[CachedVector]) -> np.ndarray:
    import numpy as np

    width = max((len(row.vector) for row in rows), default=0)
    if any(len(row.vector) not in (0, width) for row in rows):
        text = "the kept vectors of this model differ in size: its endpoint now serves another one"
        raise EmbeddingError("embedding_failed", text)
    whole = b"".join(row.vector or bytes(width) for row in rows)
    return np.frombuffer(whole, dtype=DTYPE).reshape(len(rows), width // 4)


class MemoryCache:
    """Vectors kept while the process lives, those used last longest."""

    def __init__(self, room_bytes: int = MEMORY_BYTES) -> None:
        self._room_bytes = room_bytes
        self._lock = Lock()
        self._kept: OrderedDict[str, CachedVector] = OrderedDict()

    def get_many(self, keys: Sequence[str]) -> Mapping[str, CachedVector]:
        with self._lock:
            vectors = {key: self._kept[key] for key in keys if key in self._kept}
            for key in vectors:
                self._kept.move_to_end(key)
            return vectors

    def put_many(self, kept: Mapping[str, CachedVector]) -> None:
        with self._lock:
            for key, row in kept.items():
                if key not in self._kept:
                    self._room_bytes -= _size_bytes(row)
                    self._kept[key] = row
            while self._room_bytes < 0 and self._kept:
                _, dropped = self._kept.popitem(last=False)
                self._room_bytes += _size_bytes(dropped)


def _size_bytes(row: CachedVector) -> int:
    """About what a vector takes in memory, its key included."""
    return len(row.vector) + 300
