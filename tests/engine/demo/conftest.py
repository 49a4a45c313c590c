"""The loaded demo, made once for all files of this folder."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from scoring.engine.demo.load import create_demo
from scoring.models import Team
from tests.support.module_rows import kept

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)


@kept
def demo() -> None:
    create_demo(NOW)


@pytest.fixture
def loaded(db: None, monkeypatch: pytest.MonkeyPatch) -> Team:
    """The demo where local embeddings are not installed: everything is scored at once."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    demo()
    return Team.objects.get()
