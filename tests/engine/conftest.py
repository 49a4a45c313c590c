"""Runs, sites and endpoints for all tests of the engine."""

from __future__ import annotations

from tests.support.fixtures.endpoints import stub, threads
from tests.support.fixtures.runs import make_run, make_scorer, run_of_yes
from tests.support.fixtures.sites import fresh_site, port, site
from tests.support.fixtures.spy import spy

__all__ = [
    "fresh_site",
    "make_run",
    "make_scorer",
    "port",
    "run_of_yes",
    "site",
    "spy",
    "stub",
    "threads",
]
