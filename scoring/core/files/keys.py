"""Case keys: the id, or a hash of the input; what to do when one comes again."""

from __future__ import annotations

from array import array
from hashlib import sha256
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.files.rows import RowProblem
from scoring.core.json_text import compact

_FIRST_SLOTS: Final = 1 << 12


def case_key(given: Json) -> str:
    """The first 16 hex digits of SHA-256 over the input's canonical JSON."""
    return sha256(compact(given).encode()).hexdigest()[:16]


class PlacedKey(NamedTuple):
    """`is_new` is False for a further trial of a case that an earlier row already gave."""

    key: str
    is_new: bool


class CaseKeys:
    """The keys of one file in order of its rows.

    One key and trial may come once. Where keys are ids a repeat is a problem; where they are
    hashes of inputs it is another case, numbered: key, key#2, key#3.
    """

    def __init__(self, *, has_trials: bool = False) -> None:
        self._has_trials = has_trials
        self._cases = FirstLines()
        self._outputs = FirstLines() if has_trials else self._cases
        self._repeats: dict[str, int] = {}

    def place_id(self, key: str, line: int, trial: int = 0) -> PlacedKey | RowProblem:
        first = self._outputs.add(f"{key}\n{trial}" if self._has_trials else key, line)
        if first:
            again = f", trial {trial}," if self._has_trials else ""
            text = (
                f"Lines {first:,} and {line:,} have the same id “{key}”{again}. "
                "Give each case an id of its own, or map a trial column."
            )
            return RowProblem(line, "", "duplicate_case", text)
        return PlacedKey(key, not self._has_trials or not self._cases.add(key, line))

    def place_hash(self, key: str, line: int, trial: int = 0) -> PlacedKey:
        mark = f"{key}\n{trial}" if self._has_trials else key
        if not self._outputs.add(mark, line):
            return PlacedKey(key, not self._has_trials or not self._cases.add(key, line))
        times = self._repeats[mark] = self._repeats.get(mark, 1) + 1
        numbered = f"{key}#{times}"
        return PlacedKey(numbered, not self._cases.add(numbered, line))


class FirstLines:
    """The line each key first came on, in 18 to 36 bytes a key where a dict takes 110.

    Keys are told apart by their 64-bit hash: among ten million the chance that any two are
    mixed up is 3 in a million.
    """

    def __init__(self) -> None:
        self._count = 0
        self._hashes = array("q", bytes(8 * _FIRST_SLOTS))
        self._lines = array("I", bytes(4 * _FIRST_SLOTS))

    def __len__(self) -> int:
        return self._count

    def add(self, key: str, line: int) -> int:
        """The line the key first came on, or 0 when it is new (it is then kept)."""
        if self._count * 3 >= len(self._hashes) * 2:
            self._double()
        mark = hash(key) or 1  # 0 marks a free slot
        hashes = self._hashes
        last = len(hashes) - 1
        slot = mark & last
        while kept := hashes[slot]:
            if kept == mark:
                return self._lines[slot]
            slot = (slot + 1) & last
        hashes[slot], self._lines[slot] = mark, line
        self._count += 1
        return 0

    def _double(self) -> None:
        hashes, lines = self._hashes, self._lines
        self._hashes = array("q", bytes(16 * len(hashes)))
        self._lines = array("I", bytes(8 * len(lines)))
        kept = ((mark, line) for mark, line in zip(hashes, lines, strict=True) if mark)
        last = len(self._hashes) - 1
        for mark, line in kept:
            slot = mark & last
            while self._hashes[slot]:
                slot = (slot + 1) & last
            self._hashes[slot], self._lines[slot] = mark, line
