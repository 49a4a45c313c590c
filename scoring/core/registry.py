"""The registry of scorer types: a mapping from a type's name to everything programs know of it.

A built-in type lives in one module, which lists it in its `SCORER_TYPES`, and the module in
`SCORER_MODULES`. Packages and sites add types of their own through `custom`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple, cast

from scoring.core.config import Config
from scoring.core.contract import Case, ConfigError, Json, Result
from scoring.core.services import AvailableServices

#: The modules of the built-in types, in the order pages list them; imported on first use.
SCORER_MODULES: Final = (
    "scoring.core.scorers.text",
    "scoring.core.scorers.word_overlap",
    "scoring.core.scorers.json_comparison",
    "scoring.core.scorers.json_schema",
    "scoring.core.scorers.numeric",
    "scoring.core.scorers.expression",
    "scoring.core.scorers.reference_match",
    "scoring.core.scorers.llm_judge",
    "scoring.core.scorers.combinations",
)
#: The function that registers the types of installed packages, imported on first use.
PACKAGE_LOADER: Final = "scoring.core.custom.load_installed"

SERVICE_FAMILIES: Final = frozenset({"embedding", "llm"})  # families whose scorers ask `services`
MAX_FORMULA_TERMS: Final = 8  # written out in one line of arithmetic
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Example(NamedTuple):
    """A config, a case and the score they give: the help page shows it and a test checks it.

    A score of None is an error or a skip, named by `code`. `replies` are those of the model,
    stated here because it cannot be asked on a help page.
    """

    config: Mapping[str, Json]
    case: Case
    score: float | None
    note: str
    code: str = ""
    replies: tuple[str, ...] = ()


class StoredResult(NamedTuple):
    """A stored result, with what it is explained from."""

    config: Any
    case: Case
    result: Result

    @property
    def facts(self) -> Mapping[str, Json]:
        return self.result.metadata


class Derivation(NamedTuple):
    """How a score came about: sentences, and the formula with its numbers ("" for none)."""

    findings: Sequence[str]
    formula: str = ""


Family = Literal["deterministic", "combinator", "custom", "embedding", "llm"]
#: How a scorer takes what is expected: as a text, so that JSON in it is not read; verbatim,
#: because a text says all that its value does; or as the value.
ExpectedAs = Literal["text", "verbatim", "value"]
ScoreMany = Callable[[Sequence[Case], Any], list[Result]]
ResolveDefaults = Callable[[Any, AvailableServices], Config]
Explain = Callable[[StoredResult], Derivation | None]


@dataclass(frozen=True)
class ScorerType:
    """One way of scoring. `decimals` rounds the reported score; None leaves it as it comes.

    `resolve_defaults` chooses, when a scorer is saved, what its config leaves open: equal configs
    then score alike whatever becomes available later. It raises ConfigError. `explain` derives a
    score from its stored result, or returns None where too little was stored. `needs_services`
    says of a config whether it asks services; by default the family says so. `is_quick` says of a
    config whether a case can be scored again while a page waits; by default it cannot.
    `expected_as` says how *Try it* passes on what is typed as expected. `use_when` says what it
    suits, in a sentence.
    """

    name: str
    label: str
    summary: str
    config: type[Config]
    score: ScoreMany
    default_threshold: float
    family: Family = "deterministic"
    version: int = 1  # raised when the same config may give other scores
    decimals: int | None = 9
    resolve_defaults: ResolveDefaults | None = None
    explain: Explain | None = None
    needs_services: Callable[[Any], bool] | None = None
    is_quick: Callable[[Any], bool] | None = None
    expected_as: ExpectedAs = "value"
    use_when: str = ""
    semantics: tuple[str, ...] = ()  # paragraphs of the help page
    examples: tuple[Example, ...] = ()

    @property
    def path(self) -> str:
        """The dotted path of the scoring function."""
        return f"{self.score.__module__}.{self.score.__qualname__}"


#: The types of packages and of the site, by name.
CUSTOM_TYPES: Final[dict[str, ScorerType]] = {}


@cache
def built_in_types() -> Mapping[str, ScorerType]:
    """The types of SCORER_MODULES by name."""
    modules = map(import_module, SCORER_MODULES)
    return {kind.name: kind for module in modules for kind in module.SCORER_TYPES}


def all_types() -> Mapping[str, ScorerType]:
    """Built-in and custom types by name, in the order pages list them."""
    module, _, load_installed = PACKAGE_LOADER.rpartition(".")
    getattr(import_module(module), load_installed)()
    return {**built_in_types(), **CUSTOM_TYPES}


def find_type(name: str) -> ScorerType | None:
    """The type of that name; None where there is none."""
    return CUSTOM_TYPES.get(name) or _find_built_in(name) or all_types().get(name)


def _find_built_in(name: str) -> ScorerType | None:
    """Importing no more modules than it takes, which counts for commands."""
    for module in map(import_module, SCORER_MODULES):
        for kind in module.SCORER_TYPES:
            if kind.name == name:
                return cast("ScorerType", kind)
    return None


def scorer_type(name: str) -> ScorerType:
    """The type of that name. Raises ConfigError, naming the known ones."""
    kind = find_type(name) if isinstance(name, str) else None  # it may come straight from JSON
    if kind is None:
        names = ", ".join(sorted(all_types()))
        raise ConfigError({"type": [f"{name!r} is not a scorer type; known are {names}"]})
    return kind


def register(kind: ScorerType) -> None:
    """Add a custom type. Raises ValueError for a bad name or one that is taken."""
    if not _NAME.fullmatch(kind.name):
        raise ValueError(f"{kind.name!r} is no name for a scorer type: use a-z, 0-9 and _")
    known = CUSTOM_TYPES.get(kind.name) or built_in_types().get(kind.name)
    if known is not None and known.path != kind.path:
        raise ValueError(f"the name {kind.name} is taken by {known.path}")
    CUSTOM_TYPES[kind.name] = kind
