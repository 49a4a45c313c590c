"""Answers inside answers: the part of a text that is compared, such as the last number in it.

A config holds `"last_number"`, `"json"`, `{"after": marker}`, `{"pattern": regex}` or
`{"path": path}`. Whatever is searched for, finding it takes time linear in the text or is given up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, NoReturn, cast, get_args

from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.json_path import NO_VALUE, find_key, parse_path
from scoring.core.json_text import JsonText, parse, to_text
from scoring.core.scorers.pattern import compile_pattern

Kind = Literal["last_number", "after", "pattern", "json", "path"]

KINDS: Final = get_args(Kind)
WITH_ARGUMENT: Final[Mapping[Kind, str]] = {
    "after": "a marker",
    "pattern": "a regular expression",
    "path": "a path such as `result.answer`",
}
MAX_ARGUMENT: Final = 10_000  # characters
MAX_STEPS: Final = 50_000_000  # characters read in search of JSON, in all attempts together

_MINUS: Final = "-\u2212\u2013"
_SEPARATORS: Final = ",\u00a0\u202f\u2009'\u2019"  # between groups of three digits
_NUMBER: Final = re.compile(
    rf"(?:(?<![\w)])(?P<minus>[{_MINUS}]))?[$€£¥]?"
    rf"(?:(?P<whole>[0-9]{{1,3}}(?:[{_SEPARATORS}][0-9]{{3}})+(?![0-9])|[0-9]+)"
    r"(?:\.(?P<part>[0-9]+))?|(?<![0-9.])\.(?P<only_part>[0-9]+))"
    r"(?P<exponent>[eE][+-]?[0-9]{1,3}(?!\w))?"
)
_NUMBER_CHARS: Final = f"0123456789.eE+$€£¥{_MINUS}{_SEPARATORS}"
_SEPARATOR: Final = re.compile(f"[{_SEPARATORS}]")
# What an object or a list of JSON begins with, so that most other brackets are passed over.
_OPENING: Final = re.compile(r'\{(?=\s*["}])|\[(?=\s*["{\[\]\-0-9tfn])')
_FENCE: Final = re.compile(r"(?:```|~~~)[^\n`]*\n?\s*\Z")
_DEEP: Final = 100_000  # steps that an attempt which nests too deeply counts as


class Extracted(NamedTuple):
    """What was found: the value to compare, and the characters of the searched text it was read
    from; None where it is no part of a text.
    """

    value: Json
    span: tuple[int, int] | None


class Extraction(NamedTuple):
    """How the answer is found inside a text; `argument` is the marker, pattern or path."""

    kind: Kind
    argument: str = ""

    @property
    def is_json(self) -> bool:
        """Whether it finds the JSON value from which a target key selects, and so comes first."""
        return self.kind == "json"

    @property
    def label(self) -> str:
        """What is looked for, in words."""
        quoted = json.dumps(self.argument, ensure_ascii=False)
        return {
            "last_number": "the last number",
            "after": f"what follows {quoted}",
            "pattern": f"what {quoted} captures",
            "json": "the first JSON object or list",
            "path": f"the value at {quoted}",
        }[self.kind]

    def find(self, value: Json, seconds: float | None = None) -> Extracted | None:
        """What is found in a text or a JSON value; None where there is nothing.

        Raises CaseProblem `pattern_timeout` where a pattern takes longer than `seconds`, by default
        one.
        """
        if self.kind == "path":
            return _find_path(value, self.argument)
        if self.kind == "json" and (isinstance(value, JsonText) or not isinstance(value, str)):
            return Extracted(value, None)
        text = to_text(value)
        if self.kind == "last_number":
            return _find_number(text)
        if self.kind == "pattern":
            return _found(text, compile_pattern(self.argument).first_group(text, seconds))
        return _found(text, find_json(text) if self.is_json else _find_after(text, self.argument))


def read_extraction(setting: str, value: Json) -> Extraction | None:
    """The extraction that a setting of this name describes; None for none. Raises ConfigError."""
    if value is None:
        return None
    kind, argument = value, ""
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, argument),) = value.items()
    if kind not in KINDS or (kind in WITH_ARGUMENT) != isinstance(value, Mapping):
        raise ConfigError({setting: [_USAGE]})
    if kind in WITH_ARGUMENT:
        _check_argument(setting, kind, argument)
    return Extraction(kind, argument)


def find_json(text: str) -> tuple[int, int] | None:
    """Where the first whole object or list of JSON is in the text; all of it where that is JSON.

    Gives up after `MAX_STEPS`, however the text is made.
    """
    start = len(text) - len(text.lstrip())
    end, _ = _read_json(text, start)
    if end and not text[end:].strip():
        return start, end
    steps = 0
    for opening in _OPENING.finditer(text):
        end, read = _read_json(text, opening.start())
        if end:
            return opening.start(), end
        steps += read
        if steps > MAX_STEPS:
            break
    return None


def describe_json_inside(text: str) -> str:
    """Where a text that is no JSON itself holds some: "a fenced block", "the text", "" nowhere."""
    span = find_json(text)
    if span is None:
        return ""
    return "a fenced block" if _FENCE.search(text[: span[0]][-200:]) else "the text"


_USAGE: Final = (
    'must be "last_number", "json", or an object with one of "after", "pattern" and "path"'
)


def _check_argument(setting: str, kind: Kind, argument: Json) -> None:
    if not isinstance(argument, str) or not argument or len(argument) > MAX_ARGUMENT:
        raise ConfigError({setting: [f"`{kind}` needs {WITH_ARGUMENT[kind]}"]})
    try:
        if kind == "pattern":
            compile_pattern(argument)
        elif kind == "path":
            parse_path(argument)
    except ConfigError as refused:
        raise ConfigError({setting: [f"pattern {' '.join(refused.errors['pattern'])}"]}) from None
    except ValueError as unreadable:
        raise ConfigError({setting: [str(unreadable)]}) from None


def _found(text: str, span: tuple[int, int] | None) -> Extracted | None:
    return Extracted(text[span[0] : span[1]], span) if span else None


def _find_number(text: str) -> Extracted | None:
    """The last number, as its digits with a point and no separators: `1,234.50` gives 1234.5."""
    end = max(map(text.rfind, "0123456789")) + 1
    start = len(text[:end].rstrip(_NUMBER_CHARS))  # most texts have few of them at the end
    last = None
    for last in _NUMBER.finditer(text, start):  # noqa: B007  the last one is wanted
        pass
    if last is None:
        return None
    whole = _SEPARATOR.sub("", last["whole"] or "").lstrip("0") or "0"
    part = (last["part"] or last["only_part"] or "").rstrip("0")
    digits = f"{whole}.{part}" if part else whole
    sign = "-" if last["minus"] and digits != "0" else ""
    return Extracted(f"{sign}{digits}{last['exponent'] or ''}", last.span())


def _find_after(text: str, marker: str) -> tuple[int, int] | None:
    """What follows the last marker, without white space at either end."""
    before, found, rest = text.rpartition(marker)
    answer = rest.strip()
    if not found or not answer:
        return None
    start = len(before) + len(marker) + rest.index(answer)
    return start, start + len(answer)


def _find_path(value: Json, path: str) -> Extracted | None:
    if isinstance(value, str) and not isinstance(value, JsonText):
        span = find_json(value)
        try:
            value = parse(value[span[0] : span[1]]) if span else None
        except CaseProblem:
            return None
    found = find_key(value, path)
    if found is NO_VALUE or found is None:
        return None
    return Extracted(JsonText(found) if isinstance(found, str) else found, None)


def _read_json(text: str, start: int) -> tuple[int, int]:
    """Where the JSON value that starts here ends, 0 where none does; and the characters read."""
    try:
        return cast("int", _DECODER.raw_decode(text, start)[1]), 0
    except json.JSONDecodeError as fault:
        return 0, fault.pos + 1_000  # it counts the lines up to there
    except (ValueError, RecursionError):
        return 0, _DEEP


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER: Final[Any] = json.JSONDecoder(parse_constant=_refuse)
