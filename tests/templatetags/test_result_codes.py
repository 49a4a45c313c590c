"""Each code of a problem once, with what it means."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from evalsite.templatetags.result_codes import codes
from scoring.core.explain.result_codes import code_meaning

UNSCORED: Any = SimpleNamespace(summary=None)


def figure(**errors: int) -> Any:
    """A scorer's summary with these errors, and the fault `no_output` without one."""
    told = {"causes": dict.fromkeys(errors, 1), "faults": {"no_output": 1}, "error_causes": errors}
    return SimpleNamespace(summary=SimpleNamespace(**told))


@pytest.mark.parametrize(
    ("with_custom", "told"),
    [
        (False, [("no_output", 0), ("timeout", 3)]),
        (True, [("no_output", 0), ("odd", 2), ("timeout", 3)]),
    ],
)
def test_a_code_has_the_errors_of_all_scorers(
    with_custom: bool, told: list[tuple[str, int]]
) -> None:
    figures = [figure(timeout=1, odd=2), figure(timeout=2, harmless=0), UNSCORED]
    found = codes(figures, with_custom)
    assert [(cause.code, cause.errors) for cause, _ in found] == told
    assert all(text == code_meaning(cause.code) for cause, text in found)
