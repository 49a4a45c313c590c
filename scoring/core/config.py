"""Scorer configs: frozen dataclasses whose fields carry their own label, help and limits.

Forms, the admin, the API schema and the help page are all made from `config_fields`; a pasted
mapping becomes a config only through `read_config`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from inspect import get_annotations
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Gt, Le

from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.json_path import path_text
from scoring.core.json_text import check_value as check_json

Kind = Literal[
    "text",
    "long text",
    "number",
    "integer",
    "boolean",
    "choice",
    "list of text",
    "extraction",  # how an answer is found inside a text
    "keys",  # one key as text, or several as a list
    "value",  # any JSON value; what does not parse as JSON is meant as text
    "scores",  # labels, each with a number
    "range",  # the lower number, then the higher one
    "model",  # what an endpoint calls a model
    "connection",  # a connection of the team, by name
    "provider",  # where vectors come from
    "json",
    "scorers",
]


@dataclass(frozen=True)
class About:
    """The texts of a config field. `kind` overrides the kind that the field's type implies."""

    label: str
    help: str
    kind: Kind | None = None


@dataclass(frozen=True)
class FieldSpec:
    """One config field, as forms and documents show it."""

    name: str
    label: str
    help: str
    kind: Kind
    default: Json  # None when required
    required: bool
    nullable: bool
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None  # an exclusive lower limit


@dataclass(frozen=True, kw_only=True)
class Config:
    """The base of every scorer's config."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "strict": True,
        "ser_json_inf_nan": "constants",
        "allow_inf_nan": False,
    }

    def check(self) -> None:
        """Raise ConfigError for what types and ranges cannot say, such as a bad pattern."""

    def warnings(self) -> list[str]:
        """What is allowed but probably not meant, in sentences; backquotes mark code."""
        return []


AnyConfig = TypeVar("AnyConfig", bound=Config)

_SIMPLE_KINDS: Final[Mapping[Any, Kind]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    tuple[str, ...]: "list of text",
    list[str]: "list of text",
    dict[str, float]: "scores",
    tuple[float, float]: "range",
}

_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "missing_argument": "is required",
    "missing_keyword_only_argument": "is required",
    "unexpected_keyword_argument": "is not a setting of this scorer",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "too_short": "must not be empty",
}


def read_config(cls: type[AnyConfig], mapping: Mapping[str, Json]) -> AnyConfig:
    """The config a mapping of JSON values describes.

    Raises ConfigError naming each bad field; inside a list of scorers the name is a path such as
    `scorers[0].weight`.
    """
    from pydantic import ValidationError

    if not isinstance(mapping, Mapping):
        raise ConfigError({"config": ["must be an object"]})
    try:
        check_json(dict(mapping))
        config: AnyConfig = _adapter(cls).validate_json(json.dumps(dict(mapping)))
    except CaseProblem as problem:
        raise ConfigError({"config": [problem.text]}) from None
    except ValidationError as invalid:
        raise ConfigError(_field_errors(cls, invalid.errors(include_url=False))) from None
    config.check()
    return config


def config_fields(cls: type[Config]) -> tuple[FieldSpec, ...]:
    """The fields in the order a form shows them: the type's own first, then the shared ones."""
    if cls not in _specs:
        hints = get_type_hints(cls, include_extras=True)
        own = get_annotations(cls)
        ordered = sorted(fields(cls), key=lambda field: field.name not in own)
        _specs[cls] = tuple(_field_spec(field, hints[field.name]) for field in ordered)
    return _specs[cls]


def config_schema(cls: type[Config]) -> dict[str, Json]:
    """The JSON schema of a config, with labels and help texts."""
    schema: dict[str, Json] = _adapter(cls).json_schema()
    for spec in config_fields(cls):
        field = schema["properties"][spec.name]
        field.update(title=spec.label, description=spec.help)
    return schema


def config_mapping(config: Config) -> dict[str, Json]:
    """Every field of a config as JSON values; `read_config` turns it back."""
    mapping: dict[str, Json] = _adapter(type(config)).dump_python(config, mode="json")
    return mapping


_adapters: dict[type[Config], Any] = {}
_specs: dict[type[Config], tuple[FieldSpec, ...]] = {}  # reading type hints takes long


def _adapter(cls: type[Config]) -> Any:
    """Pydantic's reader and writer of a config class."""
    from pydantic import TypeAdapter

    if cls not in _adapters:
        _adapters[cls] = TypeAdapter(cls)
    return _adapters[cls]


def _field_spec(field: Field[Any], hint: Any) -> FieldSpec:
    notes = get_args(hint)[1:] if hasattr(hint, "__metadata__") else ()
    plain, nullable = _without_none(get_args(hint)[0] if notes else hint)
    label = field.name.replace("_", " ").capitalize()
    about = next((note for note in notes if isinstance(note, About)), About(label, ""))
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    required = field.default is MISSING and field.default_factory is MISSING
    return FieldSpec(
        name=field.name,
        label=about.label,
        help=about.help,
        kind=about.kind or ("choice" if choices else _SIMPLE_KINDS.get(plain, "json")),
        default=None if required else _json_default(field),
        required=required,
        nullable=nullable,
        choices=choices,
        minimum=_limit(notes, Ge, "ge"),
        maximum=_limit(notes, Le, "le"),
        above=_limit(notes, Gt, "gt"),
    )


def _limit(notes: Sequence[Any], kind: type[Any], attribute: str) -> float | None:
    return next((getattr(note, attribute) for note in notes if isinstance(note, kind)), None)


def _json_default(field: Field[Any]) -> Json:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return list(default) if isinstance(default, tuple) else default


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type without its `| None`, and whether it had one."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, hint is Any
    members = tuple(member for member in get_args(hint) if member is not type(None))
    nullable = len(members) < len(get_args(hint))
    return (members[0] if len(members) == 1 else hint), nullable


def _field_errors(cls: type[Config], faults: list[Any]) -> dict[str, list[str]]:
    nested = {spec.name for spec in config_fields(cls) if spec.kind == "scorers"}
    with_bad_items = {fault["loc"][0] for fault in faults if len(fault["loc"]) > 1}
    errors: dict[str, list[str]] = {}
    for fault in faults:
        path = fault["loc"] or ("config",)
        if fault["type"] == "too_short" and path[0] in with_bad_items:
            continue  # bad items are left out of the count, which is then meaningless
        name = path_text(path) if path[0] in nested else str(path[0])
        text = _MESSAGES.get(fault["type"]) or fault["msg"].replace("Input should be", "must be")
        if text not in errors.setdefault(name, []):
            errors[name].append(text)
    return errors
