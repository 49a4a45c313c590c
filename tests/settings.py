"""The site's settings for tests: a data folder of their own, and no endpoint of anybody's.

Judges are not checked by themselves, but where a test says so.

Passwords are hashed quickly: real hashers are slow on purpose.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    _folder = Path(os.environ["EVALSITE_DATA_DIR"]) / os.environ["PYTEST_XDIST_WORKER"]
else:
    _folder = Path(tempfile.mkdtemp(prefix="evalsite-tests-"))
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["EVALSITE_DATA_DIR"] = str(_folder)
if "EVALSITE_TESTS_SERVER" not in os.environ:  # a server that others use is none of the tests'
    os.environ.pop("DATABASE_URL", None)
os.environ["EVALSITE_JUDGE_CHECK_SAMPLE"] = "0"  # tests of judges count calls

from evalsite.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS.append("evalsite.pages.account.sso")  # noqa: F405  on where a test names a provider
EVALSITE_OPENAI_API_KEY = EVALSITE_OPENAI_BASE_URL = ""
EVALSITE_MODEL_HOSTS: frozenset[str] = frozenset()
# Tests kill processes, not the machine: what is committed need not be on the disk.
SQLITE["OPTIONS"]["init_command"] = (  # noqa: F405
    SQLITE["OPTIONS"]["init_command"].replace("synchronous=FULL", "synchronous=OFF")  # noqa: F405
)
