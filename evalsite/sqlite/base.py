"""Django's SQLite backend, whose database file is its owner's alone, whatever the umask."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from scoring.core.private_files import make_private, open_private


class DatabaseWrapper(base.DatabaseWrapper):
    """New -wal and -shm files get the rights of the database file from SQLite itself."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        path = Path(str(conn_params["database"]))
        if path.is_absolute():  # neither in memory nor a URI
            # Closing a file drops this process's locks on it: one that is there is not opened.
            if not path.exists():
                with suppress(FileExistsError):
                    open_private(path, "ab", exclusive=True).close()
            for ending in ("", "-wal", "-shm"):
                make_private(path.with_name(path.name + ending))
        return super().get_new_connection(conn_params)
