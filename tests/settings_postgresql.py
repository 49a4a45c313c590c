"""The tests' settings on a PostgreSQL server of their own: `pytest --ds=tests.settings_postgresql`.

The first process starts it and fills a database that is the model of all others; processes that
share its tests find both named in the environment. Where no server is installed nothing is tested,
and a sentence says so.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.paths import ROOT
from tests.support.postgresql_server import Server, find_programs

MODEL = "evalsite_model"
IS_REQUIRED = os.environ.get("EVALSITE_POSTGRESQL_REQUIRED") == "1"

if "PYTEST_XDIST_WORKER" not in os.environ:
    if (programs := find_programs()) is None:
        text = "PostgreSQL is not installed (Debian: postgresql), so nothing is tested on it"
        sys.stderr.write(f"{text}\n")
        sys.exit(int(IS_REQUIRED))
    SERVER = Server(programs)
    os.environ["DATABASE_URL"] = SERVER.url(MODEL)
    os.environ["EVALSITE_TESTS_SERVER"] = str(SERVER.port)
    with SERVER.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {MODEL}")

from tests.settings import *  # noqa: E402, F403

if "PYTEST_XDIST_WORKER" not in os.environ:
    subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "evalsite.settings"},
        check=True,
    )
DATABASES["default"]["TEST"] = {"TEMPLATE": MODEL, "NAME": "test_evalsite"}  # noqa: F405
# A test is one transaction, and may wait in it for a page of the browser or a process.
DATABASES["default"]["OPTIONS"]["options"] = "-c idle_in_transaction_session_timeout=0"  # noqa: F405
