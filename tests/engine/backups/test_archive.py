"""The layout of a backup file: what is cut, changed or no backup at all is noticed."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from scoring.engine.backups import BackupError, make_backup
from scoring.engine.backups.integrity import DATABASE
from tests.support.fixtures.backups import SECRET, refuse, restored

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_cut_backup_is_refused(backup: Path, unused: Path, share: float) -> None:
    content = backup.read_bytes()
    backup.write_bytes(content[: int(len(content) * share)])
    refuse(backup, unused, "not whole|no archive|not a backup")


@pytest.mark.parametrize("missing", [1, 8, 100, 512, 1024])
def test_a_backup_without_its_very_end_is_refused(backup: Path, unused: Path, missing: int) -> None:
    backup.write_bytes(backup.read_bytes()[:-missing])
    refuse(backup, unused, "not whole|no archive")


def test_any_changed_byte_of_what_it_holds_is_noticed(
    folder: Path, tmp_path: Path, unused: Path
) -> None:
    target = tmp_path / "b.tar"
    make_backup(folder, target, keys_elsewhere=[])
    content = target.read_bytes()
    chance = Random(5)
    begin, end = content.index(b'"made_at"'), content.rindex(b"manifest.sha256")
    places = [
        begin + 14,
        content.index(SECRET.encode()),
        *(chance.randrange(end) for _ in range(40)),
    ]
    for place in places:
        altered = bytearray(content)
        altered[place] ^= 1
        target.write_bytes(altered)
        is_padding = content[place] == 0 and place < content.index(b"SQLite format 3")
        if not is_padding:  # which nobody reads
            with pytest.raises(BackupError):
                restored(target, unused)
            assert not (unused / DATABASE).exists()


@pytest.mark.parametrize(
    "content", [b"", b"a text", b"PK\x03\x04", b"\x1f\x8b\x08", b"\0" * 10_240]
)
def test_what_is_no_backup_is_refused(tmp_path: Path, unused: Path, content: bytes) -> None:
    (tmp_path / "b.tar").write_bytes(content)
    refuse(tmp_path / "b.tar", unused, "not a backup|no archive")
