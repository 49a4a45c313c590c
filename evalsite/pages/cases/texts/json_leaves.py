"""What each leaf of a JSON comparison scored, under its path in the whole output."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import fsum
from typing import NamedTuple

from scoring.core.contract import Json
from scoring.core.explain.explanation import Explanation
from scoring.core.json_path import parse_path, path_text
from scoring.core.scorers.json_leaves import Leaf
from scoring.core.scorers.selection import WHOLE
from scoring.core.textdiff.json_diff import format_leaf


class Credit(NamedTuple):
    """What a leaf scored, from 0 to 1; None where it does not count.

    `reference` is what it was compared with, where that is not what the output has at its path.
    """

    scorer: str
    value: float | None = None
    is_missing: bool = False
    reference: str | None = None

    @property
    def verdict(self) -> str:
        return "pass" if self.value == 1 else "fail"

    @property
    def is_partial(self) -> bool:
        return self.value is not None and 0 < self.value < 1


class LeafScores(NamedTuple):
    """The leaves that a scorer compared, by their paths."""

    scorer: str
    by_path: Mapping[str, Leaf]

    @property
    def total(self) -> int:
        return len(self.by_path)

    @property
    def matched(self) -> float:
        return fsum(leaf.credit for leaf in self.by_path.values())

    def credit(self, path: str, output_text: str | None) -> Credit:
        """The credit of the leaf at a path, where the output has this text."""
        leaf = self.by_path.get(path)
        if leaf is None:
            return Credit(self.scorer)
        actual = None if leaf.is_missing else format_leaf(leaf.actual)
        against = actual if actual not in (None, output_text) else None
        return Credit(self.scorer, leaf.credit, leaf.is_missing, against)


def find_leaf_scores(
    name: str, explanation: Explanation, output: Json, expected: Mapping[str, str | None]
) -> Iterator[LeafScores]:
    """The leaves of a scorer and of its parts.

    Only where all of them are among the `expected` texts of leaves by path: a scorer may compare
    several parts, or the whole expected value with a part of the output.
    """
    for child in explanation.children:
        yield from find_leaf_scores(f"{name} / {child.name}", child.explanation, output, expected)
    if not explanation.leaves or explanation.target is None:
        return
    prefix = _target_path(explanation.target, output)
    by_path = {_join_paths(prefix, leaf.path): leaf for leaf in explanation.leaves}
    if all(expected.get(path) == format_leaf(leaf.expected) for path, leaf in by_path.items()):
        yield LeafScores(name, by_path)


def remove_leaves(scorers: Collection[str], name: str, explanation: Explanation) -> Explanation:
    """The explanation of the scorer `name` without the leaves of these scorers."""
    children = tuple(
        child._replace(
            explanation=remove_leaves(scorers, f"{name} / {child.name}", child.explanation)
        )
        for child in explanation.children
    )
    leaves = () if name in scorers else explanation.leaves
    return explanation._replace(leaves=leaves, children=children)


def _target_path(target: str, output: Json) -> str:
    """The path that a target key names: the key itself, or a path."""
    if target == WHOLE:
        return ""
    if isinstance(output, dict) and target in output:
        return path_text((target,))
    try:
        return path_text(parse_path(target))
    except ValueError:
        return target


def _join_paths(prefix: str, path: str) -> str:
    if not prefix or path == "$":
        return prefix or path
    return f"{prefix}{path}" if path.startswith("[") else f"{prefix}.{path}"
