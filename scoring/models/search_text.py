"""The column that searches read where the database cannot fold a text, and their lookup."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Lookup
from django.db.models.sql.compiler import SQLCompiler

from scoring.core.search_text import lower_ascii, may_need_copy, search_copy

SEPARATOR: Final = "\x1f"  # between the texts of one copy; JSON has none
_WILDCARDS: Final = re.compile(r"([\\%_])")


class SearchTextField(models.TextField):  # type: ignore[type-arg]  # not generic at run time
    """The folded copy of the texts in the columns `sources`; None where they are searched as is.

    A copy of several is JSON throughout: what a column without `_json` in its name holds is quoted.
    It follows its sources whenever a row is saved or inserted in bulk.
    """

    def __init__(self, *sources: str, **options: Any) -> None:
        self.sources = sources
        super().__init__(**{"null": True, "editable": False, **options})

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, path, _, options = super().deconstruct()
        return name, path, self.sources, options

    def pre_save(self, model_instance: models.Model, add: bool) -> str | None:  # noqa: ARG002 - Django's signature
        copy = self.copy_of([getattr(model_instance, name) for name in self.sources])
        setattr(model_instance, self.attname, copy)
        return copy

    def copy_of(self, texts: Sequence[str | None]) -> str | None:
        """The copy for these texts of the sources, in their order."""
        if not any(text and may_need_copy(text) for text in texts):
            return None
        if len(self.sources) == 1:
            return search_copy(texts[0] or "")
        parts = (
            text or "" if name.endswith("_json") else quoted_text(text or "")
            for name, text in zip(self.sources, texts, strict=True)
        )
        return search_copy(SEPARATOR.join(parts))


def quoted_text(text: str) -> str:
    """The text as it stands in JSON, without the quotation marks around it."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def with_search_text(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
    """The columns and rows of an insertion with the copies that the model's rows need, if any."""
    for field in model._meta.concrete_fields:
        if not isinstance(field, SearchTextField):
            continue
        places = [columns.index(name) if name in columns else None for name in field.sources]
        texts = [[None if at is None else row[at] for row in rows] for at in places]
        # Most batches need none, which one look at all their texts tells.
        if any(may_need_copy("".join(filter(None, of_column))) for of_column in texts):
            copies = map(field.copy_of, zip(*texts, strict=True))
            rows = [(*row, copy) for row, copy in zip(rows, copies, strict=True)]
            columns = (*columns, field.attname)
    return columns, rows


@models.CharField.register_lookup
@models.TextField.register_lookup
class FoldedContains(Lookup):
    """`column__holds=text`: whether it holds the text, in any case of ASCII letters; where the
    column or its copy is folded further, the text has to be folded, too.
    """

    lookup_name = "holds"

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        column, values = self.process_lhs(compiler, connection)
        if connection.vendor != "sqlite":  # whose LIKE ignores the case of just these letters
            column = _lowered(column, connection)
        pattern = _WILDCARDS.sub(r"\\\1", lower_ascii(self.rhs))
        return f"{column} LIKE %s ESCAPE '\\'", (*values, f"%{pattern}%")


@models.CharField.register_lookup
@models.TextField.register_lookup
class SameText(Lookup):
    """`column__same=text`: whether they are equal but for the case of ASCII letters."""

    lookup_name = "same"

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        column, values = self.process_lhs(compiler, connection)
        return f"{_lowered(column, connection)} = %s", (*values, lower_ascii(self.rhs))


def _lowered(column: str, connection: BaseDatabaseWrapper) -> str:
    """The column's text with ASCII letters in lower case, and no others, whatever the locale."""
    return f"LOWER({column})" if connection.vendor == "sqlite" else f'LOWER({column} COLLATE "C")'
