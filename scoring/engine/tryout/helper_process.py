"""The process behind `tryout`: answers (type, config, threshold, cases) until its pipe closes."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection
from typing import Any

from scoring.core import registry
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, ServiceError
from scoring.core.custom import load_custom

FAMILIES = {"deterministic", "combinator", "custom"}


def main(fd: int) -> None:
    with Connection(fd) as pipe:
        load_custom(pipe.recv())
        _warm_up()
        pipe.send("ready")
        try:
            while True:
                pipe.send(_answer(*pipe.recv()))
        except (EOFError, OSError):
            return


def _answer(
    kind: str, config: dict[str, Any], threshold: float | None, cases: list[Case]
) -> tuple[dict[str, list[str]] | None, list[tuple[Any, ...]]]:
    """Errors by config field or None, and plain tuples of results."""
    try:
        scorer = configure_scorer(kind, config, threshold)
        if scorer.needs_services:
            return {"type": [f"{kind} calls a model: use it in a run"]}, []
        return None, [tuple(result) for result in scorer.score(cases)]
    except ConfigError as fault:
        return fault.errors, []
    except ServiceError as fault:
        return {"type": [fault.text]}, []


def _warm_up() -> None:
    """Load what the first question would otherwise wait for."""
    import rapidfuzz.distance  # noqa: F401
    import re2  # noqa: F401

    for kind in registry.all_types().values():
        for example in kind.examples[:1] if kind.family in FAMILIES else ():
            configure_scorer(kind.name, example.config).score([example.case])


if __name__ == "__main__":
    main(int(sys.argv[1]))
