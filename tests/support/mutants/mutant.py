"""The fixed list of mutants: one exact replacement each, and the tests that should notice it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """`find`, which occurs once in the module at `path`, becomes `replacement`."""

    area: str
    path: str
    find: str
    replacement: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}: {self.find.strip()!r} -> {self.replacement.strip()!r}"

    def applied(self, source: str) -> str:
        """The module with the fault. Raises `ValueError` unless `find` occurs exactly once."""
        if (count := source.count(self.find)) != 1:
            raise ValueError(f"{self.path}: {self.find!r} occurs {count} times")
        return source.replace(self.find, self.replacement)


def read_mutants(areas: tuple[str, ...] = ()) -> Iterator[Mutant]:
    """All mutants, or those of `areas`, in the order of the files."""
    for file in sorted(FOLDER.glob("*.toml")):
        if areas and file.stem not in areas:
            continue
        for module in tomllib.loads(file.read_text(encoding="utf-8"))["module"]:
            for find, replacement in module["mutants"]:
                yield Mutant(file.stem, module["path"], find, replacement, tuple(module["tests"]))
