"""Strict JSON, and the text of a value.

`parse` accepts what RFC 8259 accepts and refuses what would mislead a score: duplicate keys,
numbers that are not finite, lone surrogates, extreme depth. Integers stay exact, those written
with a point or an exponent up to 64 bits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, Final, NoReturn

import orjson

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_path import Path, path_text

MAX_DEPTH: Final = 64
MAX_KEYS: Final = 10_000  # in one object
MAX_DIGITS: Final = 4_300  # Python's own limit for turning text into an integer

_FIRST_INEXACT: Final = 2.0**53  # from which on floats leave integers out
_LAST_EXACT: Final = 2.0**63  # up to which 64 bits hold an integer

_PLAIN: Final = frozenset({str, int, bool, type(None)})
_FRACTION = re.compile(r"\d[.eE]")  # perhaps of a number
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonText(str):
    """A string that is itself a JSON value and is not parsed again."""

    __slots__ = ()


def unmark_json(value: Json) -> Json:
    """The value as a plain string where it is a JsonText, else as it is."""
    return str(value) if isinstance(value, JsonText) else value


def replace_unstorable(value: Json) -> Json:
    """The value with U+FFFD for NUL and lone surrogates, which no database keeps in JSON."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {replace_unstorable(key): replace_unstorable(part) for key, part in value.items()}
    return [replace_unstorable(part) for part in value] if isinstance(value, list) else value


def parse(text: str, *, refuse_nul: bool = False) -> Json:
    """The JSON value of a text.

    Raises CaseProblem with one of the codes invalid_json, duplicate_key, not_finite,
    number_too_long, too_deep, too_many_keys, invalid_unicode and, with `refuse_nul` (databases
    cannot keep one), nul_character. The text of the problem says where.
    """
    if (flat := _flat_object(text)) is not None:
        return flat
    try:
        value = _FAST.decode(text)
    except json.JSONDecodeError as fault:
        raise _not_json(text, fault) from None
    except RecursionError:
        raise _too_deep() from None
    except (_SuspectError, ValueError):  # ValueError: an integer of more than MAX_DIGITS digits
        check_value(_parse_slowly(text), refuse_nul=refuse_nul)
        raise CaseProblem("invalid_json", "the text cannot be read as JSON") from None
    if _needs_walk(text, refuse_nul):
        check_value(value, refuse_nul=refuse_nul)
    return value


def parse_exact(text: str) -> Json:
    """As `parse`, but numbers with a fraction or an exponent are the Decimal that is written.

    Raises the same problems.
    """
    value = parse(text)
    return _EXACT.decode(text) if _FRACTION.search(text) else value


def to_exact(value: Json) -> Json:
    """The value with its floats as the Decimal that is their shortest text."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {key: to_exact(part) for key, part in value.items()}
    return [to_exact(part) for part in value] if isinstance(value, list) else value


def _flat_object(text: str) -> dict[str, Json] | None:
    """An object of plain values without any problem, read in half the time; else None.

    orjson takes the last of duplicate keys: then there are more colons than in what it returns. It
    makes a float of a long integer, and floats are left to the strict pass.
    """
    if "\\u" in text:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict or not _PLAIN.issuperset(map(type, value.values())):
        return None
    colons = text.count(":")
    if colons != len(value):
        texts = [*value, *(part for part in value.values() if type(part) is str)]
        colons -= sum(part.count(":") for part in texts)
    return value if colons == len(value) <= MAX_KEYS else None


def check_value(value: Json, *, refuse_nul: bool = False) -> None:
    """Raise the CaseProblem that `parse` would have raised for this already parsed value."""
    if not refuse_nul and _is_sound(value):
        return
    for path, part in _walk(value, ()):
        if isinstance(part, str):
            _check_text(part, path, refuse_nul)
        elif isinstance(part, float) and not isfinite(part):
            where = path_text(path)
            raise CaseProblem("not_finite", f"the number at {where} is not finite", where)
        elif not (part is None or isinstance(part, int | float | dict | list)):
            kind, where = type(part).__name__, path_text(path)
            raise CaseProblem("invalid_json", f"{kind} at {where} is not a JSON value", where)


def to_text(value: Json) -> str:
    """The text that text scorers compare: 4.0 is "4", null is "", objects are `compact`."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact(value)


def compact(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, numbers as in `to_text`.

    Equal values give equal texts, so it serves comparing and hashing. It is no storage format:
    integers from 1e21 are written with an exponent. Raises CaseProblem too_deep or not_finite.
    """
    return _write(value, 0)


class _SuspectError(Exception):
    """The fast pass met something that only the slow pass can name and locate."""


class _Pairs(dict[str, Any]):
    """An object that remembers the first key it was given twice."""

    repeated: str | None = None


class _LongNumber(float):
    """Marks a number with too many digits in the slow pass."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs) or len(value) > MAX_KEYS:
        raise _SuspectError
    return value


def _float(text: str) -> float:
    value = float(text)
    if value - value != 0.0 or len(text) > MAX_DIGITS:  # infinity minus itself is NaN
        raise _SuspectError
    return _whole(text, value) if _FIRST_INEXACT <= abs(value) < _LAST_EXACT else value


def _whole(text: str, value: float) -> float:
    """The integer where one is written that no float is, as 9007199254740993.0."""
    exact = Decimal(text)
    is_lost = exact != Decimal(repr(value)) and exact == exact.to_integral_value()
    return int(exact) if is_lost else value


def _suspect(_: str) -> NoReturn:
    raise _SuspectError


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent below any that a Decimal has: 0 for a float as well
        return Decimal(repr(float(text)))


_FAST = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_suspect)
_EXACT = json.JSONDecoder(parse_float=_decimal)


def _parse_slowly(text: str) -> Json:
    try:
        return _SLOW.decode(text)
    except json.JSONDecodeError as fault:
        raise _not_json(text, fault) from None
    except RecursionError:
        raise _too_deep() from None


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    value = _Pairs()
    for key, part in pairs:
        if key in value and value.repeated is None:
            value.repeated = key
        value[key] = part
    return value


def _slow_int(text: str) -> int | float:
    return int(text) if len(text) <= MAX_DIGITS else _LongNumber()


def _slow_float(text: str) -> float:
    return float(text) if len(text) <= MAX_DIGITS else _LongNumber()


_SLOW = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_slow_int, parse_float=_slow_float, parse_constant=float
)


def _needs_walk(text: str, refuse_nul: bool) -> bool:
    """Whether depth, surrogates or NULs are possible at all; most texts are cleared in C."""
    if text.count("[") + text.count("{") > MAX_DEPTH or (refuse_nul and "\\u0000" in text):
        return True
    if not text.isascii() and _SURROGATE.search(text):
        return True
    return "\\u" in text and _SURROGATE_ESCAPE.search(text) is not None


def _is_sound(value: Json) -> bool:
    """Whether a value certainly has no problem, by a quick pass over plain types."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for part in level:
            kind = type(part)
            if kind is dict:
                if len(part) > MAX_KEYS:
                    return False
                below += part
                below += part.values()
            elif kind is list:
                below += part
            elif not _is_sound_leaf(part, kind):
                return False
        if not below:
            return True
        level = below
    return False


def _is_sound_leaf(part: Json, kind: type) -> bool:
    if kind is str:
        return part.isascii() or not _SURROGATE.search(part)
    return kind is int or kind is bool or part is None or (kind is float and part - part == 0.0)


def _walk(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Every key and value below, keys as texts; raises for depth, repeats and long numbers."""
    yield path, value
    if isinstance(value, dict):
        _check_keys(value, path)
    elif isinstance(value, _LongNumber):
        where = path_text(path)
        text = f"the number at {where} has over {MAX_DIGITS:,} digits"
        raise CaseProblem("number_too_long", text, where)
    if isinstance(value, dict | list) and len(path) >= MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key), key
            yield from _walk(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _walk(part, (*path, index))


def _check_keys(value: dict[str, Any], path: Path) -> None:
    if len(value) > MAX_KEYS:
        where = path_text(path)
        text = f"the object at {where} has over {MAX_KEYS:,} keys"
        raise CaseProblem("too_many_keys", text, where)
    repeated = getattr(value, "repeated", None)
    if repeated is not None:
        where = _SURROGATE.sub("\ufffd", path_text((*path, repeated)))
        raise CaseProblem("duplicate_key", f"the key {where} appears twice", where)


def _check_text(text: str, path: Path, refuse_nul: bool) -> None:
    if _SURROGATE.search(text):
        where = _SURROGATE.sub("\ufffd", path_text(path))
        raise CaseProblem("invalid_unicode", f"the text at {where} holds half a character", where)
    if refuse_nul and "\0" in text:
        where = path_text(path)
        raise CaseProblem("nul_character", f"the text at {where} holds a NUL character", where)


def _not_json(text: str, fault: json.JSONDecodeError) -> CaseProblem:
    if not text.strip():
        return CaseProblem("invalid_json", "the text is empty")
    where = f"line {fault.lineno}, column {fault.colno}"
    return CaseProblem("invalid_json", f"{fault.msg.removesuffix(' at')} at {where}")


def _too_deep() -> CaseProblem:
    return CaseProblem("too_deep", f"nested deeper than {MAX_DEPTH} levels")


def _write(value: Json, depth: int) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return _number_text(value)
    if depth >= MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        items = sorted(value.items())
        inner = (f"{encode_basestring(k)}:{_write(v, depth + 1)}" for k, v in items)
        return "{" + ",".join(inner) + "}"
    return "[" + ",".join(_write(part, depth + 1) for part in value) + "]"


def _number_text(value: int | float) -> str:
    """The shortest decimal that reads back as this number, as JavaScript writes it."""
    if isinstance(value, int) and -(10**21) < value < 10**21:
        return str(int(value))
    if not isfinite(value if isinstance(value, float) else 0.0):
        raise CaseProblem("not_finite", "a number is not finite")
    if value == 0:
        return "0"
    if isinstance(value, int) or not 1e-6 <= abs(value) < 1e21:
        return _with_exponent(value)
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text.removesuffix(".0")


def _with_exponent(value: int | float) -> str:
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    mantissa = "".join(map(str, digits)).rstrip("0")
    power = len(digits) - 1 + int(exponent)
    point = "." if len(mantissa) > 1 else ""
    return f"{'-' * sign}{mantissa[0]}{point}{mantissa[1:]}e{power:+d}"
