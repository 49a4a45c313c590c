"""Uploads for all tests of imports."""

from __future__ import annotations

from tests.support.fixtures.uploads import at_each_beat, put, spooled, version

__all__ = ["at_each_beat", "put", "spooled", "version"]
