"""The addresses of all pages: each room has its own list."""

from __future__ import annotations

from typing import Final

from django.urls import include, path

ROOMS: Final = (
    "account",
    "alerts",
    "calibration",
    "cases",
    "compare",
    "connections",
    "datasets",
    "drafts",
    "drift",
    "gates",
    "home",
    "operations",
    "review",
    "runs",
    "scorers",
    "signoff",
    "suites",
    "team",
    "thresholds",
    "uploads",
)

urlpatterns = [path("", include(f"evalsite.pages.{room}.urls")) for room in ROOMS]
