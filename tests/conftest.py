"""People, teams and small datasets for every test. Alice owns, Bob looks, Charlie is a stranger."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.test import Client
from execnet import XSpec
from whitenoise.middleware import WhiteNoiseMiddleware

from scoring.core.embed import local
from scoring.core.embed.faults import MISSING
from scoring.engine import tryout
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Member,
    Output,
    OutputSet,
    OutputSetState,
    Role,
    Team,
    User,
)
from tests.stub import Stub
from tests.turns import Turns

PASSWORD = "a long enough phrase"


def pytest_configure(config: pytest.Config) -> None:
    """A quick hasher: real ones are slow on purpose, and most tests only need somebody.

    And nobody's own model endpoint, whatever the environment says; no examples that fail
    because the machine is busy; and one thread for a local model, here and in processes that
    tests begin: of a few short texts, two mostly wait for each other.
    """
    hypothesis.settings.register_profile("busy", deadline=None)
    hypothesis.settings.load_profile("busy")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Run in the background of a script, the suite is deaf to Ctrl-C, and its children would be.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.EVALSITE_OPENAI_API_KEY = settings.EVALSITE_OPENAI_BASE_URL = ""
    settings.EVALSITE_MODEL_HOSTS = frozenset()
    os.environ["HF_HUB_OFFLINE"] = os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Turns(settings.DATA_DIR.parent))


def pytest_xdist_setupnodes(specs: list[XSpec]) -> None:
    """Each of the processes that share the tests has a data folder of its own."""
    for spec in specs:
        spec.env["EVALSITE_DATA_DIR"] = str(settings.DATA_DIR / spec.id)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright leaves an event loop running in this thread.

    Of them the longest files come first, so that no process is long at work alone in the end.
    """
    items.sort(key=lambda item: _turn(item.path))


@cache
def _turn(path: Path) -> tuple[int, str]:
    return (-path.stat().st_size, str(path)) if "browser" in path.parts else (-sys.maxsize, "")


def pytest_collection_finish() -> None:
    """As the site's own processes: what is loaded by now is not searched for garbage again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _no_helper_stays() -> Iterator[None]:
    """The process that scores what is tried out ends before the tests do, whichever began it."""
    yield
    tryout.close()


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
def minilm() -> str:
    """The name of the local model; where it is not installed, a test of it is skipped or fails."""
    if not local.is_installed():
        is_required = os.environ.get("EVALSITE_EMBEDDINGS_REQUIRED") == "1"
        (pytest.fail if is_required else pytest.skip)(MISSING)
    return local.DEFAULT_MODEL


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
def charlie(db: None) -> User:
    """An administrator elsewhere, and a stranger here."""
    other = Team.objects.create(name="Elsewhere", slug="elsewhere")
    return _member(other, "charlie@example.org", Role.ADMIN)


@pytest.fixture
def browser_of() -> Callable[[User], Client]:
    """A test client signed in as this person."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


MakeDataset = Callable[..., DatasetVersion]
MakeOutputs = Callable[..., OutputSet]


def _json(value: Any) -> str:
    """As imports store it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture
def make_dataset(team: Team) -> MakeDataset:
    """A published version from dicts with key, input, expected, references, metadata, tags."""

    def make(cases: Sequence[dict[str, Any]], name: str = "Answers") -> DatasetVersion:
        dataset, _ = Dataset.objects.get_or_create(team=team, name=name)
        version = DatasetVersion.with_loading.create(dataset=dataset)
        Case.objects.bulk_create(
            Case(
                version=version,
                position=position,
                key=case.get("key", f"case-{position}"),
                input_json=_json(case.get("input", "")),
                expected_json=_json(case["expected"]) if "expected" in case else None,
                references_json=_json(case.get("references", [])),
                metadata_json=_json(case.get("metadata", {})),
                tags_json=_json(case.get("tags", [])),
            )
            for position, case in enumerate(cases, start=1)
        )
        version.publish(content_hash="", case_count=len(cases))
        return version

    return make


@pytest.fixture
def make_outputs() -> MakeOutputs:
    """A ready output set over a version, from texts in the order of its cases (None = failed)."""

    def make(version: DatasetVersion, texts: Sequence[str | None], series: str = "a") -> OutputSet:
        made = OutputSet.objects.create(version=version, series=series, output_count=len(texts))
        Output.objects.bulk_create(
            Output(
                output_set=made, case=case, text=text, error="" if text is not None else "failed"
            )
            for case, text in zip(version.cases.all(), texts, strict=True)
        )
        made.state = OutputSetState.READY
        made.save()
        return made

    return make
