"""Case keys: the id, or a hash of the input; and duplicate keys."""

from __future__ import annotations

from array import array
from hashlib import sha256
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.files.rows import RowProblem
from scoring.core.json_text import compact

_FIRST_SLOTS: Final = 1 << 12


def case_key(case_input: Json) -> str:
    """The first 16 hex digits of SHA-256 over the input's canonical JSON."""
    return sha256(compact(case_input).encode()).hexdigest()[:16]


class AssignedKey(NamedTuple):
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

    def place_id(self, key: str, line: int, trial: int = 0) -> AssignedKey | RowProblem:
        if first := self._outputs.add(f"{key}\n{trial}" if self._has_trials else key, line):
            again = f", trial {trial}," if self._has_trials else ""
            text = (
                f"Lines {first:,} and {line:,} have the same id “{key}”{again}. "
                "Give each case an id of its own, or map a trial column."
            )
            return RowProblem(line, "", "duplicate_case", text)
        return AssignedKey(key, not self._has_trials or not self._cases.add(key, line))

    def place_hash(self, key: str, line: int, trial: int = 0) -> AssignedKey:
        output_key = f"{key}\n{trial}" if self._has_trials else key
        if not self._outputs.add(output_key, line):
            return AssignedKey(key, not self._has_trials or not self._cases.add(key, line))
        count = self._repeats[output_key] = self._repeats.get(output_key, 1) + 1
        numbered = f"{key}#{count}"
        return AssignedKey(numbered, not self._cases.add(numbered, line))


class FirstLines:
    """The first line of each key, in 18 to 36 bytes a key where a dict takes 110.

    A hash table of the keys' 64-bit hashes alone: the chance that any two of ten million keys are
    taken for one is 3 in a million.
    """

    def __init__(self) -> None:
        self._count = 0
        self._hashes = array("q", bytes(8 * _FIRST_SLOTS))
        self._lines = array("I", bytes(4 * _FIRST_SLOTS))

    def __len__(self) -> int:
        return self._count

    def add(self, key: str, line: int) -> int:
        """The key's first line, or 0 for a new key, which is added."""
        if self._count * 3 >= len(self._hashes) * 2:
            self._double()
        hashes = self._hashes
        last = len(hashes) - 1
        key_hash = hash(key) or 1  # 0 is a free slot
        slot = key_hash & last
        while other := hashes[slot]:
            if other == key_hash:
                return self._lines[slot]
            slot = (slot + 1) & last
        hashes[slot], self._lines[slot] = key_hash, line
        self._count += 1
        return 0

    def _double(self) -> None:
        slots = 2 * len(self._hashes)
        last = slots - 1
        hashes, lines = array("q", bytes(8 * slots)), array("I", bytes(4 * slots))
        for key_hash, line in zip(self._hashes, self._lines, strict=True):
            if key_hash:
                slot = key_hash & last
                while hashes[slot]:
                    slot = (slot + 1) & last
                hashes[slot], lines[slot] = key_hash, line
        self._hashes, self._lines = hashes, lines
