"""A file of the system that behaves as one on a full disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

FULL: Final = Path("/dev/full")  # every write to it finds no room
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
