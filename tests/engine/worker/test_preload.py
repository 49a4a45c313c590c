"""What every pool process needs is loaded by one import."""

from __future__ import annotations

import subprocess
import sys

from tests.support.paths import ROOT

LOADED = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
import scoring.engine.worker.preload
from scoring.core import registry
print(registry.built_in_types.cache_info().currsize)
print(*({"scoring.engine.runs.execution", "re2", "torch", "evalsite.urls"} & set(sys.modules)))
"""


def test_scorers_are_loaded_and_neither_models_nor_pages() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(told.stdout.split()) == {"1", "scoring.engine.runs.execution", "re2"}
