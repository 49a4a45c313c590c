"""The WSGI application that gunicorn serves."""

import atexit
import os
import sys
from contextlib import ExitStack, suppress

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

application = get_wsgi_application()


def _hold_site() -> None:
    """Be a part of the running site until this process ends; not its forks, which go before it."""
    from scoring.engine.backups.integrity import UnsoundError, open_site

    site, pid = ExitStack(), os.getpid()
    try:
        site.enter_context(open_site())
    except UnsoundError as fault:
        sys.exit(f"error: {fault}")

    def let_go() -> None:
        with suppress(UnsoundError):
            if os.getpid() == pid:
                site.close()

    atexit.register(let_go)


_hold_site()
