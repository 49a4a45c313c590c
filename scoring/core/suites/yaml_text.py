"""YAML as another spelling of JSON: the core schema of YAML 1.2, without tags, anchors or aliases.

PyYAML only splits the text into events, from which values are built here. So the result is always a
JSON value, `no` is a text and not false, and a short text cannot expand into a large value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import MAX_DEPTH, MAX_DIGITS, check_value

if TYPE_CHECKING:
    import yaml

MAX_VALUES: Final = 50_000

#: What a plain scalar means, by the first pattern that it matches.
_CORE: Final[tuple[tuple[str, str, Callable[[str], Json]], ...]] = (
    ("null", r"null|Null|NULL|~|", lambda _: None),
    ("bool", r"true|True|TRUE", lambda _: True),
    ("bool", r"false|False|FALSE", lambda _: False),
    ("int", rf"[-+]?[0-9]{{1,{MAX_DIGITS}}}", int),
    ("int", r"0o[0-7]{1,60}", lambda text: int(text, 0)),
    ("int", r"0x[0-9a-fA-F]{1,60}", lambda text: int(text, 0)),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", lambda text: float(text.replace(".", ""))),
)
_PATTERNS: Final = tuple((tag, re.compile(text), read) for tag, text, read in _CORE)


def parse_yaml(text: str) -> Json:
    """The JSON value of a text in YAML. Keys are always texts, as they are written.

    Raises CaseProblem with the code invalid_yaml or one of those of `json_text.parse`; the text of
    the problem says where.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        value = _build(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as fault:
        raise CaseProblem("invalid_yaml", _describe(fault)) from None
    except (UnicodeError, ValueError, RecursionError) as fault:
        raise CaseProblem("invalid_yaml", f"it cannot be read: {fault}") from None
    check_value(value)
    return value


def write_yaml(value: Json) -> str:
    """YAML that `parse_yaml` reads back to the same value; long texts keep their lines."""
    text = _dump(value, quotes_all=False)
    return text if _reads_back(text, value) else _dump(value, quotes_all=True)


class _Container:
    """An object or a list that is being built."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key: str | None = None

    def take(self, value: Json, event: yaml.Event) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is None:
            self.key = self._key(value, event)
        else:
            self.value[self.key], self.key = value, None

    def _key(self, value: Json, event: yaml.Event) -> str:
        if isinstance(value, dict | list):
            raise _problem(event, "a key has to be a text", "invalid_yaml")
        key = str(getattr(event, "value", ""))
        if key in self.value:
            raise _problem(event, f"the key {key[:80]!r} is there twice", "duplicate_key")
        return key


def _build(events: Iterator[Any]) -> Json:
    import yaml

    stack, documents, count = [_Container([])], 0, 0
    for event in events:
        documents += isinstance(event, yaml.DocumentStartEvent)
        count += isinstance(event, yaml.NodeEvent)
        _check_event(event, documents, len(stack), count)
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].take(_scalar(event), event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            stack.append(_Container({} if isinstance(event, yaml.MappingStartEvent) else []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            value = stack.pop().value
            stack[-1].take(value, event)
    values: list[Json] = stack[0].value
    return values[0] if values else None


def _check_event(event: Any, documents: int, depth: int, count: int) -> None:
    """Raise CaseProblem for what JSON does not have, and for what is too large."""
    import yaml

    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise _problem(
            event, "anchors and aliases are not read; write the value out", "invalid_yaml"
        )
    if getattr(event, "tag", None):
        raise _problem(event, f"the tag {event.tag[:40]} is not read", "invalid_yaml")
    if documents > 1:
        raise _problem(event, "a second document begins", "invalid_yaml")
    if depth > MAX_DEPTH:
        raise _problem(event, f"it nests deeper than {MAX_DEPTH}", "too_deep")
    if count > MAX_VALUES:
        raise _problem(event, f"it holds more than {MAX_VALUES:,} values", "too_many_keys")


def _scalar(event: Any) -> Json:
    """A plain scalar by the core schema; a quoted one is its text."""
    if not event.implicit[0]:
        return event.value
    for _, pattern, read in _PATTERNS:
        if pattern.fullmatch(event.value):
            return read(event.value)
    return event.value


def _problem(event: Any, text: str, code: str) -> CaseProblem:
    return CaseProblem(code, f"{text}, line {event.start_mark.line + 1}")


def _describe(fault: Any) -> str:
    mark, problem = getattr(fault, "problem_mark", None), getattr(fault, "problem", None)
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{problem or 'it holds a character that YAML does not know'}{where}"


def _dump(value: Json, *, quotes_all: bool) -> str:
    import yaml

    return str(
        yaml.dump(
            value,
            Dumper=_dumper(quotes_all=quotes_all),
            default_flow_style=False,
            sort_keys=False,
            allow_unicode=True,
            width=100_000_000,
        )
    )


def _dumper(*, quotes_all: bool) -> Any:
    """A dumper without aliases that quotes every text, or those that YAML 1.1 or 1.2 would not read
    as texts.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, _: Any) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
            super().increase_indent(flow, indentless=False)

    def represent(dumper: Any, text: str) -> Any:
        style = '"' if quotes_all else "|" if "\n" in text.rstrip("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    for tag, pattern, _ in _PATTERNS:
        whole = re.compile(f"^(?:{pattern.pattern})$")
        Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", whole, None)
    return Dumper


def _reads_back(text: str, value: Json) -> bool:
    try:
        return repr(parse_yaml(text)) == repr(value)
    except CaseProblem:
        return False
