"""Only what is the manifest of a team's archive is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.engine.team_archive.layout import TeamArchiveError, TeamManifest, read_manifest

COLUMNS, COUNTS = {"team": ["name"]}, {"team": 1}
MANIFEST = TeamManifest("Support", "support", "2026-01-02", "0001", COLUMNS, COUNTS, {})


def test_a_manifest_is_read_as_it_was_written() -> None:
    found = read_manifest(MANIFEST.write())
    assert (found.team, found.columns, found.counts) == ("Support", COLUMNS, COUNTS)
    assert found.seal() == MANIFEST.seal()


@pytest.mark.parametrize(
    "change",
    [{"format": "evalsite-backup"}, {"format_version": 2}, {"more": 1}, {"format": None}],
)
def test_another_manifest_is_refused(change: dict[str, Any]) -> None:
    fields = {**json.loads(MANIFEST.write()), **change}
    with pytest.raises(TeamArchiveError):
        read_manifest(json.dumps(fields).encode())


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null"])
def test_what_is_no_manifest_is_refused(content: bytes) -> None:
    with pytest.raises(TeamArchiveError):
        read_manifest(content)
