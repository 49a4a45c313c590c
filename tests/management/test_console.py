"""What commands share: names, dates, files that can be written, tables, and errors of usage."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError
from django.db import DatabaseError, IntegrityError, OperationalError, ProgrammingError
from psycopg.errors import LockNotAvailable, SyntaxErrorOrAccessRuleViolation, UndefinedTable

from scoring.management.console import (
    check_writable,
    checked_name,
    count_text,
    parse_date,
    requires_database,
    text_table,
)


def caused(fault: Exception, cause: Exception) -> Exception:
    """As Django raises what a driver has said."""
    fault.__cause__ = cause
    return fault


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T09:30", datetime(2026, 11, 20, 9, 30, tzinfo=UTC)),
        ("2026-11-20T09:30+01:00", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_date_without_an_offset_is_in_utc(text: str, moment: datetime) -> None:
    assert parse_date(text) == moment
    assert parse_date(text).tzinfo == UTC


@pytest.mark.parametrize("text", ["", "today", "2026-13-01", "0001-01-01T00:00+01:00"])
def test_what_is_no_date_is_told_how_to_write_one(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="write it like 2026-11-20"):
        parse_date(text)


@pytest.mark.parametrize("name", [" a ", "x" * 120, "é"])
def test_a_name_is_kept_without_outer_white_space(name: str) -> None:
    assert checked_name("--name", name) == name.strip()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * 121, "--name: the name has 121 characters; 120 are possible."),
        ("a\x1bb", "control characters"),
        ("a\u202eb", "control characters"),
        ("a\udcff", "not UTF-8"),
    ],
)
def test_a_name_that_cannot_be_kept_whole_is_refused(name: str, said: str) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        checked_name("--name", name)
    assert raised.value.returncode == 2


def test_a_file_is_tried_without_leaving_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    for path in (kept, tmp_path / "new"):
        check_writable(path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "as it was")]
    with pytest.raises(CommandError, match="cannot be written: Is a directory"):
        check_writable(tmp_path)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OperationalError("no such table"), "no such table; `manage.py migrate` sets"),
        (DatabaseError("malformed"), "cannot be used: malformed; restore it from a copy"),
        (
            caused(
                ProgrammingError('relation "t" does not exist\nLINE 1: SELECT'), UndefinedTable()
            ),
            'relation "t" does not exist; `manage.py migrate` sets',
        ),
        (
            caused(
                OperationalError("connection refused\n\tIs it there?"), psycopg.OperationalError()
            ),
            "cannot be reached: connection refused; DATABASE_URL says where it is",
        ),
        (
            caused(OperationalError("canceling statement"), LockNotAvailable()),
            "is busy: canceling statement; try again",
        ),
    ],
)
def test_a_database_that_is_not_there_is_an_error_of_usage(fault: Exception, said: str) -> None:
    with pytest.raises(CommandError, match=said) as raised, requires_database():
        raise fault
    assert raised.value.returncode == 2


@pytest.mark.parametrize(
    "fault",
    [
        IntegrityError("UNIQUE constraint failed"),
        caused(ProgrammingError("syntax error"), SyntaxErrorOrAccessRuleViolation()),
    ],
)
def test_a_fault_of_ours_is_no_error_of_usage(fault: Exception) -> None:
    with pytest.raises(type(fault)), requires_database():
        raise fault


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1_000, "1,000 cases")]
)
def test_what_is_counted_has_its_number(count: int, text: str) -> None:
    assert count_text(count, "case") == text
    assert count_text(2, "entry", "entries") == "2 entries"


def test_columns_of_a_table_are_aligned_but_for_the_last() -> None:
    rows = [("long name", 1, "x" * 90), ("b", 1_000, "")]
    assert text_table(("name", "n", "text"), rows) == [
        "name       n     text",
        "long name  1     " + "x" * 90,
        "b          1000",
    ]
