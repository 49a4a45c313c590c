"""Stored cases into another version, as they are, in short transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple

import orjson
from django.db import transaction

from scoring.engine.loading.intake import CASE_COLUMNS, ROWS_PER_TRANSACTION
from scoring.models import Case, DatasetVersion
from scoring.models.bulk import insert

Keyed = tuple[str, str, str | None, str, str, str]  # key, then CONTENT

_COLUMNS: Final = CASE_COLUMNS[1:]
_LONG_NUMBER: Final = re.compile(r"\d{19}")


class Copied(NamedTuple):
    """How many cases were stored, and the hash that recognises them."""

    case_count: int
    content_hash: str


def keyed_cases(version: DatasetVersion) -> Iterator[Keyed]:
    """Every case of a version in order, read in parts so that no cursor stays open."""
    rows = Case.objects.filter(version=version).order_by("position").values_list(*_COLUMNS)
    last = 0
    while part := list(rows.filter(position__gt=last)[:ROWS_PER_TRANSACTION]):
        last = part[-1][0]
        for row in part:
            yield row[1:]


def store(version: DatasetVersion, cases: Iterable[Keyed]) -> Copied:
    """Store these as all cases of the version, in this order."""
    digest, count, rest = sha256(), 0, iter(cases)
    while part := list(islice(rest, ROWS_PER_TRANSACTION)):
        rows = [(version.pk, position, *case) for position, case in enumerate(part, count + 1)]
        with transaction.atomic():
            insert(Case, CASE_COLUMNS, rows)
        digest.update(_canonical(part))
        count += len(part)
    return Copied(count, digest.hexdigest())


def _canonical(cases: Iterable[Keyed]) -> bytes:
    """The bytes that the import of a file digests for the same cases."""
    parts: list[str] = []
    for key, given, expected, references, metadata, tags in cases:
        parts += (key, _sorted(given), _sorted(expected or ""), references, _sorted(metadata), tags)
    return "\0".join([*parts, ""]).encode()


def _sorted(text: str) -> str:
    """The JSON text with the keys of its objects in order, as far as numbers let it be."""
    if not text.startswith(("{", "[")) or text == "{}":
        return text
    value = json.loads(text) if _LONG_NUMBER.search(text) else orjson.loads(text)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # an integer beyond 64 bits
        return text
