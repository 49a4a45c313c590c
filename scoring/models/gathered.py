"""Rows that hang on another row, gathered in one column of it, so that they cost no query."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import Aggregate, F, JSONField, OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject


class _Array(Aggregate):
    """The values of all rows as a JSON array, in any order."""

    function = "JSON_GROUP_ARRAY"
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_AGG", **context)


def gathered(rows: QuerySet[Any], by: str, **fields: str) -> Subquery:
    """A column for the rows that `by`, a foreign key, points to: a list of dicts, None for none.

    `fields` are looked up in `rows`; times and UUIDs come as texts, and the list has no order.
    """
    own = rows.filter(**{by: OuterRef("pk")}).order_by().values(by)
    objects = _Array(JSONObject(**{name: F(lookup) for name, lookup in fields.items()}))
    return Subquery(own.annotate(gathered=objects).values("gathered"))


def moment(text: str) -> datetime:
    """A time from such a column; SQLite writes it without its zone, UTC."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=when.tzinfo or UTC)
