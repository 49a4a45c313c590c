"""Any of these benchmarks on a PostgreSQL server of its own, instead of SQLite.

    python benchmarks/on_postgresql.py score_and_store.py [ITS OPTIONS]

The server has the settings it is installed with; its processes count among those that were started.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from rounds import ROOT

from tests.support.postgresql_server import Server, find_programs


def main() -> None:
    programs = find_programs()
    if programs is None or len(sys.argv) < 2:
        raise SystemExit(__doc__)
    server = Server(programs, {})
    with server.cursor() as cursor:
        cursor.execute("CREATE DATABASE evalsite")
    os.environ["DATABASE_URL"] = server.url("evalsite")
    script = Path(__file__).parent / sys.argv[1]
    sys.argv = [str(script), *sys.argv[2:]]
    sys.path[:0] = [str(ROOT)]
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        server.end()


if __name__ == "__main__":
    main()
