"""Near duplicates of texts: found by min-hashes of their shingles, confirmed by rapidfuzz."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np

MIN_SIMILARITY: Final = 0.9  # normalised Indel similarity from which two texts are near duplicates
MAX_TEXTS: Final = 20_000  # later ones are not looked at
_COMPARED: Final = 1_000  # characters of each text
_PIECE: Final = 4  # bytes
_MANY_PIECES: Final = 700
_BANDS: Final = 16
_ROWS: Final = 3  # min-hashes a band; texts that share a whole band are compared
_CANDIDATES: Final = 8  # compared with one text
_SPACE: Final = re.compile(r"\s+")


class NearDuplicate(NamedTuple):
    """The numbers, from 1, of a text and of the first earlier one that is near it."""

    place: int
    first: int
    similarity: float


class NearDuplicates:
    """Texts added one by one. Equal texts are not near duplicates but repeats.

    Two texts are near when their first 1,000 characters, in lower case and with white space as
    single spaces, have a similarity of at least 0.9. A pair of that similarity may be overlooked
    when few of its pieces of four bytes are shared, or among very many alike texts.
    """

    def __init__(self) -> None:
        from rapidfuzz.distance import Indel  # not before it is needed: it takes 20 ms

        self._similarity = Indel.normalized_similarity
        self.found: list[NearDuplicate] = []
        self._texts: list[str] = []
        self._exact: set[int] = set()
        self._bands: dict[tuple[int, bytes], list[int]] = {}

    def add(self, text: str) -> None:
        """Look for an earlier text near this one, the next in order."""
        if len(self._texts) >= MAX_TEXTS:
            return
        plain = _SPACE.sub(" ", text[: 2 * _COMPARED].lower()).strip()[:_COMPARED]
        index = len(self._texts)
        self._texts.append(plain)
        is_repeat = hash(text) in self._exact
        self._exact.add(hash(text))
        if is_repeat or len(plain.encode("utf-8", "replace")) < 2 * _PIECE:
            return
        for earlier in self._candidates(index, plain):
            other = self._texts[earlier]
            if similarity := self._similarity(plain, other, score_cutoff=MIN_SIMILARITY):
                self.found.append(NearDuplicate(index + 1, earlier + 1, similarity))
                return

    def _candidates(self, index: int, plain: str) -> list[int]:
        """A few earlier texts that share a band with this one, which is added to its bands."""
        hashes = _min_hashes(plain)
        shared: dict[int, None] = {}
        for band in range(_BANDS):
            key = band, hashes[band * _ROWS : (band + 1) * _ROWS].tobytes()
            texts = self._bands.setdefault(key, [])
            shared.update(dict.fromkeys(texts))
            if len(texts) < _CANDIDATES:
                texts.append(index)
        return list(shared)[:_CANDIDATES]


def _min_hashes(plain: str) -> np.ndarray[Any, np.dtype[np.uint32]]:
    import numpy as np

    octets = np.frombuffer(plain.encode("utf-8", "replace"), dtype=np.uint8).astype(np.uint32)
    pieces = octets[:-3] | octets[1:-2] << 8 | octets[2:-1] << 16 | octets[3:] << 24
    factors, sums = _mixers()
    pieces = np.unique(pieces)
    if pieces.size > _MANY_PIECES:  # equal texts keep the same quarter
        pieces = pieces[(pieces * np.uint32(0x9E3779B1)) >> 30 == 0]
    hashes: np.ndarray[Any, np.dtype[np.uint32]] = ((pieces * factors + sums) >> 7).min(axis=1)
    return hashes


@cache
def _mixers() -> tuple[Any, Any]:
    """Factors and sums of the hashes, always the same, as columns."""
    import numpy as np

    chance = np.random.default_rng(20261122)
    shape = (_BANDS * _ROWS, 1)
    factors = chance.integers(1, 2**32, shape, dtype=np.uint32) | np.uint32(1)
    return factors, chance.integers(0, 2**32, shape, dtype=np.uint32)
