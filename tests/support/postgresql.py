"""A plugin of pytest: which tests run on PostgreSQL, and how processes find their database there.

Those that touch rows, without the browser's: pages there are the same, and take a third of the
time. What is about SQLite's file, its plans or its statements is marked `sqlite`. With
`--without-repeats` those are left out that send the database what others send as well.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import pytest
from pytest_django.plugin import DjangoDbBlocker

URL = "DATABASE_URL"
#: Who may do what, reports, and what the demo tells: each sends the statements of many other tests.
REPEATS = (
    "tests/contracts/test_audited.py",
    "tests/contracts/test_audited_accounts.py",
    "tests/contracts/test_blind.py",
    "tests/contracts/test_doors.py",
    "tests/contracts/test_drift.py",
    "tests/contracts/test_llmbar.py",
    "tests/contracts/test_scopes.py",
    "tests/contracts/test_tenants.py",
    "tests/contracts/test_threshold_previews.py",
    "tests/contracts/test_thresholds.py",
    "tests/engine/demo/",
    "tests/engine/reports/",
    "tests/pages/account/",
)
#: Of these every third test: what people and programs see asks what the engine asks.
SURFACES = ("tests/api/", "tests/management/", "tests/pages/")
#: But not of what begins, or moves, on a database of its own.
WHOLE = (
    "tests/management/commands/test_move.py",
    "tests/management/commands/test_start.py",
    "tests/management/commands/test_worker.py",
)
#: Of one test with parameters here the first two: the others are about what is computed of rows.
COMPUTED = (
    "tests/engine/alerts/",
    "tests/engine/calibration/",
    "tests/engine/compare/",
    "tests/engine/drift/",
    "tests/engine/judges/",
    "tests/engine/review/",
    "tests/engine/signoff/",
    "tests/engine/team_archive/",
    "tests/engine/thresholds/",
    "tests/engine/tryout/",
    "tests/models/pairs/",
)
FEW = 2
TOUCHING_ROWS = {"db", "transactional_db", "fresh_site"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without-repeats",
        action="store_true",
        help="on PostgreSQL, leave out what sends the database the statements of other tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    for text in (
        "sqlite: about SQLite's file, plans or statements; left out on PostgreSQL",
        "postgresql: about PostgreSQL's server; skipped on SQLite",
        "broker: needs PostgreSQL and a broker; waits more than it works, so it has its own step",
    ):
        config.addinivalue_line("markers", text)


def pytest_report_header() -> str:
    return f"database: {'PostgreSQL' if URL in os.environ else 'SQLite'}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not for PostgreSQL, there; elsewhere skip what needs it."""
    if URL not in os.environ:
        reason = "needs PostgreSQL, on which `make postgresql` runs it"
        for item in items:
            if item.get_closest_marker("postgresql"):
                item.add_marker(pytest.mark.skip(reason=reason))
        return
    chosen = [item for item in items if _is_for_postgresql(item)]
    if config.getoption("--without-repeats"):
        chosen = without_repeats(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def without_repeats(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those not among REPEATS, every third of SURFACES and a FEW of each in COMPUTED."""
    left = [item for item in items if not item.nodeid.startswith(REPEATS)]
    surfaces = [item for item in left if _is_of_surface(item.nodeid)]
    left_out = set(surfaces) - set(surfaces[::3])
    kept: Counter[str] = Counter()
    for item in left:
        if item.nodeid.startswith(COMPUTED):
            name = item.nodeid.partition("[")[0]
            kept[name] += 1
            if kept[name] > FEW:
                left_out.add(item)
    return [item for item in left if item not in left_out]


def _is_of_surface(name: str) -> bool:
    return name.startswith(SURFACES) and not name.startswith(WHOLE)


def _is_for_postgresql(item: pytest.Item) -> bool:
    is_left_out = any(item.get_closest_marker(name) for name in ("browser", "sqlite"))
    return not is_left_out and _touches_rows(item)


def _touches_rows(item: pytest.Item) -> bool:
    touches = TOUCHING_ROWS.intersection(getattr(item, "fixturenames", ()))
    return bool(touches) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The databases go with the server; threads may still be connected to them."""
    return URL in os.environ


@pytest.fixture(scope="session", autouse=True)
def _processes_find_the_tests_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """Those that a test starts read the environment, which names the model until then."""
    if URL not in os.environ:
        yield
        return
    request.getfixturevalue("django_db_setup")
    from django.db import connection

    with pytest.MonkeyPatch.context() as patch:
        name = str(connection.settings_dict["NAME"])
        patch.setenv(URL, urlsplit(os.environ[URL])._replace(path=f"/{name}").geturl())
        yield


#: A table of this size is mostly what earlier tests have rolled back.
SWOLLEN_BYTES = 1_000_000
_COUNTERS = """
    SELECT setval(oid, 1, false) FROM pg_class
    WHERE relkind = 'S' AND starts_with(relname, 'scoring_')
"""
_SWOLLEN = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND starts_with(relname, 'scoring_') AND pg_relation_size(oid) > %s
"""


@pytest.fixture(autouse=True)
def _tables_are_as_new(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> None:
    """Ids begin again, as on SQLite where one that was rolled back is given again; kept rows name
    others by theirs. Rows that were rolled back slow nobody down.
    """
    if URL not in os.environ or not _touches_rows(request.node):
        return
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(_COUNTERS)
        if connection.in_atomic_block:  # where a fixture for a whole file has begun
            return
        cursor.execute(_SWOLLEN, [SWOLLEN_BYTES])
        if names := ", ".join(name for (name,) in cursor.fetchall()):
            cursor.execute(f"VACUUM {names}")
