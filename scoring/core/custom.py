"""Custom scorer types, made from Python functions of a site or a package.

    def length_at_least(output, *, characters: int = 10) -> bool:
        return len(output) >= characters

Listed in the entry-point group `evalsite.scorers`, or by dotted path in EVALSITE_SCORERS. A plain
function takes any of `input`, `output`, `expected` and gives a score, a boolean or a Result, also
as a coroutine; its keyword-only parameters become the config. `batch` marks a function of many
cases instead.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, make_dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final, get_type_hints

from scoring.core.config import Config, config_fields
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    Result,
    ServiceError,
    error,
    scored,
)
from scoring.core.json_text import check_value
from scoring.core.registry import ScorerType, register
from scoring.core.scorers.selection import TargetConfig, problem_result, select_target

ENTRY_POINTS: Final = "evalsite.scorers"
DEFAULT_THRESHOLD: Final = 0.5
CASE_PARAMETERS: Final = ("input", "output", "expected")
CONCURRENCY: Final = 32  # coroutines of one batch that run at the same time
_RESERVED: Final = {"threshold", "target_output_key"}
_BATCH_MARK: Final = "_evalsite_batch_config"

Function = Callable[..., Any]


def batch(config: type[Config] = TargetConfig) -> Callable[[Function], Function]:
    """Mark a function `(cases, config) -> results` as a scorer of many cases at once."""

    def mark(function: Function) -> Function:
        setattr(function, _BATCH_MARK, config)
        return function

    return mark


def custom_type(name: str, function: Function | ScorerType) -> ScorerType:
    """The scorer type of a function. Raises ValueError when its parameters do not fit."""
    if isinstance(function, ScorerType):
        return function
    if not callable(function):
        raise TypeError(f"{name}: {type(function).__name__} is not a function")
    config = getattr(function, _BATCH_MARK, None)
    score = _batch_score(function) if config else _case_score(function)
    lines = (inspect.getdoc(function) or "").splitlines()
    return ScorerType(
        name=name,
        label=name.replace("_", " ").capitalize(),
        summary=lines[0] if lines else f"The custom scorer {name}.",
        config=config or _config_class(name, function),
        score=score,
        default_threshold=DEFAULT_THRESHOLD,
        family="custom",
    )


def load_custom(paths: Iterable[str]) -> None:
    """Register the functions of these dotted paths under their own names.

    Raises ConfigError on `EVALSITE_SCORERS` for a path that cannot be used.
    """
    for path in paths:
        module_name, _, attribute = path.replace(":", ".").rpartition(".")
        try:
            function = getattr(import_module(module_name), attribute)
            register(custom_type(attribute, function))
        except (ImportError, AttributeError, TypeError, ValueError) as fault:
            raise ConfigError({"EVALSITE_SCORERS": [f"{path}: {fault}"]}) from fault


@cache
def load_installed() -> tuple[str, ...]:
    """Register the scorers of installed packages, once. Returns what is wrong with any of them."""
    problems: list[str] = []
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            register(custom_type(entry.name, entry.load()))
        except Exception as fault:  # noqa: BLE001 - one broken package must not stop the site
            problems.append(f"{entry.name} ({entry.value}): {type(fault).__name__}: {fault}")
    return tuple(problems)


def _config_class(name: str, function: Function) -> type[Config]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            _check_parameter(name, parameter)
            continue
        if parameter.name in _RESERVED:
            raise ValueError(f"{name}: the parameter {parameter.name} is reserved")
        fields.append(_field(parameter, hints.get(parameter.name)))
    title = "".join(map(str.capitalize, name.split("_"))) + "Config"
    config = make_dataclass(title, fields, bases=(TargetConfig,), frozen=True, kw_only=True)
    config_fields(config)  # raises for what cannot be a setting
    return config


def _check_parameter(name: str, parameter: inspect.Parameter) -> None:
    is_named = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    if not is_named or parameter.name not in CASE_PARAMETERS:
        allowed = ", ".join(CASE_PARAMETERS)
        raise ValueError(
            f"{name}: the parameter {parameter.name} is none of {allowed}; put a * before it to"
            " make it a setting"
        )


def _field(parameter: inspect.Parameter, hint: Any) -> tuple[str, Any, Any]:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name, hint or Json, field()
    kind = hint or (type(default) if default is not None else Json)
    if isinstance(default, list | dict):
        return parameter.name, kind, field(default_factory=lambda: type(default)(default))
    return parameter.name, kind, field(default=default)


def _case_score(function: Function) -> Callable[[Sequence[Case], Any], list[Result]]:
    parameters = inspect.signature(function).parameters
    wanted = [name for name in CASE_PARAMETERS if name in parameters]
    settings = [p.name for p in parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    def arguments(case: Case, config: Any) -> dict[str, Any]:
        values = {name: getattr(case, name) for name in wanted}
        return values | {name: getattr(config, name) for name in settings}

    def score(cases: Sequence[Case], config: Any) -> list[Result]:
        targets = [select_target(case, config) for case in cases]
        calls = [arguments(case, config) for case in targets if isinstance(case, Case)]
        results = iter(_call_each(function, calls))
        return [case if isinstance(case, Result) else next(results) for case in targets]

    return _name_after(score, function)


def _call_each(function: Function, calls: Sequence[Mapping[str, Any]]) -> list[Result]:
    if not inspect.iscoroutinefunction(function):
        return [_call(function, call) for call in calls]
    # In a thread of its own, because this one may already run an event loop.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, _await_each(function, calls)).result()


def _call(function: Function, call: Mapping[str, Any]) -> Result:
    try:
        return as_result(function(**call))
    except ServiceError:
        raise
    except Exception as fault:  # noqa: BLE001 - a bug of the function is this case's error
        return _failure(fault)


async def _await_each(function: Function, calls: Sequence[Mapping[str, Any]]) -> list[Result]:
    limit = asyncio.Semaphore(CONCURRENCY)

    async def call_one(call: Mapping[str, Any]) -> Result:
        async with limit:
            try:
                return as_result(await function(**call))
            except ServiceError:
                raise
            except Exception as fault:  # noqa: BLE001 - as in _call
                return _failure(fault)

    return await asyncio.gather(*map(call_one, calls))


def _batch_score(function: Function) -> Callable[[Sequence[Case], Any], list[Result]]:
    def score(cases: Sequence[Case], config: Any) -> list[Result]:
        has_target = isinstance(config, TargetConfig)
        targets = [select_target(case, config) if has_target else case for case in cases]
        live = [case for case in targets if isinstance(case, Case)]
        answers = list(function(live, config)) if live else []
        if len(answers) != len(live):
            raise ValueError(f"{len(answers)} results for {len(live)} cases")
        results = iter(map(as_result, answers))
        return [case if isinstance(case, Result) else next(results) for case in targets]

    return _name_after(score, function)


def as_result(answer: Any) -> Result:
    """The return value of a custom scorer as a Result that keeps the contract."""
    if isinstance(answer, Result):
        return _check_result(answer)
    if isinstance(answer, bool | int | float):
        return scored(float(answer))
    kind = type(answer).__name__
    return error("not_a_score", f"the scorer gave {kind}; a number, boolean or Result is needed")


def _check_result(result: Result) -> Result:
    try:
        check_value(dict(result.metadata))
    except CaseProblem as problem:
        return error("invalid_result", f"metadata: {problem.text}")
    if result.status != "scored":
        return result._replace(score=None, verdict=None)
    if result.code and result.verdict == "fail":
        return result._replace(score=0.0)
    if result.code:
        return error("invalid_result", "a scored result may not use `code` in its metadata")
    if isinstance(result.score, bool) or not isinstance(result.score, int | float):
        return error("not_a_score", "a scored result needs a number as its score")
    return result._replace(score=float(result.score), verdict=None, reason=str(result.reason))


def _failure(fault: Exception) -> Result:
    if isinstance(fault, CaseProblem):
        return problem_result(fault)
    return error("scorer_failed", f"{type(fault).__name__}: {str(fault)[:200]}")


def _name_after(score: Function, function: Function) -> Function:
    score.__module__, score.__qualname__ = function.__module__, function.__qualname__
    return score
