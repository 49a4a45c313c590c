"""How the web server holds its memory, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

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
