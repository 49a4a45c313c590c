"""The differences between two configs, setting by setting, inside combinations too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scoring.core.config import config_fields, config_mapping
from scoring.core.configured import configure_child
from scoring.core.contract import ConfigError, Json
from scoring.core.json_path import path_text
from scoring.core.registry import find_type
from scoring.core.textdiff.text_layout import plain_number

PARTS: Final = "scorers"
ORDER: Final = "order of the scorers"


class Missing:
    """The value of a setting that one of two configs does not have."""

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class SettingChange(NamedTuple):
    """One setting; MISSING where only the other config has it.

    `path` names a part of a combination by its name: `scorers.accuracy.config.decimals`.
    """

    path: str
    old: Json
    new: Json

    @property
    def is_added(self) -> bool:
        return self.old is MISSING

    @property
    def is_removed(self) -> bool:
        return self.new is MISSING


def find_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[SettingChange]:
    """Changes in the order of the settings, new ones last; empty if the configs are equal."""
    return list(_diff_objects((), old, new))


def spell_out_defaults(type_name: str, config: Mapping[str, Json]) -> dict[str, Json]:
    """The config with every default written out, in the parts of a combination too.

    Two configs whose results are equal score alike. A config that is no longer valid, because its
    type is gone, is returned unchanged.
    """
    try:
        whole = config_mapping(configure_child(type_name, config).config)
    except ConfigError:
        return dict(config)
    if _holds_parts(whole.get(PARTS)):
        whole[PARTS] = [
            {"name": "", "weight": 1.0}
            | part
            | {"config": spell_out_defaults(part["type"], part["config"])}
            for part in whole[PARTS]
        ]
    return whole


def drop_defaults(type_name: str, config: Mapping[str, Json]) -> dict[str, Json]:
    """The config without the settings that hold their defaults; a saved one has them all.

    The configs of a combination's parts do not change: they are saved as they are written.
    """
    kind = find_type(type_name)
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


def drop_child_defaults(part: Mapping[str, Json]) -> dict[str, Json]:
    """One scorer of a combination without defaults, its config included."""
    return _short_part(part, drop_defaults(part["type"], part.get("config", {})))


def _short_part(part: Mapping[str, Json], config: Mapping[str, Json]) -> dict[str, Json]:
    short = {"name": part["name"]} if part.get("name") else {}
    short["type"] = part["type"]
    if config:
        short["config"] = dict(config)
    if (weight := part.get("weight", 1)) != 1:
        short["weight"] = plain_number(weight)
    return short


def _diff_objects(
    path: tuple[str, ...], old: Mapping[str, Json], new: Mapping[str, Json]
) -> Iterator[SettingChange]:
    for name in {**old, **new}:
        before, after = old.get(name, MISSING), new.get(name, MISSING)
        if not _is_same(before, after):
            yield from _diff_values((*path, name), before, after)


def _diff_values(path: tuple[str, ...], old: Json, new: Json) -> Iterator[SettingChange]:
    """The changes between two values that differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _diff_objects(path, old, new)
    elif path[-1] == PARTS and _holds_parts(old) and _holds_parts(new):
        yield from _diff_parts(path, old, new)
    else:
        yield SettingChange(path_text(path), old, new)


def _diff_parts(
    path: tuple[str, ...], old: Sequence[Any], new: Sequence[Any]
) -> Iterator[SettingChange]:
    before, after = _by_name(old), _by_name(new)
    yield from _diff_objects(path, before, after)
    old_order = [name for name in before if name in after]
    new_order = [name for name in after if name in before]
    if old_order != new_order:
        yield SettingChange(f"{path_text(path)}: {ORDER}", old_order, new_order)


def _by_name(parts: Sequence[Any]) -> dict[str, Any]:
    """Parts by their names, or by their types; the second unnamed regex is `regex 2`."""
    counts: Counter[str] = Counter()
    by_name = {}
    for part in parts:
        name = part.get("name") or part["type"]
        counts[name] += 1
        by_name[name if counts[name] == 1 else f"{name} {counts[name]}"] = part
    return by_name


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
