"""`manage.py export_team`, and `import_team` after it: what they did and what is wrong."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scoring.models import AuditEntry, Team, User
from tests.conftest import MakeDataset
from tests.support.database import empty_tables

pytestmark = pytest.mark.django_db(transaction=True)


def said(*words: object, **options: object) -> str:
    out = io.StringIO()
    call_command(*map(str, words), stdout=out, **options)
    return out.getvalue()


def test_a_team_is_moved(team: Team, bob: User, make_dataset: MakeDataset, tmp_path: Path) -> None:
    make_dataset([{"input": "q", "expected": "a"}])
    target = tmp_path / "team.tar.gz"
    assert "Exported Support to " in said("export_team", target, team=team.slug)
    assert AuditEntry.objects.of(None).get().actor_name == "the operator"
    with pytest.raises(CommandError, match="say --overwrite"):
        said("export_team", target, team=team.slug)
    said("export_team", target, team=team.slug, overwrite=True)
    with pytest.raises(CommandError, match="already"):
        said("import_team", target)
    empty_tables()
    answer = said("import_team", target)
    assert "Imported Support as support, with " in answer
    assert "accounts are new and have no password" in answer
    assert "tokens, keys of connections, webhooks" in answer


def test_what_cannot_be_done_is_said(team: Team, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no team"):
        said("export_team", tmp_path / "team.tar", team="other")
    with pytest.raises(CommandError, match="cannot be written"):
        said("export_team", tmp_path / "none" / "team.tar", team=team.slug)
    with pytest.raises(CommandError, match="was not imported"):
        said("import_team", tmp_path / "none.tar")
