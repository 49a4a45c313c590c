"""The content of a case as typed values, and as the JSON texts that are stored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from scoring.core import json_text
from scoring.core.contract import CaseProblem, Json
from scoring.core.files import MISSING, Missing
from scoring.core.files.rows import MAX_CELL
from scoring.engine.imports.reader import exact_json
from scoring.models.data.dataset import CaseContent

Content = tuple[str, str | None, str, str, str]  # CONTENT: input, expected, references, …


class ContentError(Exception):
    """What was typed cannot be a case: `problems` holds a sentence for each field at fault."""

    def __init__(self, problems: dict[str, str]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))


@dataclass(frozen=True)
class TypedCase:
    """A case's content. Input and expected are any JSON value; expected may be MISSING."""

    input: Json
    expected: Json | Missing = MISSING
    references: tuple[str, ...] = ()
    metadata: dict[str, Json] | None = None
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: CaseContent) -> Self:
        return cls(
            row.input,
            row.expected if row.has_expected else MISSING,
            tuple(row.references),
            row.metadata,
            tuple(row.tags),
        )

    def columns(self) -> Content:
        """The JSON texts to store; raises ContentError."""
        problems: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not MISSING and (problem := _problem(value)):
                problems[field.name] = problem
        if problems:
            raise ContentError(problems)
        return (
            exact_json(self.input),
            None if isinstance(self.expected, Missing) else exact_json(self.expected),
            exact_json(list(self.references)),
            exact_json(self.metadata or {}),
            exact_json(list(_distinct(self.tags))),
        )


def with_tags(content: Content, tags: list[str]) -> Content:
    return (*content[:-1], exact_json(list(_distinct(tags))))


def _problem(value: Any) -> str:
    value = list(value) if isinstance(value, tuple) else value
    try:
        json_text.check_value(value, refuse_nul=True)
    except CaseProblem as fault:
        return f"{fault.text[:1].upper()}{fault.text[1:]}."
    size = len(value) if isinstance(value, str) else len(exact_json(value))
    if size > MAX_CELL:
        return f"This is {size:,} characters long; {MAX_CELL:,} are possible."
    return ""


def _distinct(texts: tuple[str, ...] | list[str]) -> dict[str, None]:
    return dict.fromkeys(text for text in texts if text)
