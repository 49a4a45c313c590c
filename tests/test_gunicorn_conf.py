"""How the web server holds its memory, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsite.env import SESSION
from tests.support.paths import ROOT

LOADED = """
import gc, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
import evalsite.wsgi
from evalsite import gunicorn_conf
assert gunicorn_conf.preload_app
gunicorn_conf.on_starting(None)
gc.collect()
print(gc.get_freeze_count(), sum(map(len, map(gc.get_objects, range(3)))))
print("evalsite.pages.drift.views" in sys.modules, {"numpy", "torch", "openai"} & set(sys.modules))
"""


def test_what_every_page_needs_is_loaded_once_and_never_walked_again() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    counts, modules = told.stdout.splitlines()
    frozen, walked = map(int, counts.split())
    assert frozen > 50_000
    assert walked < 1_000
    assert modules == "True set()"


LIMITS = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
from django.db import connections
from evalsite import gunicorn_conf
gunicorn_conf.limit_waits()
options = connections.settings["default"]["OPTIONS"]
print(options.get("timeout"), options.get("options"))
"""
LIMITED = "-c lock_timeout=5s -c statement_timeout=60s"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "5 None"),
        ("postgresql:///evals", f"None {LIMITED} {SESSION}"),
        (
            "postgresql:///evals?options=-c%20statement_timeout%3D9s",
            f"None {LIMITED} {SESSION} -c statement_timeout=9s",
        ),
    ],
)
def test_pages_wait_for_the_database_for_a_while(tmp_path: Path, url: str, told: str) -> None:
    known = {**os.environ, "DATABASE_URL": url, "EVALSITE_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LIMITS],
        cwd=ROOT,
        env=known,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == told
