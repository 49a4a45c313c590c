"""The operators and functions of expressions, each with its cost."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import fmod, isfinite, trunc
from typing import Any, Final

from scoring.core.contract import CaseProblem, ConfigError, Json, OutsideProblem
from scoring.core.json_text import parse, to_text
from scoring.core.scorers.json_leaves import text_similarity
from scoring.core.scorers.pattern import compile_pattern

MAX_LIST: Final = 1_000
MAX_TEXT: Final = 100_000
MAX_STEPS: Final = 1_000_000  # one takes about a microsecond


class EvaluationError(Exception):
    """The expression does not apply to these values; the text says why."""


class Meter:
    """Counts the work of one evaluation and stops it when there is too much."""

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutsideProblem("too_costly", f"the expression takes over {MAX_STEPS:,} steps")


def check_size(value: Json) -> Json:
    """The value itself, if it is no longer than expressions may handle."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise OutsideProblem("too_large", f"a text has over {MAX_TEXT:,} characters")
    if isinstance(value, list | dict) and len(value) > MAX_LIST:
        raise OutsideProblem("too_large", f"a list has over {MAX_LIST:,} items")
    return value


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def require_boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(f"expected true or false, got {_kind(value)}")
    return value


def equal(meter: Meter, left: Json, right: Json) -> bool:
    """Deep equality; values of different kinds are not equal."""
    meter.spend(1)
    if is_number(left) and is_number(right):
        return bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(equal(meter, a, b) for a, b in pairs)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(meter, left[k], right[k]) for k in left)
    meter.spend(len(left) // 1_000 if isinstance(left, str) else 0)
    return bool(left == right)


def is_in(meter: Meter, item: Json, holder: Json) -> bool:
    if isinstance(holder, dict):
        return isinstance(item, str) and item in holder
    if isinstance(holder, list):
        return any(equal(meter, item, part) for part in holder)
    raise EvaluationError(f"`in` looks into lists and objects, not {_kind(holder)}")


def add(meter: Meter, left: Json, right: Json) -> Json:
    if is_number(left) and is_number(right):
        return _finite(_double(left) + _double(right))
    if isinstance(left, str) and isinstance(right, str):
        meter.spend((len(left) + len(right)) // 100)
        return check_size(left + right)
    if isinstance(left, list) and isinstance(right, list):
        meter.spend((len(left) + len(right)) // 10)
        return check_size(left + right)
    raise EvaluationError(f"cannot add {_kind(left)} and {_kind(right)}")


def _arithmetic(work: Callable[[float, float], float]) -> Callable[[Meter, Json, Json], float]:
    def calculate(_: Meter, left: Json, right: Json) -> float:
        if not (is_number(left) and is_number(right)):
            raise EvaluationError(f"cannot calculate with {_kind(left)} and {_kind(right)}")
        try:
            return _finite(work(_double(left), _double(right)))
        except (ZeroDivisionError, ValueError):
            raise EvaluationError("division by zero") from None

    return calculate


def _ordering(holds: Callable[[Any, Any], bool]) -> Callable[[Meter, Json, Json], bool]:
    def compare(meter: Meter, left: Json, right: Json) -> bool:
        are_numbers = is_number(left) and is_number(right)
        if not are_numbers and not (type(left) is type(right) and isinstance(left, str | bool)):
            raise EvaluationError(f"cannot order {_kind(left)} and {_kind(right)}")
        meter.spend(len(left) // 1_000 if isinstance(left, str) else 0)
        return holds(left, right)

    return compare


OPERATORS: Final[Mapping[str, Callable[[Meter, Json, Json], Json]]] = {
    "==": equal,
    "!=": lambda meter, left, right: not equal(meter, left, right),
    "in": is_in,
    "+": add,
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(operator.truediv),
    "%": _arithmetic(fmod),
    "<": _ordering(operator.lt),
    "<=": _ordering(operator.le),
    ">": _ordering(operator.gt),
    ">=": _ordering(operator.ge),
}


def negative(value: Json) -> float:
    if not is_number(value):
        raise EvaluationError(f"cannot negate {_kind(value)}")
    return -_double(value)


def get_member(value: Json, key: Json) -> Json:
    """The value of `value.key` and `value[key]`."""
    if isinstance(value, dict) and isinstance(key, str):
        if key not in value:
            raise EvaluationError(f"no such key: {key[:80]!r}")
        return check_size(value[key])
    if isinstance(value, list) and is_number(key):
        index = _double(key)
        if not index.is_integer() or not 0 <= index < len(value):
            raise EvaluationError(f"no item {index:g} in a list of {len(value)}")
        return check_size(value[int(index)])
    raise EvaluationError(f"{_kind(value)} has no members")


def _size(_: Meter, value: Json) -> float:
    if not isinstance(value, str | list | dict):
        raise EvaluationError(f"{_kind(value)} has no size")
    return float(len(value))


def _contains(meter: Meter, holder: Json, part: Json) -> bool:
    if not isinstance(holder, str):
        return is_in(meter, part, holder)
    meter.spend(len(holder) // 1_000)
    return _text(part) in holder


def _lower(meter: Meter, text: Json) -> str:
    meter.spend(len(_text(text)) // 100)
    return str(check_size(_text(text).lower()))


def _words(meter: Meter, text: Json) -> list[str]:
    meter.spend(len(_text(text)) // 100)
    words: list[str] = check_size(_text(text).split())
    return words


def _matches(meter: Meter, text: Json, pattern: Json) -> bool:
    try:
        compiled = compile_pattern(_text(pattern))
    except ConfigError as refused:
        raise EvaluationError(f"the pattern {refused.errors['pattern'][0]}") from None
    if compiled.linear is None:
        raise EvaluationError("patterns in expressions have no look-around or back-references")
    meter.spend(100 + compiled.size * len(_text(text)) // 100)
    return compiled.is_in(_text(text))


def _similarity(meter: Meter, left: Json, right: Json) -> float:
    meter.spend(len(_text(left)) * len(_text(right)) // 20_000)
    return text_similarity(_text(left), _text(right))


def _json(meter: Meter, text: Json) -> Json:
    meter.spend(len(_text(text)) // 50)
    try:
        value = parse(_text(text))
    except CaseProblem as problem:
        raise EvaluationError(f"json(): {problem.text}") from None
    return check_size(value)


def _string(meter: Meter, value: Json) -> str:
    text = to_text(value)
    meter.spend(len(text) // 4)
    return str(check_size(text))


def _to_double(_: Meter, value: Json) -> float:
    try:
        return _finite(_double(value if is_number(value) else float(_text(value))))
    except ValueError:
        raise EvaluationError("the text is not a number") from None


# Name: function and number of arguments; `x.f(y)` means `f(x, y)`.
FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Json], int]]] = {
    "size": (_size, 1),
    "contains": (_contains, 2),
    "startsWith": (lambda _, text, start: _text(text).startswith(_text(start)), 2),
    "endsWith": (lambda _, text, end: _text(text).endswith(_text(end)), 2),
    "matches": (_matches, 2),
    "lower": (_lower, 1),
    "words": (_words, 1),
    "similarity": (_similarity, 2),
    "json": (_json, 1),
    "string": (_string, 1),
    "double": (_to_double, 1),
    "int": (lambda meter, value: float(trunc(_to_double(meter, value))), 1),
    "dyn": (lambda _, value: value, 1),
}


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise EvaluationError(f"expected a text, got {_kind(value)}")
    return value


def _double(value: Json) -> float:
    try:
        return float(value)
    except OverflowError:
        raise EvaluationError("a number is too large") from None


def _finite(value: float) -> float:
    if not isfinite(value):
        raise EvaluationError("the result is not a finite number")
    return value


def _kind(value: Json) -> str:
    names = {str: "a text", bool: "a boolean", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")
