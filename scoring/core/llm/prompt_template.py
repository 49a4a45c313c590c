"""Prompt templates: texts with placeholders such as `{{ input.question }}`, filled from a case.

A placeholder names a value and nothing else: no calls, no conditions, no code. Values that are
filled in are never read as templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scoring.core.contract import Case, CaseProblem, Json
from scoring.core.json_path import Path, parse_path, path_text
from scoring.core.json_text import parse, to_text

MAX_CHARACTERS: Final = 50_000
FIELDS: Final = ("input", "expected", "references", "metadata", "tags", "key")

_PLACE = re.compile(r"\{\{\s*(?P<path>[^{}]*?)\s*\}\}")
_ODD = re.compile(r"\{\{|\}\}|\{%|%\}")


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt with placeholders. Two braces that open no placeholder are refused."""

    text: str

    def problem(self) -> str:
        """What is wrong with the template, in a sentence; empty when nothing is."""
        if not self.text.strip():
            return "the prompt is empty"
        if len(self.text) > MAX_CHARACTERS:
            return f"the prompt is longer than {MAX_CHARACTERS:,} characters"
        try:
            self._paths  # noqa: B018 - reading them checks them
        except ValueError as fault:
            return str(fault)
        if odd := _ODD.search(_PLACE.sub("", self.text)):
            return f"{odd[0]} opens or closes no place; places look like {{{{ input }}}}"
        return ""

    @property
    def fields(self) -> frozenset[str]:
        """Which of FIELDS the template shows."""
        return frozenset(str(path[0]) for path in self._paths.values())

    def filled(self, case: Case) -> str:
        """The prompt for this case. Raises CaseProblem when a place names nothing in it."""
        values = {
            "input": case.input,
            "expected": case.expected,
            "references": list(case.references),
            "metadata": dict(case.metadata),
            "tags": list(case.tags),
            "key": case.id,
        }
        return _PLACE.sub(lambda match: _text_at(values, self._paths[match["path"]]), self.text)

    @cached_property
    def _paths(self) -> Mapping[str, Path]:
        """Each place's path by its text. Raises ValueError for one that cannot be read."""
        return {text: _parse_place(text) for text in _PLACE.findall(self.text)}


def _parse_place(text: str) -> Path:
    path = parse_path(text) if text else ()
    if not path or path[0] not in FIELDS:
        known = ", ".join(FIELDS)
        raise ValueError(f"{{{{ {text} }}}} names no field of a case; the fields are {known}")
    return path


def _text_at(values: Mapping[str, Json], path: Path) -> str:
    """The text of the value at the path; a value on the way may be JSON written as text."""
    value: Any = values[str(path[0])]
    try:
        for step in path[1:]:
            value = (parse(value) if isinstance(value, str) else value)[step]
    except (CaseProblem, LookupError, TypeError):
        text = f"the case has nothing at {path_text(path)}"
        raise CaseProblem("place_empty", text) from None
    return to_text(value)
