"""Models lie in folders that are named, and none of them brings code that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from scoring.core.configured import configure_scorer, resolve_defaults
from scoring.core.contract import Case, ConfigError
from scoring.core.embeddings import local as local_models
from scoring.core.embeddings.model_folders import allow_folders, folder_problem
from scoring.core.services import AvailableServices


@pytest.fixture(autouse=True)
def _nothing_stays_allowed() -> Iterator[None]:
    yield
    allow_folders([])


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "models" / "link").symlink_to(tmp_path / "secret")
    allow_folders([tmp_path / "models"])
    return tmp_path / "models"


def config_of(name: object) -> dict[str, Any]:
    return {"embedding_provider": "local", "model_name": str(name)}


@pytest.mark.parametrize("inside", ["", "mine", "mine/../mine"])
def test_a_folder_inside_is_allowed(models: Path, inside: str) -> None:
    name = f"{models}/{inside}"
    ready = resolve_defaults(
        configure_scorer("reference_match", config_of(name)), AvailableServices()
    )
    assert ready.config.model_name == name  # type: ignore[attr-defined]


@pytest.mark.parametrize("outside", ["..", "../secret", "link", "mine/../../secret"])
def test_a_folder_outside_is_an_error_of_the_config(models: Path, outside: str) -> None:
    config = config_of(f"{models}/{outside}")
    with pytest.raises(ConfigError) as caught:
        resolve_defaults(configure_scorer("reference_match", config), AvailableServices())
    assert list(caught.value.errors) == ["model_name"]
    assert "EVALSITE_MODEL_FOLDERS" in caught.value.errors["model_name"][0]


@pytest.mark.parametrize(
    "name", ["/", "/etc", "~/models", "\\\\host\\share", "/a\0b", "/" + "x" * 5_000]
)
def test_without_a_list_no_folder_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "EVALSITE_MODEL_FOLDERS" in folder_problem(name)
    monkeypatch.setattr(local_models, "is_installed", lambda: True)
    (result,) = configure_scorer("reference_match", config_of(name)).score([Case("a", "b")])
    assert (result.status, result.code) == ("error", "embedding_failed")
    assert "EVALSITE_MODEL_FOLDERS" in result.reason


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "intfloat/e5-small", "models/mine"])
def test_a_name_is_no_folder(models: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models.parent)
    assert folder_problem(name) == ""


def test_code_that_comes_with_a_model_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    library, utils = ModuleType("sentence_transformers"), ModuleType("transformers.utils")
    library.SentenceTransformer = lambda _, **options: asked.append(options)  # type: ignore[attr-defined]
    utils.logging = SimpleNamespace(disable_progress_bar=lambda: None)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setitem(sys.modules, "transformers.utils", utils)
    local_models._load(tmp_path)
    assert asked == [{"local_files_only": True, "trust_remote_code": False}]
