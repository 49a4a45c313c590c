"""Commands work on runs, rules and sites as the engine's tests make them."""

from __future__ import annotations

from tests.engine.backups.conftest import folder, unused
from tests.engine.conftest import fresh_site, make_run, make_scorer, site, spy, stub

__all__ = [
    "folder",
    "fresh_site",
    "make_run",
    "make_scorer",
    "site",
    "spy",
    "stub",
    "unused",
]
