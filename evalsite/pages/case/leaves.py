"""What each leaf of a JSON comparison scored, under its path in the whole output."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import fsum
from typing import NamedTuple

from scoring.core.contract import Json
from scoring.core.explain import Explanation
from scoring.core.json_changes import leaf_text
from scoring.core.json_path import parse_path, path_text
from scoring.core.leaves import Leaf
from scoring.core.selection import WHOLE


class Credit(NamedTuple):
    """What a leaf scored, from 0 to 1; None where it does not count.

    `against` is what it was compared with, where that is not what the output has at its path.
    """

    scorer: str
    value: float | None = None
    is_missing: bool = False
    against: str | None = None

    @property
    def verdict(self) -> str:
        return "pass" if self.value == 1 else "fail"

    @property
    def is_partial(self) -> bool:
        return self.value is not None and 0 < self.value < 1


class Leaves(NamedTuple):
    """The leaves that a scorer compared, by their paths."""

    scorer: str
    by_path: Mapping[str, Leaf]

    @property
    def total(self) -> int:
        return len(self.by_path)

    @property
    def matched(self) -> float:
        return fsum(leaf.credit for leaf in self.by_path.values())

    def credit(self, path: str, said: str | None) -> Credit:
        """The credit of the leaf at a path, where the output has `said`."""
        leaf = self.by_path.get(path)
        if leaf is None:
            return Credit(self.scorer)
        actual = None if leaf.is_missing else leaf_text(leaf.actual)
        against = actual if actual not in (None, said) else None
        return Credit(self.scorer, leaf.credit, leaf.is_missing, against)


def leaves_of(
    name: str, explanation: Explanation, output: Json, wanted: Mapping[str, str | None]
) -> Iterator[Leaves]:
    """The leaves of a scorer and of its parts.

    Only where all of them are among the `wanted` texts of leaves by path: a scorer may compare
    several parts, or the whole expected value with a part of the output.
    """
    for child in explanation.children:
        yield from leaves_of(f"{name} / {child.name}", child.explanation, output, wanted)
    if not explanation.leaves or explanation.target is None:
        return
    start = _start(explanation.target, output)
    found = {_joined(start, leaf.path): leaf for leaf in explanation.leaves}
    if all(wanted.get(path) == leaf_text(leaf.expected) for path, leaf in found.items()):
        yield Leaves(name, found)


def without(joined: Collection[str], name: str, explanation: Explanation) -> Explanation:
    """The explanation of a scorer without the leaves that it, or a part of it, has elsewhere."""
    children = tuple(
        child._replace(explanation=without(joined, f"{name} / {child.name}", child.explanation))
        for child in explanation.children
    )
    leaves = () if name in joined else explanation.leaves
    return explanation._replace(leaves=leaves, children=children)


def _start(target: str, output: Json) -> str:
    """The path of what a target key names: a key as it is, else a path."""
    if target == WHOLE:
        return ""
    if isinstance(output, dict) and target in output:
        return path_text((target,))
    try:
        return path_text(parse_path(target))
    except ValueError:
        return target


def _joined(start: str, path: str) -> str:
    if not start or path == "$":
        return start or path
    return f"{start}{path}" if path.startswith("[") else f"{start}.{path}"
