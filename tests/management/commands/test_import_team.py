"""`manage.py import_team` without a database, and with a file that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.django_db
def test_a_file_that_is_no_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "team.tar"
    path.write_text("text")
    with pytest.raises(CommandError, match=r"team\.tar was not imported: it is no archive"):
        call_command("import_team", path)
