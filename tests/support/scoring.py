"""Scoring one case, as most tests want it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import EMPTY, Case, ConfigError, Result


def one(
    type_name: str,
    output: Any,
    expected: Any = None,
    config: Mapping[str, Any] = EMPTY,
    **case: Any,
) -> Result:
    """The judged result of a single case."""
    (result,) = configure_scorer(type_name, config).score([Case(output, expected, **case)])
    return result


def refused(type_name: str, config: Mapping[str, Any], threshold: Any = None) -> dict[str, Any]:
    """The errors that binding this config raises."""
    with pytest.raises(ConfigError) as caught:
        configure_scorer(type_name, config, threshold)
    return caught.value.errors
