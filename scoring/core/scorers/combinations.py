"""Scorers made of other scorers: all, any, weighted. They nest, and children score in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import fsum
from typing import Annotated, Any, Final, NamedTuple

from annotated_types import Gt, Le, MaxLen, MinLen

from scoring.core import configured
from scoring.core.config import About, Config, config_mapping
from scoring.core.configured import ConfiguredScorer
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
from scoring.core.json_text import to_text
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.services import AvailableServices
from scoring.core.wording.numbers import TIMES, number_text, score_text

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
    scorer: ConfiguredScorer
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
        names = Counter(child.name for child in self.scorers if child.name)
        if repeated := [name for name, count in names.items() if count > 1]:
            raise ConfigError({"scorers": [f"two scorers are called {repeated[0]!r}"]})
        self.children  # noqa: B018 - configuring them validates them

    def warnings(self) -> list[str]:
        named = [(child.name, text) for child in self.children for text in child.scorer.warnings]
        return [*super().warnings(), *(f"{name}: {text}" for name, text in named)]

    @cached_property
    def children(self) -> tuple[Child, ...]:
        """The children, configured once. Raises ConfigError with paths like `scorers[0].type`."""
        taken = {child.name for child in self.scorers if child.name}
        children: list[Child] = []
        for index, child in enumerate(self.scorers):
            with _errors_of_child(index):
                scorer = configured.configure_child(child.type, child.config)
            name = child.name or _take_free_name(child.type, taken)
            children.append(Child(name, scorer, child.weight))
        return tuple(children)


def resolve_defaults(config: CombineConfig, available: AvailableServices) -> CombineConfig:
    """The config with the defaults of all children resolved, to any depth. Raises ConfigError.

    A child that leaves nothing open stays as it was written.
    """
    resolved: list[ChildConfig] = []
    for index, (written, child) in enumerate(zip(config.scorers, config.children, strict=True)):
        with _errors_of_child(index):
            scorer = configured.resolve_defaults(child.scorer, available)
        is_same = scorer.config == child.scorer.config
        resolved.append(
            written if is_same else replace(written, config=config_mapping(scorer.config))
        )
    return replace(config, scorers=tuple(resolved))


@contextmanager
def _errors_of_child(index: int) -> Iterator[None]:
    """Name the errors of a child as they are named in the parent's config."""
    try:
        yield
    except ConfigError as refused:
        own = ("type", "config")
        errors = {
            f"scorers[{index}].{'' if name in own else 'config.'}{name}": texts
            for name, texts in refused.errors.items()
        }
        raise ConfigError(errors) from None


class ChildScore(NamedTuple):
    """One child's score of one case."""

    child: Child
    score: float
    reason: str
    code: str  # not empty when the score was forced to 0


Merge = Callable[[Sequence[ChildScore]], tuple[float, str]]


def all_of(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The lowest score; the reasons of all children that have one."""
    return _score_children(cases, config, _lowest)


def any_of(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The highest score, the first on a tie, and that child's reason."""
    return _score_children(cases, config, _highest)


def weighted(cases: Sequence[Case], config: CombineConfig) -> list[Result]:
    """The mean of the scores by weight."""
    return _score_children(cases, config, _mean)


def _lowest(parts: Sequence[ChildScore]) -> tuple[float, str]:
    reasons = [part.reason for part in parts if part.reason]
    return min(part.score for part in parts), "; ".join(reasons)


def _highest(parts: Sequence[ChildScore]) -> tuple[float, str]:
    best = max(parts, key=lambda part: part.score)  # the first of equals
    return best.score, best.reason


def _mean(parts: Sequence[ChildScore]) -> tuple[float, str]:
    total = fsum(part.score * part.child.weight for part in parts)
    shown = (
        f"{part.child.name}: {number_text(part.score)} (w={to_text(part.child.weight)})"
        for part in parts
    )
    return total / fsum(part.child.weight for part in parts), ", ".join(shown)


def _score_children(cases: Sequence[Case], config: CombineConfig, merge: Merge) -> list[Result]:
    columns = [child.scorer.score(cases) for child in config.children]
    return [_merge_results(config.children, row, merge) for row in zip(*columns, strict=True)]


def _merge_results(children: Sequence[Child], results: Sequence[Result], merge: Merge) -> Result:
    pairs = list(zip(children, results, strict=True))
    metadata = {"children": [_child_metadata(*pair) for pair in pairs]}
    parts: list[ChildScore] = []
    for child, result in pairs:
        if result.status == "error":
            reason = f"{child.name}: {result.reason}"
            return error("child_failed", reason[:MAX_REASON], metadata)
        if result.score is not None:
            parts.append(ChildScore(child, result.score, result.reason, result.code))
    if not parts:
        return skipped("all_skipped", "every scorer of the combination was skipped", metadata)
    score, reason = merge(parts)
    if all(part.code for part in parts):  # nothing was compared, so no threshold may pass it
        return forced_fail(parts[0].code, reason[:MAX_REASON], metadata)
    return scored(score, reason[:MAX_REASON], metadata)


def _child_metadata(child: Child, result: Result) -> dict[str, Json]:
    """A child's result in few bytes: without long lists and long texts, with its own children."""
    entry: dict[str, Json] = {"name": child.name, "status": result.status}
    if result.score is not None:
        entry.update(score=result.score, verdict=result.verdict)
    if result.reason:
        entry["reason"] = result.reason[:MAX_CHILD_REASON]
    if short := {key: value for key, value in result.metadata.items() if _is_stored(key, value)}:
        entry["metadata"] = short
    return entry


def _is_stored(key: str, value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_CHILD_REASON
    if isinstance(value, list) and key != "children":
        return len(value) <= MAX_CHILD_LIST and all(map(_is_short, value))
    return not isinstance(value, dict)


def _is_short(item: Json) -> bool:
    return isinstance(item, str | int | float) and len(str(item)) <= MAX_CHILD_ITEM


def _take_free_name(wanted: str, taken: set[str]) -> str:
    """The wanted name, or `regex 2` where `regex` is taken; it is added to those taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    taken.add(name)
    return name


def _depth(children: Iterable[ChildConfig | Mapping[str, Any]]) -> int:
    """How deep combinations nest, computed before any child is configured."""
    return 1 + max((_depth(nested) for child in children if (nested := _nested(child))), default=0)


def _nested(child: ChildConfig | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    config = child.config if isinstance(child, ChildConfig) else child.get("config")
    nested = config.get("scorers") if isinstance(config, dict) else None
    return [item for item in nested if isinstance(item, dict)] if isinstance(nested, list) else []


def needs_services(config: CombineConfig) -> bool:
    """Whether any child asks services, to any depth."""
    return any(child.scorer.needs_services for child in config.children)


def _is_quick(config: CombineConfig) -> bool:
    return all(child.scorer.is_quick for child in config.children)


def explain_all(stored: StoredResult) -> Derivation:
    return _explain(stored, lambda parts: f"min({_join_scores(parts)})")


def explain_any(stored: StoredResult) -> Derivation:
    return _explain(stored, lambda parts: f"max({_join_scores(parts)})")


def explain_weighted(stored: StoredResult) -> Derivation:
    weights = {child.name: child.weight for child in stored.config.children}

    def mean(parts: _NamedScores) -> str:
        terms = (f"{score_text(score)} {TIMES} {to_text(weights[name])}" for name, score in parts)
        total = to_text(fsum(weights[name] for name, _ in parts))
        return f"({' + '.join(terms)}) / {total}"

    return _explain(stored, mean)


_NamedScores = Sequence[tuple[str, float]]  # of the children that were scored


def _explain(stored: StoredResult, formula: Callable[[_NamedScores], str]) -> Derivation:
    """A combination's arithmetic, where every child's result was stored."""
    entries = stored.facts.get("children", ())
    if len(entries) < len(stored.config.children):
        return Derivation([f"{len(entries)} of {len(stored.config.children)} parts were kept"])
    parts = [(entry["name"], entry["score"]) for entry in entries if "score" in entry]
    findings = [f"{entry['name']} skipped, left out" for entry in entries if "score" not in entry]
    return Derivation(findings, formula(parts))


def _join_scores(parts: _NamedScores) -> str:
    return ", ".join(score_text(score) for _, score in parts)


_EVERY_COMBINATION: Final = (
    "A part that errors makes the whole an error that names it; a part that is skipped is "
    "left out. Parts nest to depth eight."
)
_CombinationType = partial(
    ScorerType,
    config=CombineConfig,
    default_threshold=0.5,
    family="combinator",
    resolve_defaults=resolve_defaults,
    needs_services=needs_services,
    is_quick=_is_quick,
)
SCORER_TYPES: Final = (
    _CombinationType(
        name="all",
        label="All of",
        summary="The lowest score of several scorers: everything must hold.",
        use_when="Several things must all hold: the right answer, in the right form.",
        score=all_of,
        explain=explain_all,
        semantics=(
            "The score is the lowest of the parts': all of them must hold.",
            _EVERY_COMBINATION,
        ),
        examples=(
            Example(
                {
                    "scorers": [
                        {"type": "includes", "config": {"values": ["Paris"]}},
                        {"type": "levenshtein"},
                    ]
                },
                Case("Paris!", "Paris"),
                0.83,
                "The lower of 1.0 and 0.83.",
            ),
        ),
    ),
    _CombinationType(
        name="any",
        label="Any of",
        summary="The highest score of several scorers: one is enough.",
        use_when="One of several ways to be right is enough.",
        score=any_of,
        explain=explain_any,
        semantics=(
            "The score is the highest of the parts', the first one's where several tie.",
            _EVERY_COMBINATION,
        ),
        examples=(
            Example(
                {"scorers": [{"type": "exact_match"}, {"type": "levenshtein"}]},
                Case("Paris!", "Paris"),
                0.83,
                "The higher of 0.0 and 0.83.",
            ),
        ),
    ),
    _CombinationType(
        name="weighted",
        label="Weighted mean",
        summary="The mean of several scorers, each by its weight.",
        use_when="Some things matter more than others, and one figure is wanted.",
        score=weighted,
        explain=explain_weighted,
        semantics=(
            "The score is the sum of score times weight over the sum of the weights.",
            _EVERY_COMBINATION,
        ),
        examples=(
            Example(
                {
                    "scorers": [
                        {"name": "accuracy", "type": "exact_match", "weight": 2},
                        {"name": "grounding", "type": "includes", "weight": 1},
                    ]
                },
                Case("It is Paris.", "Paris"),
                0.333333333,
                "Accuracy 0 twice, grounding 1 once.",
            ),
        ),
    ),
)
