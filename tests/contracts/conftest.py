"""A team with one of everything, for tests that go through every address."""

from __future__ import annotations

from tests.support.fixtures.house import house

__all__ = ["house"]
