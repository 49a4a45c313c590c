"""What is written: everything of the team, nothing of others, no secret; at one moment."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from scoring.engine.team_archive import TeamArchiveError, export_team, exporting
from scoring.models import AuditEntry, Run, RunState, Team, Token, User
from tests.engine.team_archive.conftest import lines_of, rows_of
from tests.support.datasets import published_version, ready_outputs
from tests.support.run_states import finished_run


def test_what_stays_behind_is_not_in_the_file(archive: Path, alice: User) -> None:
    content = archive.read_bytes()
    token = Token.objects.get(name="nightly")
    for secret in ("sk-0123456789", alice.password, token.digest, "no one@"):
        assert secret.encode() not in content
    names = {name for name in rows_of(archive) if rows_of(archive)[name]}
    assert {"dataset.jsonl", "score.jsonl", "waiver.jsonl", "audit.jsonl"} <= names


def test_deleted_runs_and_rules_stay_behind(archive: Path) -> None:
    assert len(lines_of(archive, "run")) == Run.objects.count()
    assert Run.with_deleted.count() == Run.objects.count() + 1
    assert len(lines_of(archive, "alertrule")) == 2


def test_another_teams_rows_are_not_in_the_file(
    furnished: Team, tmp_path: Path, charlie: User
) -> None:
    before = tmp_path / "before.tar"
    export_team(furnished, before)
    other = Team.objects.get(slug="elsewhere")
    dataset = published_version(other, [{"input": "canary", "expected": "canary"}])
    finished_run(ready_outputs(dataset, ["canary"]), ("canary", "exact_match", {}))
    after = tmp_path / "after.tar"
    export_team(furnished, after)
    assert rows_of(before) == rows_of(after)
    assert b"canary" not in after.read_bytes()


def test_a_run_that_goes_on_is_waited_for(furnished: Team, tmp_path: Path) -> None:
    Run.objects.update(state=RunState.RUNNING)
    with pytest.raises(TeamArchiveError, match="have not ended"):
        export_team(furnished, tmp_path / "team.tar")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_kept(archive: Path, furnished: Team) -> None:
    before = archive.read_bytes()
    with pytest.raises(TeamArchiveError, match="is there already"):
        export_team(furnished, archive)
    assert archive.read_bytes() == before
    export_team(furnished, archive, overwrites=True)


def test_a_packed_file_holds_the_same(archive: Path, furnished: Team, tmp_path: Path) -> None:
    packed = tmp_path / "team.tar.gz"
    export_team(furnished, packed)
    unpacked = tmp_path / "unpacked.tar"
    unpacked.write_bytes(gzip.decompress(packed.read_bytes()))
    assert rows_of(unpacked) == rows_of(archive)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "team.tar",
        "team.tar.gz",
        "unpacked.tar",
    ]


def test_an_export_is_recorded_in_the_sites_log(archive: Path, furnished: Team) -> None:
    entry = AuditEntry.objects.of(None).get(action="team.exported")
    assert entry.target_id == str(furnished.uuid)


def test_a_failed_export_leaves_nothing(
    furnished: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "write_archive", fail)
    with pytest.raises(OSError, match="No space"):
        export_team(furnished, tmp_path / "team.tar")
    assert list(tmp_path.iterdir()) == []
