"""The scorer that checks an output against a JSON schema.

jsonschema-rs validates in linear time for every pattern and fetches nothing. Two things would
still hurt it, so they are refused or avoided: references that multiply when they are followed,
and its list of errors for schemas that refer to themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

from scoring.core.config import About
from scoring.core.contract import Case, ConfigError, Json, OutsideProblem, Result, scored
from scoring.core.json_path import path_text
from scoring.core.json_text import compact, parse
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.selection import (
    EXTRACTS,
    NEGATES,
    READS_JSON,
    TAKES_PARTS,
    ExtractingConfig,
    NegatableConfig,
    apply_negate,
    is_met,
    output_json,
    score_each,
)

MAX_SCHEMA: Final = 100_000  # characters
MAX_EXPANDED: Final = 10_000  # subschemas once every reference is followed
MAX_CHAIN: Final = 200  # references and levels one inside the other
MAX_PATTERN_BYTES: Final = 1 << 20
MAX_PATTERN_OUTPUT: Final = 100_000  # characters, where the schema has patterns

MAX_MESSAGE: Final = 120  # characters; longer ones repeat the output

VALID: Final = scored(1.0)


@dataclass(frozen=True, kw_only=True)
class JsonSchemaConfig(ExtractingConfig, NegatableConfig):
    schema: Annotated[
        dict[str, Json] | bool | None,
        About(
            "Schema",
            "A JSON schema (drafts 4 to 2020-12; patterns have no look-around). Empty: any valid"
            " JSON passes.",
            "json",
        ),
    ] = None
    check_formats: Annotated[
        bool,
        About(
            "Check formats",
            "Where the schema says a `format`, such as `date` or `email`, a text has to have it.",
        ),
    ] = True

    def check(self) -> None:
        super().check()
        self.validator()

    def validator(self) -> _Validator:
        """The compiled schema. Raises ConfigError."""
        return _validator(json.dumps(self.schema, sort_keys=True), self.check_formats)


def json_schema(cases: Sequence[Case], config: JsonSchemaConfig) -> list[Result]:
    """1.0 when the output is valid JSON and satisfies the schema."""
    validator = config.validator()

    def validate(case: Case) -> Result:
        value = output_json(case.output)
        if validator.accepts(value):
            return VALID
        return scored(0.0, validator.complaint(value))

    return apply_negate(score_each(validate, cases, config), config)


def explain_json_schema(stored: StoredResult) -> Derivation:
    if stored.config.schema is None:
        return Derivation(["the output is valid JSON"])
    met = "the output satisfies the schema"
    return Derivation([met if is_met(stored) else stored.result.reason or f"not true: {met}"])


class _Validator(NamedTuple):
    """A compiled schema, or None for no schema at all."""

    compiled: Any
    has_patterns: bool
    can_explain: bool

    def accepts(self, value: Json) -> bool:
        if self.has_patterns and len(compact(value)) > MAX_PATTERN_OUTPUT:
            limit = f"{MAX_PATTERN_OUTPUT:,} characters"
            why = f"outputs over {limit} are not checked against a schema with patterns"
            raise OutsideProblem("too_large", why)
        return self.compiled is None or bool(self.compiled.is_valid(value))

    def complaint(self, value: Json) -> str:
        """The first error, where listing errors is cheap."""
        if not self.can_explain:
            return "the output does not satisfy the schema"
        first = next(iter(self.compiled.iter_errors(value)))
        keyword = first.schema_path[-1] if first.schema_path else "false"
        short = first.message if len(first.message) <= MAX_MESSAGE else f"{keyword} does not hold"
        return f"{short} (at {path_text(first.instance_path)})"


@lru_cache(maxsize=64)
def _validator(schema_text: str, checks_formats: bool) -> _Validator:
    schema = parse(schema_text)
    if schema is None:
        return _Validator(None, has_patterns=False, can_explain=False)
    if len(schema_text) > MAX_SCHEMA:
        raise ConfigError({"schema": [f"is longer than {MAX_SCHEMA:,} characters"]})
    expansion = _Expansion(schema)
    expansion.size(schema, 0)
    has_patterns = '"pattern"' in schema_text or '"patternProperties"' in schema_text
    return _Validator(_compile(schema, checks_formats), has_patterns, not expansion.is_recursive)


def _compile(schema: Json, checks_formats: bool) -> Any:
    from jsonschema_rs import ReferencingError, RegexOptions, ValidationError, validator_for

    try:
        return validator_for(
            schema,
            validate_formats=checks_formats,
            pattern_options=RegexOptions(size_limit=MAX_PATTERN_BYTES),
            offline=True,
        )
    except (ValidationError, ReferencingError, ValueError) as refused:
        first_line = str(getattr(refused, "message", refused)).split("\n")[0]
        text = f"is not a usable JSON schema: {first_line[:200]}"
        raise ConfigError({"schema": [text]}) from None


class _Expansion:
    """How large a schema becomes when its references are followed."""

    def __init__(self, schema: Json) -> None:
        self.root = schema
        self.is_recursive = False
        self.sizes: dict[int, int] = {}
        self.named = dict(_named(schema))

    def size(self, node: Json, depth: int) -> int:
        """Subschemas from this node on; one that contains itself counts once there."""
        if not isinstance(node, dict | list):
            return 0
        if id(node) in self.sizes:
            self.is_recursive |= self.sizes[id(node)] == 0
            return max(self.sizes[id(node)], 1)
        if depth > MAX_CHAIN:
            raise ConfigError({"schema": [f"references follow each other over {MAX_CHAIN} levels"]})
        self.sizes[id(node)] = 0  # being counted
        parts = [*_children(node), *self._references(node)]
        total = 1 + sum(self.size(part, depth + 1) for part in parts)
        if total > MAX_EXPANDED:
            raise ConfigError({"schema": ["grows too large when its references are followed"]})
        self.sizes[id(node)] = total
        return total

    def _references(self, node: Json) -> list[Json]:
        if not isinstance(node, dict):
            return []
        names = (node.get(key) for key in ("$ref", "$dynamicRef", "$recursiveRef"))
        return [self._target(name) for name in names if isinstance(name, str)]

    def _target(self, name: str) -> Json:
        """The node referred to; None where there is none, which the validator reports."""
        if name == "#" or name.startswith("#/"):
            return _at_pointer(self.root, name)
        self.is_recursive = True  # perhaps it is not, which costs a reason and no more
        return self.named.get(name.rsplit("/", 1)[-1].lstrip("#"))


def _named(node: Json) -> Iterator[tuple[str, Json]]:
    """Every node with an id or anchor, by the last part of that name."""
    if isinstance(node, dict):
        for key in ("$id", "id", "$anchor", "$dynamicAnchor"):
            if isinstance(name := node.get(key), str):
                yield name.rstrip("#").rsplit("/", 1)[-1].lstrip("#"), node
    if isinstance(node, dict | list):
        for part in _children(node):
            yield from _named(part)


def _children(node: dict[str, Json] | list[Json]) -> Iterable[Json]:
    return node.values() if isinstance(node, dict) else node


def _at_pointer(node: Json, pointer: str) -> Json:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, dict) and key in node:
            node = node[key]
        else:
            return None
    return node


SCORER_TYPES: Final = (
    ScorerType(
        name="json_schema",
        label="JSON schema",
        summary="1.0 when the output is valid JSON and satisfies a schema.",
        use_when="The shape counts, whatever the values are.",
        config=JsonSchemaConfig,
        score=json_schema,
        default_threshold=1.0,
        expected_as="verbatim",
        explain=explain_json_schema,
        is_quick=lambda _: True,
        semantics=(
            "The output is read as JSON and checked against `schema`; without one only "
            "its being JSON counts. No expected value is needed.",
            "Where the schema names a format (a date, an email address, a URI, a UUID and so on) a "
            "text has to have it, unless `check_formats` is off. A format that no draft of JSON "
            "schema knows is not checked.",
            READS_JSON,
            TAKES_PARTS,
            EXTRACTS,
            NEGATES,
        ),
        examples=(
            Example(
                {"schema": {"type": "object", "required": ["city"]}},
                Case('{"city": "Paris"}'),
                1.0,
                "The key is there.",
            ),
            Example(
                {"schema": {"type": "object", "required": ["city"]}},
                Case("{}"),
                0.0,
                "It is missing.",
            ),
            Example(
                {"schema": {"properties": {"day": {"format": "date"}}}},
                Case('{"day": "2026-02-30"}'),
                0.0,
                "February has no such day.",
            ),
            Example({}, Case("Paris"), 0.0, "Not valid JSON.", "invalid_json"),
            Example(
                {"extract": "json"},
                Case('Here it is:\n```json\n{"city": "Paris"}\n```'),
                1.0,
                "The JSON inside the fenced block.",
            ),
        ),
    ),
)
