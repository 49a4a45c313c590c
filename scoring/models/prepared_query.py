"""Queries whose SQL Django writes once instead of at each call.

For most of a page's queries, building the queryset and writing its SQL takes several times as long
as the database takes to answer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from datetime import date
from functools import update_wrapper
from inspect import signature
from typing import Any, Final, Generic, ParamSpec, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import BigIntegerField, Expression, QuerySet, Value

P = ParamSpec("P")
RowT = TypeVar("RowT")

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\b")
MAX_STATEMENTS: Final = 64  # of one query and thread
MAX_LISTED: Final = 300  # values of a list; longer ones rarely come twice and take much memory


class PreparedQuery(Generic[P, RowT]):
    """A function that returns a queryset, made into one that returns the list of its rows.

    Its positional arguments are plain values (ids, numbers, texts, times) or lists of them, never
    None. The function is called with placeholders in their stead, so only the values of lookups may
    depend on them. On keyword-only arguments, which stay what they are, all may depend.

    Its SQL is kept for each thread, for each value of the latter and each length of the lists, but
    not for lists of more than MAX_LISTED. What else the function reads stays as it was, so the time
    of day is an argument too.
    """

    def __init__(self, build: Callable[P, QuerySet[Any, RowT]]) -> None:
        self._build: Callable[..., QuerySet[Any, RowT]] = build
        self._bind = signature(build).bind
        self._kept = threading.local()
        update_wrapper(self, build)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[RowT]:
        bound = self._bind(*args, **kwargs)
        bound.apply_defaults()
        if any(_is_list(value) and len(value) > MAX_LISTED for value in bound.args):
            return list(self._build(*bound.args, **bound.kwargs))
        shape = (*map(_shape, bound.args), *bound.kwargs.values())
        statements: dict[Any, _Statement[RowT]] = vars(self._kept)
        statement = statements.get(shape)
        if statement is None or not statement.is_current:
            if len(statements) >= MAX_STATEMENTS:
                statements.clear()
            placeholders = [_placeholder(n, value) for n, value in enumerate(bound.args)]
            statement = _Statement(self._build(*placeholders, **bound.kwargs))
            statements[shape] = statement
        return statement.read(bound.args)

    def first(self, *args: P.args, **kwargs: P.kwargs) -> RowT | None:
        """The first row, None without one. All are read: the queryset says how many."""
        return next(iter(self(*args, **kwargs)), None)


prepared_query = PreparedQuery


class Placeholder(Expression):
    """Stands in a queryset for an argument, or for the value at `place` of one that is a list."""

    def __init__(self, argument: int, field: Any, place: int | None = None) -> None:
        super().__init__(output_field=field)
        self._argument, self._place = argument, place

    def as_sql(self, *_: Any) -> Any:
        """The parameter is the placeholder, until a value takes its place."""
        return "%s", [self]

    def bind(self, arguments: Sequence[Any], connection: Any) -> Any:
        """What the database is given."""
        value = arguments[self._argument]
        value = value if self._place is None else value[self._place]
        return self.output_field.get_db_prep_value(value, connection)


class _Statement(Generic[RowT]):
    """A queryset with its SQL. Not for two threads: it keeps the arguments while it reads."""

    def __init__(self, queryset: Any) -> None:
        self._queryset = queryset
        if queryset._prefetch_related_lookups:
            raise TypeError("what is prefetched has queries of its own: prepare those")
        self._arguments: Sequence[Any] = ()
        self._compiler = compiler = queryset.query.get_compiler(queryset.db)
        try:
            self._sql, self._parameters = compiler.as_sql()
        except EmptyResultSet:
            self._sql, self._parameters = "", ()
        if any(_is_time(parameter) for parameter in self._parameters):
            raise TypeError("a time would stay the same at each call: make it an argument")
        converters = compiler.get_converters([column for column, *_ in compiler.select or ()])
        vars(compiler).update(as_sql=self._bound_sql, get_converters=lambda _: converters)
        vars(queryset.query).update(get_compiler=lambda *_, **__: compiler)

    @property
    def is_current(self) -> bool:
        """Whether the thread has still the connection that this is for."""
        return self._compiler.connection is connections[self._queryset.db]

    def read(self, arguments: Sequence[Any]) -> list[RowT]:
        self._arguments = arguments
        try:
            return list(self._queryset._iterable_class(self._queryset))
        except OverflowError:  # SQLite's, for an integer that no column can hold
            return []

    def _bound_sql(self, *_: Any, **__: Any) -> tuple[str, tuple[Any, ...]]:
        connection, arguments = self._compiler.connection, self._arguments
        return self._sql, tuple(
            value.bind(arguments, connection) if isinstance(value, Placeholder) else value
            for value in self._parameters
        )


def _is_time(parameter: Any) -> bool:
    """Whether the database is given a date or time, which may be the present one."""
    is_text = isinstance(parameter, str)
    return isinstance(parameter, date) or (is_text and bool(_DATE.match(parameter)))


def _shape(value: Any) -> Any:
    """What a queryset may depend on: the type of a value, the length of a list."""
    if value is None:
        raise TypeError("None is no value to look for: nothing equals it in SQL")
    return (len(value), *map(type, value[:1])) if _is_list(value) else type(value)


def _placeholder(argument: int, value: Any) -> Any:
    if not _is_list(value):
        return Placeholder(argument, _field_of(value))
    field = _field_of(value[0]) if value else None
    return [Placeholder(argument, field, place) for place in range(len(value))]


def _field_of(value: Any) -> Any:
    """What prepares such values for the database; of integers all that an id can be."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return BigIntegerField() if is_integer else Value(value).output_field


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))
