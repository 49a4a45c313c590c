"""Which request, run, shard, job or upload a line of the log is about."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_ids: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039  never changed

NAMES: Final = ("request", "run", "shard", "job", "upload")
#: Where a request of Django has its id, also when the block around it has ended.
META_KEY: Final = "HTTP_X_REQUEST_ID"


@contextmanager
def log_context(**ids: object) -> Iterator[None]:
    """Lines that are logged inside the block, by this thread or task, name these ids as well."""
    token = _ids.set({**_ids.get(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _ids.reset(token)


def current_ids() -> Mapping[str, str]:
    """The ids of the block around, by what they are of."""
    return _ids.get()


def _ids_of_request(record: logging.LogRecord) -> Mapping[str, str]:
    """What Django hands over with its lines about an answer."""
    meta = getattr(getattr(record, "request", None), "META", {})
    return {"request": meta[META_KEY]} if META_KEY in meta else {}


class IdsFilter(logging.Filter):
    """Gives a record the ids as attributes, for JSON, and as ` run=…` in `ids`, for text."""

    def filter(self, record: logging.LogRecord) -> bool:
        ids = {**_ids_of_request(record), **current_ids()}
        for name in NAMES:
            setattr(record, f"{name}_id", ids.get(name))
        record.ids = "".join(f" {name}={value}" for name, value in ids.items())
        return True
