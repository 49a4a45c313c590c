"""Hooks are called by their names, each with the runs of a series, in order."""

from __future__ import annotations

import pytest
from django.utils.module_loading import import_string

from scoring.engine.runs.hooks import RUNS_ENDED, SERIES_CHANGED, call_hooks
from scoring.models import Run


@pytest.mark.parametrize("name", sorted({*RUNS_ENDED, *SERIES_CHANGED}))
def test_each_name_leads_to_a_function(name: str) -> None:
    assert callable(import_string(name))


def test_hooks_are_called_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, list[Run]]] = []
    for name in RUNS_ENDED:
        monkeypatch.setattr(name, lambda runs, name=name: told.append((name, runs)))
    runs = [Run(name="w1"), Run(name="w2")]
    call_hooks(RUNS_ENDED, runs)
    assert told == [(name, runs) for name in RUNS_ENDED]
