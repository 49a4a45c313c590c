"""People, teams and small datasets for every test.

Alice administers, Erin edits, Rita reviews, Bob looks, Charlie is a stranger; Root is the site's.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
from django.core.cache import caches
from django.test import Client, TransactionTestCase
from whitenoise.middleware import WhiteNoiseMiddleware

from scoring.core.embeddings import local as embedding_local
from scoring.core.embeddings.errors import MISSING
from scoring.engine.tryout import tryout
from scoring.models import DatasetVersion, Member, OutputSet, Role, Team, User
from tests.stub import Stub
from tests.support.database import empty_tables
from tests.support.datasets import published_version, ready_outputs
from tests.support.thoroughness import IS_THOROUGH, examples
from tests.support.waiting import DEADLINE_SECONDS

pytest_plugins = [
    "tests.support.durations",
    "tests.support.kills",
    "tests.support.library_warnings",
    "tests.support.postgresql",
    "tests.support.scheduling",
    "tests.support.second_look",
]

PASSWORD = "a long enough phrase"
#: The folders whose tests take longest.
LONGEST = ("browser", "management", "engine", "contracts")
COMPUTE = embedding_local.LocalModel.compute


def pytest_configure(config: pytest.Config) -> None:
    """Examples never fail because the machine is busy, and local models use one thread."""
    gc.disable()  # until all tests are collected: a quarter of the time that takes
    hypothesis.settings.register_profile("site", deadline=None, max_examples=examples(100))
    hypothesis.settings.load_profile("site")
    # Run in the background of a script, the suite is deaf to Ctrl-C, and its children would be.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["HF_HUB_OFFLINE"] = os.environ["OMP_NUM_THREADS"] = "1"
    # Processes that tests start run with the site's own settings, not with those of the tests.
    os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process a processor; a single one where files or tests are named."""
    named = any(Path(arg.partition("::")[0]).is_file() for arg in config.invocation_params.args)
    return 0 if named else len(os.sched_getaffinity(0))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Leave out slow tests, and run first what takes longest: the browser's, largest files first.

    So no process works long on its own in the end. pytest-django, which puts tests without a
    database after all others, has sorted them before.
    """
    left_out = [item for item in items if _is_left_out(item, config)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    yield
    items.sort(key=lambda item: _order(item.path))


def _is_left_out(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether it is slow, and neither `-m` nor its name nor the environment asks for it."""
    is_named = any("::" in arg for arg in config.invocation_params.args)
    if IS_THOROUGH or is_named or "slow" in config.option.markexpr:
        return False
    return item.get_closest_marker("slow") is not None


@cache
def _order(path: Path) -> tuple[int, int]:
    """By the folder, and in that of the browser by size."""
    room = next((room for room, name in enumerate(LONGEST) if name in path.parts), len(LONGEST))
    return room, -path.stat().st_size if room == 0 else 0


def pytest_collection_finish() -> None:
    """As the site's own processes: what is loaded by now is not searched for garbage again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _helper() -> Iterator[None]:
    """The process that scores what is tried out serves all tests, and ends before they do.

    It may take as long as a slow machine needs, where a test does not shorten that itself.
    """
    with pytest.MonkeyPatch.context() as patient:
        for limit in ("START_SECONDS", "TIMEOUT_SECONDS"):
            patient.setattr(tryout, limit, DEADLINE_SECONDS)
        yield
    tryout.close_helper()


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_listed_once() -> Iterator[None]:
    """Not anew by each test's client, which cost more than many a test itself."""
    listed: dict[str, Any] = {}
    list_files = WhiteNoiseMiddleware.add_files_from_finders

    def add_files(middleware: WhiteNoiseMiddleware) -> None:
        if not listed:
            list_files(middleware)
            listed.update(middleware.files)
        middleware.files.update(listed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_quickly() -> Iterator[None]:
    """After a test with real transactions: content types and permissions stay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_tables())
        yield


@pytest.fixture
def facts() -> Path:
    """The folder of real data and facts; a test that needs it is skipped without one."""
    folder = os.environ.get("EVALSITE_FACTS")
    if not folder:
        pytest.skip("EVALSITE_FACTS names no folder of real data")
    return Path(folder)


@pytest.fixture
def stub() -> Iterator[Stub]:
    """An OpenAI-compatible endpoint on 127.0.0.1, with nothing asked yet."""
    with Stub() as running:
        yield running


@pytest.fixture
def minilm(_no_model_is_loaded: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the local model; where it is not installed, a test of it is skipped or fails."""
    monkeypatch.setattr(embedding_local.LocalModel, "compute", COMPUTE)
    if not embedding_local.is_installed():
        is_required = os.environ.get("EVALSITE_EMBEDDINGS_REQUIRED") == "1"
        (pytest.fail if is_required else pytest.skip)(MISSING)
    return embedding_local.DEFAULT_MODEL


@pytest.fixture(autouse=True)
def _nothing_is_cached() -> None:
    """What a test wrote is rolled back, and its ids are given again."""
    for each in caches.all(initialized_only=True):
        each.clear()


@pytest.fixture(autouse=True)
def _no_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading one takes seconds: a test that needs it says so with the fixture `minilm`."""
    monkeypatch.setattr(embedding_local.LocalModel, "compute", _refuse_to_load)


def _refuse_to_load(model: embedding_local.LocalModel, texts: Sequence[str]) -> NoReturn:
    pytest.fail(f"{model.model} would be loaded; ask for the fixture `minilm`")


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Support", slug="support")


def _member(team: Team | None, email: str, role: Role) -> User:
    user = User.objects.create_user(email, PASSWORD)
    if team:
        Member.objects.create(team=team, user=user, role=role)
    return user


@pytest.fixture
def alice(team: Team) -> User:
    """An administrator of the team."""
    return _member(team, "alice@example.org", Role.ADMIN)


@pytest.fixture
def bob(team: Team) -> User:
    """A viewer in the team."""
    return _member(team, "bob@example.org", Role.VIEWER)


@pytest.fixture
def erin(team: Team) -> User:
    """An editor in the team."""
    return _member(team, "erin@example.org", Role.EDITOR)


@pytest.fixture
def rita(team: Team) -> User:
    """A reviewer in the team."""
    return _member(team, "rita@example.org", Role.REVIEWER)


@pytest.fixture
def charlie(db: None) -> User:
    """An administrator elsewhere, and a stranger here."""
    other = Team.objects.create(name="Elsewhere", slug="elsewhere")
    return _member(other, "charlie@example.org", Role.ADMIN)


@pytest.fixture
def root(db: None) -> User:
    """An administrator of the site, in no team."""
    return User.objects.create_superuser("root@example.org", PASSWORD)


@pytest.fixture
def browser_of() -> Callable[[User], Client]:
    """A test client signed in as this person."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def alices(browser_of: Callable[[User], Client], alice: User) -> Client:
    """A test client signed in as Alice."""
    return browser_of(alice)


@pytest.fixture
def bobs(browser_of: Callable[[User], Client], bob: User) -> Client:
    """A test client signed in as Bob."""
    return browser_of(bob)


@pytest.fixture
def ritas(browser_of: Callable[[User], Client], rita: User) -> Client:
    """A test client signed in as Rita."""
    return browser_of(rita)


MakeDataset = Callable[..., DatasetVersion]
MakeOutputs = Callable[..., OutputSet]


@pytest.fixture
def make_dataset(team: Team) -> MakeDataset:
    """A published version from dicts with key, input, expected, references, metadata, tags."""
    return partial(published_version, team)


@pytest.fixture
def make_outputs() -> MakeOutputs:
    """A ready output set over a version, from texts in the order of its cases (None = failed)."""
    return ready_outputs
