"""One object's fault ends the work on that object alone, never a loop that others share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError

from scoring.core.database_lock import is_locked
from scoring.core.disk_full import is_disk_full
from scoring.core.lost_connection import is_lost
from scoring.core.refused_statement import is_refused

log = logging.getLogger(__name__)

Row = TypeVar("Row")


def is_unwritable(fault: BaseException) -> bool:
    """Whether the database cannot be used at present, whatever the object: try again later.

    What is the fault of a statement is the object's.
    """
    if isinstance(fault, OperationalError | InterfaceError):
        return not is_refused(fault)
    return is_locked(fault) or is_disk_full(fault) or is_lost(fault)


def do_each(rows: Iterable[Row], step: Callable[[Row], Any], task: str) -> int:
    """Take the step for every row and count those for which it returned something true.

    A row for which it fails is logged under the name of the task, and the next one follows. Raises
    where the database cannot be written, which would fail for all of them alike.
    """
    return sum(bool(_do_alone(row, step, task)) for row in rows)


def _do_alone(row: Row, step: Callable[[Row], Any], task: str) -> Any:
    try:
        return step(row)
    except Exception as fault:
        if is_unwritable(fault):
            raise
        log.exception("%s failed for %r", task, row)
        return None
