from __future__ import annotations

from tests.support.fixtures.uploads import put, spooled

__all__ = ["put", "spooled"]
