"""Sites and backups of them."""

from __future__ import annotations

from tests.support.fixtures.backups import backup, folder, torn, unused

__all__ = ["backup", "folder", "torn", "unused"]
