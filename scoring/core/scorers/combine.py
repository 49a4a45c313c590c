"""Scorers made of other scorers: all, any, weighted. They nest; their children score in batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from annotated_types import Gt, Le, MaxLen, MinLen

from scoring.core.config import About, Config, as_mapping
from scoring.core.contract import (
    Case,
    ConfigError,
    Json,
    Result,
    error,
    forced_fail,
    scored,
    skipped,
)
from scoring.core.json_text import text_of
from scoring.core.number_text import number_text
from scoring.core.services import Available

if TYPE_CHECKING:
    from scoring.core.bound import BoundScorer

MAX_DEPTH: Final = 8
MAX_CHILDREN: Final = 50
MAX_WEIGHT: Final = 1e9
MAX_REASON: Final = 500  # characters of a combined reason
MAX_CHILD_LIST: Final = 5  # items of a list inside the metadata
MAX_CHILD_ITEM: Final = 20  # characters of each of them
MAX_CHILD_REASON: Final = 80  # characters of a child's reason inside the metadata


@dataclass(frozen=True, kw_only=True)
class ChildConfig:
    """One scorer inside a combination; without a name it is called by its type."""

    type: str
    name: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    weight: Annotated[float, Gt(0), Le(MAX_WEIGHT)] = 1.0


class Child(NamedTuple):
    """A child ready to score."""

    name: str
    scorer: BoundScorer
    weight: float


@dataclass(frozen=True, kw_only=True)
class CombineConfig(Config):
    scorers: Annotated[
        tuple[ChildConfig, ...],
        MinLen(1),
        MaxLen(MAX_CHILDREN),
        About(
            "Scorers",
            "Each with a type, its config, a name and, for `weighted`, a weight above 0.",
            "scorers",
        ),
    ]

    def check(self) -> None:
        if _depth(self.scorers) > MAX_DEPTH:
            raise ConfigError({"scorers": [f"combinations nest deeper than {MAX_DEPTH}"]})
        given = Counter(child.name for child in self.scorers if child.name)
        if twice := [name for name, times in given.items() if times > 1]:
            raise ConfigError({"scorers": [f"two scorers are called {twice[0]!r}"]})
        self.children  # noqa: B018 - binding them validates them

    @cached_property
    def children(self) -> tuple[Child, ...]:
        """The children, bound once. Raises ConfigError with paths such as `scorers[0].type`."""
        names = _names(self.scorers)
        bound = [_bound(place, child) for place, child in enumerate(self.scorers)]
        weights = [child.weight for child in self.scorers]
        return tuple(map(Child, names, bound, weights))


def settle(config: CombineConfig, available: Available) -> CombineConfig:
    """The config with every child's settled, to any depth. Raises ConfigError."""
    pairs = enumerate(zip(config.scorers, config.children, strict=True))
    settled = tuple(_settled(place, given, child, available) for place, (given, child) in pairs)
    return config if settled == config.scorers else replace(config, scorers=settled)


def _settled(place: int, given: ChildConfig, child: Child, available: Available) -> ChildConfig:
    """The child as it was given where nothing was open."""
    from scoring.core.bound import settled

    try:
        chosen = settled(child.scorer, available)
    except ConfigError as refused:
        raise ConfigError(_located(f"scorers[{place}]", refused.errors)) from None
    if chosen.config == child.scorer.config:
        return given
    return replace(given, config=as_mapping(chosen.config))


class Part(NamedTuple):
    """One child's score of one case."""

    child: Child
    score: float
    reason: str
    code: str  # not empty when the score was forced to 0


Merge = Callable[[Sequence[Part]], tuple[float, str]]


def all_of(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The lowest score; the reasons of all children that have one."""
    return _combined(cases, config, _lowest)


def any_of(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The highest score, the first on a tie, and that child's reason."""
    return _combined(cases, config, _highest)


def weighted(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The mean of the scores by weight."""
    return _combined(cases, config, _mean)


def _lowest(parts: Sequence[Part]) -> tuple[float, str]:
    return min(part.score for part in parts), "; ".join(p.reason for p in parts if p.reason)


def _highest(parts: Sequence[Part]) -> tuple[float, str]:
    best = max(parts, key=lambda part: part.score)  # the first of equals
    return best.score, best.reason


def _mean(parts: Sequence[Part]) -> tuple[float, str]:
    total = fsum(part.score * part.child.weight for part in parts)
    shown = (
        f"{part.child.name}: {number_text(part.score)} (w={text_of(part.child.weight)})"
        for part in parts
    )
    return total / fsum(part.child.weight for part in parts), ", ".join(shown)


def _combined(cases: Sequence[Case], config: CombineConfig, merge: Merge) -> list[Result]:
    columns = [child.scorer.score(cases) for child in config.children]
    return [_merged(config.children, row, merge) for row in zip(*columns, strict=True)]


def _merged(children: Sequence[Child], results: Sequence[Result], merge: Merge) -> Result:
    metadata = {"children": [_entry(*pair) for pair in zip(children, results, strict=True)]}
    parts: list[Part] = []
    for child, result in zip(children, results, strict=True):
        if result.status == "error":
            reason = f"{child.name}: {result.reason}"
            return error("child_failed", reason[:MAX_REASON], metadata)
        if result.score is not None:
            parts.append(Part(child, result.score, result.reason, result.code))
    if not parts:
        return skipped("all_skipped", "every scorer of the combination was skipped", metadata)
    score, reason = merge(parts)
    if all(part.code for part in parts):  # nothing was compared, so no threshold may pass it
        return forced_fail(parts[0].code, reason[:MAX_REASON], metadata)
    return scored(score, reason[:MAX_REASON], metadata)


def _entry(child: Child, result: Result) -> dict[str, Json]:
    """A child's result in few bytes: its own children stay, long lists and long texts go."""
    entry: dict[str, Json] = {"name": child.name, "status": result.status}
    if result.score is not None:
        entry.update(score=result.score, verdict=result.verdict)
    if result.reason:
        entry["reason"] = result.reason[:MAX_CHILD_REASON]
    if kept := {key: part for key, part in result.metadata.items() if _is_kept(key, part)}:
        entry["metadata"] = kept
    return entry


def _is_kept(key: str, part: Json) -> bool:
    if isinstance(part, str):
        return len(part) <= MAX_CHILD_REASON
    if isinstance(part, list) and key != "children":
        return len(part) <= MAX_CHILD_LIST and all(map(_is_short, part))
    return not isinstance(part, dict)


def _is_short(item: Json) -> bool:
    return isinstance(item, str | int | float) and len(str(item)) <= MAX_CHILD_ITEM


def _names(configs: Sequence[ChildConfig]) -> list[str]:
    """Given names, else the type; a second unnamed `regex` is `regex 2`."""
    taken = {config.name for config in configs if config.name}
    return [config.name or _free_name(config.type, taken) for config in configs]


def _free_name(wanted: str, taken: set[str]) -> str:
    """A name not taken yet; it is taken from now on."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    taken.add(name)
    return name


def _bound(place: int, child: ChildConfig) -> BoundScorer:
    # Imported here: the registry, on which binding rests, lists the combinations.
    from scoring.core.bound import bind_child

    try:
        return bind_child(child.type, child.config)
    except ConfigError as refused:
        raise ConfigError(_located(f"scorers[{place}]", refused.errors)) from None


def _located(place: str, errors: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The errors of a child under the names they have in the parent's config."""
    own = {"type", "config"}
    return {
        f"{place}.{name}" if name in own else f"{place}.config.{name}": texts
        for name, texts in errors.items()
    }


def _depth(children: Iterable[ChildConfig | Mapping[str, Any]]) -> int:
    """How deep combinations nest, read before any child is bound."""
    return 1 + max((_depth(nested) for child in children if (nested := _nested(child))), default=0)


def _nested(child: ChildConfig | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    config = child.config if isinstance(child, ChildConfig) else child.get("config")
    nested = config.get("scorers") if isinstance(config, dict) else None
    return [each for each in nested if isinstance(each, dict)] if isinstance(nested, list) else []
