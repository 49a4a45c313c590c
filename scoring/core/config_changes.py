"""What differs between two configs, setting by setting, inside combinations too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scoring.core.bound import bind_child
from scoring.core.config import as_mapping, config_fields
from scoring.core.contract import ConfigError, Json
from scoring.core.json_path import path_text
from scoring.core.registry import TYPES
from scoring.core.shown import plain_number

PARTS: Final = "scorers"
ORDER: Final = "order of the scorers"


class Absent:
    """Stands where one of two configs has no such setting."""

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent()


class Change(NamedTuple):
    """One setting; ABSENT where only the other config has it.

    `path` names a part of a combination by its name: `scorers.accuracy.config.decimals`.
    """

    path: str
    old: Json
    new: Json

    @property
    def is_added(self) -> bool:
        return self.old is ABSENT

    @property
    def is_removed(self) -> bool:
        return self.new is ABSENT


def changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[Change]:
    """In the order of the settings, new ones last; empty exactly where the configs are equal."""
    return list(_in_objects((), old, new))


def spelled_out(type_name: str, config: Mapping[str, Json]) -> dict[str, Json]:
    """The config with every default written down, in the parts of a combination too.

    Two configs that are spelled out alike score alike. One that cannot be used any more, for its
    type is gone, comes back as it is.
    """
    try:
        whole = as_mapping(bind_child(type_name, config).config)
    except ConfigError:
        return dict(config)
    if not _holds_parts(whole.get(PARTS)):
        return whole
    parts = [
        {"name": "", "weight": 1.0, **part, "config": spelled_out(part["type"], part["config"])}
        for part in whole[PARTS]
    ]
    return whole | {PARTS: parts}


def shortened(type_name: str, config: Mapping[str, Json]) -> dict[str, Json]:
    """The config without the settings that hold their defaults; a saved one has them all.

    The configs of a combination's parts stay to the letter, for they are saved as they are given.
    """
    kind = TYPES.get(type_name)
    if kind is None:
        return dict(config)
    defaults = {spec.name: spec.default for spec in config_fields(kind.config) if not spec.required}
    short = {
        name: value
        for name, value in config.items()
        if name not in defaults or not _is_same(value, defaults[name])
    }
    if _holds_parts(short.get(PARTS)):
        short[PARTS] = [_short_part(part, part.get("config", {})) for part in short[PARTS]]
    return short


def short_part(part: Mapping[str, Json]) -> dict[str, Json]:
    """One scorer of a combination, to be read: without defaults, in its config neither."""
    return _short_part(part, shortened(part["type"], part.get("config", {})))


def _short_part(part: Mapping[str, Json], config: Mapping[str, Json]) -> dict[str, Json]:
    named = {"name": part["name"]} if part.get("name") else {}
    weight = part.get("weight", 1)
    whole = {**named, "type": part["type"], **({"config": dict(config)} if config else {})}
    return whole if weight == 1 else whole | {"weight": plain_number(weight)}


def _in_objects(
    at: tuple[str, ...], old: Mapping[str, Json], new: Mapping[str, Json]
) -> Iterator[Change]:
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if not _is_same(before, after):
            yield from _in_values((*at, name), before, after)


def _in_values(at: tuple[str, ...], old: Json, new: Json) -> Iterator[Change]:
    """Of two values that differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _in_objects(at, old, new)
    elif at[-1] == PARTS and _holds_parts(old) and _holds_parts(new):
        yield from _in_parts(at, old, new)
    else:
        yield Change(path_text(at), old, new)


def _in_parts(at: tuple[str, ...], old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    before, after = _by_name(old), _by_name(new)
    yield from _in_objects(at, before, after)
    stayed = [name for name in before if name in after]
    moved = [name for name in after if name in before]
    if stayed != moved:
        yield Change(f"{path_text(at)}: {ORDER}", stayed, moved)


def _by_name(parts: Sequence[Any]) -> dict[str, Any]:
    """Parts by their names, or by their types; the second unnamed regex is `regex 2`."""
    seen: Counter[str] = Counter()
    named = {}
    for part in parts:
        name = part.get("name") or part["type"]
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} {seen[name]}"] = part
    return named


def _holds_parts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(v, dict) and "type" in v for v in value)


def _is_same(old: Json, new: Json) -> bool:
    """Equality of JSON, where true is not 1."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_is_same(old[key], new[key]) for key in old)
    return bool(old == new)
