"""Prompt templates: a text with places such as `{{ input.question }}` filled from a case.

Places name values and nothing else: no calls, no conditions, no code. What is filled in is never
read as a template again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scoring.core.contract import Case, CaseProblem, Json
from scoring.core.json_path import Path, parse_path, path_text
from scoring.core.json_text import parse, text_of

MAX_CHARACTERS: Final = 50_000
FIELDS: Final = ("input", "expected", "references", "metadata", "tags", "key")

_PLACE = re.compile(r"\{\{\s*(?P<path>[^{}]*?)\s*\}\}")
_ODD = re.compile(r"\{\{|\}\}|\{%|%\}")


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt text with places. Two braces that open no place are refused, not passed on."""

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
        shown = _fields_of(case)
        return _PLACE.sub(lambda place: _text_at(shown, self._paths[place["path"]]), self.text)

    @cached_property
    def _paths(self) -> Mapping[str, Path]:
        """Each place's path by its text. Raises ValueError for one that cannot be read."""
        return {place["path"]: _path(place["path"]) for place in _PLACE.finditer(self.text)}


def _path(text: str) -> Path:
    path = parse_path(text) if text else ()
    if not path or path[0] not in FIELDS:
        known = ", ".join(FIELDS)
        raise ValueError(f"{{{{ {text} }}}} names no field of a case; the fields are {known}")
    return path


def _fields_of(case: Case) -> dict[str, Json]:
    return {
        "input": case.input,
        "expected": case.expected,
        "references": list(case.references),
        "metadata": dict(case.metadata),
        "tags": list(case.tags),
        "key": case.id,
    }


def _text_at(shown: Mapping[str, Json], path: Path) -> str:
    value: Any = shown[str(path[0])]
    for step in path[1:]:
        value = _inside(value, step, path)
    return text_of(value)


def _inside(value: Json, step: str | int, path: Path) -> Json:
    """The part of a value, which may be JSON written as text."""
    if isinstance(value, str):
        value = _parsed(value, path)
    is_there = (
        step < len(value)
        if isinstance(value, list) and isinstance(step, int)
        else isinstance(value, dict) and step in value
    )
    if not is_there:
        raise CaseProblem("place_empty", f"the case has nothing at {path_text(path)}")
    return value[step]


def _parsed(text: str, path: Path) -> Json:
    try:
        return parse(text)
    except CaseProblem:
        raise CaseProblem("place_empty", f"the case has nothing at {path_text(path)}") from None
