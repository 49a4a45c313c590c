#!/usr/bin/env python
"""Evalsite's command line: `manage.py start`, `import`, `evaluate`, `score` and Django's own."""

import atexit
import gc
import os
import sys
from typing import Final

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

#: Commands of a build, which ask for neither pages nor the admin and start in half the time so.
WITHOUT_PAGES: Final = ("score", "import", "evaluate")

if __name__ == "__main__":
    # Imports make hardly any garbage, of more than 100,000 objects; looking for it was a tenth of
    # the time to start, and once more at the end, when everything goes anyway, a fifth of all.
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    # numpy's threads go on turning after each sum; ours are too small to be shared among them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # pydantic would look through all that is installed for plugins, of which nothing here has any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    has_pages = not sys.argv[1:] or sys.argv[1] not in WITHOUT_PAGES
    chosen = "evalsite.settings" if has_pages else "evalsite.command_settings"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", chosen)
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        sys.exit(f"error: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say of a command that Ctrl-C ended
