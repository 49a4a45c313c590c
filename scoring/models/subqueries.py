"""Parts of queries that several models' queries are made of."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Func, QuerySet, Subquery


def count_rows(rows: QuerySet[Any, Any]) -> Subquery:
    """How many rows the query has; they need not be grouped, as those of `Count` must."""
    counts = rows.order_by().annotate(row_count=Func(F("pk"), function="COUNT"))
    return Subquery(counts.values("row_count"))
