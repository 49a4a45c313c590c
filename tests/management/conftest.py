"""Commands work on runs, rules and sites as the engine's tests make them."""

from __future__ import annotations

from tests.support.fixtures.backups import folder, unused
from tests.support.fixtures.endpoints import stub
from tests.support.fixtures.runs import make_run, make_scorer
from tests.support.fixtures.sites import fresh_site, site
from tests.support.fixtures.spy import spy

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
