"""Copies stored cases into another version, unchanged, in short transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple

import orjson
from django.db import transaction

from scoring.engine.imports.case_writer import CASE_COLUMNS, ROWS_PER_TRANSACTION
from scoring.models import Case, DatasetVersion
from scoring.models.bulk import MANY_ROWS, bulk_insert, gather_statistics
from scoring.models.locks import lock_row

KeyedCase = tuple[str, str, str | None, str, str, str]  # key, then CONTENT

_COLUMNS: Final = CASE_COLUMNS[1:]
_LONG_NUMBER: Final = re.compile(r"\d{19}")


class CopyResult(NamedTuple):
    """How many cases were stored, and the version's content hash."""

    case_count: int
    content_hash: str


def iterate_cases(version: DatasetVersion) -> Iterator[KeyedCase]:
    """Every case of a version in order, read in chunks so that no cursor stays open."""
    rows = Case.objects.filter(version=version).order_by("position").values_list(*_COLUMNS)
    last = 0
    while chunk := list(rows.filter(position__gt=last)[:ROWS_PER_TRANSACTION]):
        last = chunk[-1][0]
        yield from (row[1:] for row in chunk)


def store_copies(version: DatasetVersion, cases: Iterable[KeyedCase]) -> CopyResult:
    """Store these as all cases of the version, in this order."""
    digest, count, rest = sha256(), 0, iter(cases)
    while chunk := list(islice(rest, ROWS_PER_TRANSACTION)):
        rows = [(version.pk, position, *case) for position, case in enumerate(chunk, count + 1)]
        with transaction.atomic():
            lock_row(version, "state")
            bulk_insert(Case, CASE_COLUMNS, rows)
        digest.update(_canonical_bytes(chunk))
        count += len(chunk)
    if count >= MANY_ROWS:
        gather_statistics(Case)
    return CopyResult(count, digest.hexdigest())


def _canonical_bytes(cases: Iterable[KeyedCase]) -> bytes:
    """The bytes that the import of a file digests for the same cases."""
    parts: list[str] = []
    for key, value, expected, references, metadata, tags in cases:
        parts += (key, _sort_keys(value), _sort_keys(expected or ""))
        parts += (references, _sort_keys(metadata), tags)
    return "\0".join([*parts, ""]).encode()


def _sort_keys(text: str) -> str:
    """The JSON text with sorted object keys; unchanged where it holds an integer beyond 64 bits."""
    if not text.startswith(("{", "[")) or text == "{}":
        return text
    value = json.loads(text) if _LONG_NUMBER.search(text) else orjson.loads(text)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        return text
