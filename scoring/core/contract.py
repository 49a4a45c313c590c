"""The scorer contract: what every scorer type receives and returns.

A scorer takes many cases and answers with as many results, in the same order. It is pure: no
clock, no database, no global state. A fault in one case is a result, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Json = Any  # any JSON value: str, int, float, bool, None, list or dict

Status = Literal["scored", "error", "skipped"]
Verdict = Literal["pass", "fail"]

EMPTY: Mapping[str, Json] = {}


class Case(NamedTuple):
    """One thing to score.

    `output` and `input` are text or any JSON value. `expected` is None when it is absent (JSON
    null and absent mean the same; an empty string is present). `failure` is non-empty when the
    output could not be produced: every scorer then answers `error` with the code `no_output`.
    """

    output: Json
    expected: Json = None
    input: Json = None
    id: str = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = EMPTY
    tags: tuple[str, ...] = ()
    failure: str = ""


class Result(NamedTuple):
    """What one scorer says of one case.

    `score` is a float in 0..1 when `status` is `scored`, else None. A scorer type leaves
    `verdict` None and the threshold decides it; a *forced* result (missing expected, unusable
    output) already carries `fail`, which no threshold changes. `metadata` holds the arithmetic
    behind the score, and under `code` the stable code of a problem; equal results may share one
    object, so it is never changed.
    """

    status: Status
    score: float | None
    verdict: Verdict | None
    reason: str
    metadata: Mapping[str, Json]

    @property
    def code(self) -> str:
        """The stable code of this result's problem, or an empty string."""
        return str(self.metadata.get("code", ""))


def scored(score: float, reason: str = "", metadata: Mapping[str, Json] = EMPTY) -> Result:
    """A score that the threshold will judge."""
    return Result("scored", score, None, reason, metadata)


def forced_fail(code: str, reason: str, metadata: Mapping[str, Json] = EMPTY) -> Result:
    """Score 0 and verdict `fail`, whatever the threshold."""
    return Result("scored", 0.0, "fail", reason, {**metadata, "code": code})


def error(code: str, reason: str, metadata: Mapping[str, Json] = EMPTY) -> Result:
    """No score: something outside the output went wrong."""
    return Result("error", None, None, reason, {**metadata, "code": code})


def skipped(code: str, reason: str, metadata: Mapping[str, Json] = EMPTY) -> Result:
    """No score: there was nothing to judge."""
    return Result("skipped", None, None, reason, {**metadata, "code": code})


class ConfigError(Exception):
    """A scorer's config cannot be used. `errors` maps each field to its messages."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {' '.join(texts)}" for name, texts in errors.items()))


class CaseProblem(Exception):  # noqa: N818 - the word the project uses
    """One case cannot be scored; the run goes on. `code` is stable, the text says what to do.

    `where` is the path of the fault inside a JSON value, where there is one to name.
    """

    def __init__(self, code: str, text: str, where: str = "") -> None:
        self.code, self.text, self.where = code, text, where
        super().__init__(text)


class OutsideProblem(CaseProblem):
    """A case problem whose cause is not the output: its expected value or the config."""


class ServiceError(Exception):
    """Something a scorer depends on did not answer. `retry` says whether trying again may help."""

    def __init__(self, text: str, *, retry: bool) -> None:
        self.text, self.retry = text, retry
        super().__init__(text)
