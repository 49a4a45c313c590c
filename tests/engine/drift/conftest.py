"""The dataset version of most files of this folder."""

from __future__ import annotations

from tests.support.fixtures.weeks import version

__all__ = ["version"]
