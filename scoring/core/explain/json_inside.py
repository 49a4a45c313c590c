"""JSON inside other text that a scorer could extract, where it refused the output as no JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scoring.core.contract import Json
from scoring.core.registry import find_type
from scoring.core.scorers.extraction import describe_json_inside
from scoring.core.scorers.selection import ExtractingConfig

JSON: Final = "json"  # the setting that extracts it


def find_json_inside(type_name: str, config: Mapping[str, Json], output: Json, code: str) -> str:
    """What of the output holds JSON, "a fenced block" or "the text"; "" to offer nothing.

    `code` is that of the scorer's result.
    """
    kind = find_type(type_name)
    may_extract = kind is not None and issubclass(kind.config, ExtractingConfig)
    if code != "invalid_json" or not may_extract or config.get("extract") is not None:
        return ""
    return describe_json_inside(output) if isinstance(output, str) else ""
