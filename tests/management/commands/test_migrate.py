"""`manage.py migrate` refuses a database before it touches it; see tests/management for others."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate

from scoring.management.commands import migrate


@pytest.mark.parametrize("problem", ["", "it is of a newer Evalsite"])
def test_a_database_with_a_problem_is_not_migrated(
    monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    asked: list[str] = []
    noted: list[str] = []
    migrated: list[str] = []

    def find_problem(connection: Any) -> str:
        asked.append(connection.alias)
        return problem

    monkeypatch.setattr(migrate, "find_problem", find_problem)
    monkeypatch.setattr(migrate, "note_account_table", lambda found: noted.append(found.alias))
    monkeypatch.setattr(
        django_migrate.Command, "handle", lambda _, *__, **options: migrated.append("done")
    )
    if problem:
        with pytest.raises(CommandError, match="newer") as raised:
            call_command("migrate", skip_checks=True)
        assert raised.value.returncode == 2
    else:
        call_command("migrate", skip_checks=True)
    assert (asked, migrated) == (["default"], [] if problem else ["done"])
    assert noted == ([] if problem else ["default"])
