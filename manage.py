#!/usr/bin/env python
"""Evalsite's command line: `manage.py start`, `import`, `evaluate`, `score` and Django's own."""

import atexit
import gc
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    # Imports make hardly any garbage; looking for it was a tenth of the time to start, and
    # looking once more at the end, when everything goes anyway, a fifth of the whole.
    gc.set_threshold(100_000, 20, 20)
    atexit.register(gc.freeze)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        sys.exit(f"error: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say of a command that Ctrl-C ended
