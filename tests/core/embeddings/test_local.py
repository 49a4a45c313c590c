"""The model on this machine: found without a network, exact in batches, honest about its window."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.embeddings import local as local_models
from scoring.core.embeddings.cache import MemoryCache, embed_texts
from scoring.core.embeddings.errors import MISSING, EmbeddingError
from scoring.core.embeddings.local import (
    DEFAULT_MODEL,
    LIBRARIES,
    LocalModel,
    get_model,
    is_installed,
)
from scoring.core.embeddings.model_folders import allow_folders
from tests.support.paths import ROOT
from tests.support.tiny_model import put_tiny_model

TEXTS = [
    "",
    "Paris",
    "PARIS",
    "Café au lait",
    "日本語のテキスト",
    "a\0b",
    "🙂" * 3,
    "The train leaves at noon. " * 5,
    "word " * 300,
]


@pytest.fixture
def model(minilm: str) -> LocalModel:
    return get_model(minilm)


def test_a_batch_agrees_with_one_by_one(model: LocalModel) -> None:
    whole = embed_texts(TEXTS, MemoryCache(), model).matrix
    alone = [embed_texts([text], MemoryCache(), model).matrix[0] for text in TEXTS]
    backwards = embed_texts(TEXTS[::-1], MemoryCache(), model).matrix[::-1]
    assert whole.shape == (len(TEXTS), 384)
    assert np.abs(whole - np.stack(alone)).max() <= 1e-5
    assert np.abs(whole - backwards).max() <= 1e-5
    assert np.linalg.norm(whole, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_more_texts_than_a_batch_come_back_in_their_order(model: LocalModel) -> None:
    texts = [f"number {n} {'and more ' * (n % 7)}" for n in range(80)]
    whole = embed_texts(texts, MemoryCache(), model).matrix
    for place in (0, 31, 32, 63, 79):
        alone = embed_texts([texts[place]], MemoryCache(), model).matrix[0]
        assert np.abs(whole[place] - alone).max() <= 1e-5


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [("word " * 254, False), ("word " * 255, True), ("word " * 5_000, True), ("", False)],
)
def test_a_text_longer_than_the_window_is_told(model: LocalModel, text: str, is_cut: bool) -> None:
    """256 tokens, of which two mark the ends."""
    assert list(model.compute([text])[1]) == [is_cut]


def test_what_lies_behind_the_window_changes_nothing(model: LocalModel) -> None:
    vectors = embed_texts(
        ["word " * 254 + "end", "word " * 254 + "other"], MemoryCache(), model
    ).matrix
    assert (vectors[0] == vectors[1]).all()


def test_a_score_tells_of_a_cut_text(minilm: str) -> None:
    case = Case("word " * 300, ["word", "word " * 400])
    (result,) = configure_scorer("reference_match", {"embedding_provider": "local"}).score([case])
    assert (result.metadata["cut_output"], result.metadata["cut_references"]) == (True, 1)
    assert result.reason.endswith("; cut at the model's window")


def test_a_model_is_the_same_object_for_everybody(minilm: str, model: LocalModel) -> None:
    assert get_model(minilm) is model
    assert model.model.startswith("all-MiniLM-L6-v2@")


def test_a_model_can_lie_in_any_folder_and_is_told_by_its_files(
    tmp_path: Path, model: LocalModel
) -> None:
    allow_folders([tmp_path])
    folder = tmp_path / "copy"
    shutil.copytree(local_models._find_packaged(), folder)
    copy = get_model(str(folder))
    assert copy.model.rpartition("@")[2] == model.model.rpartition("@")[2]
    assert copy.key("a") != model.key("a")  # its name differs
    ours, theirs = (embed_texts(["Paris"], MemoryCache(), each).matrix for each in (copy, model))
    assert (ours == theirs).all()
    (folder / "README.md").write_text("another revision")
    assert LocalModel(str(folder), folder).key("a") != copy.key("a")


@pytest.mark.parametrize(
    "name", ["no-such-model", "nobody/no-such-model", "..", "./model", "a b", "a\0b", "x" * 300]
)
def test_a_model_that_is_not_here_is_not_looked_for_elsewhere(minilm: str, name: str) -> None:
    case = Case("a", "b")
    config = {"embedding_provider": "local", "model_name": name}
    (result,) = configure_scorer("reference_match", config).score([case])
    assert (result.status, result.code) == ("error", "embedding_failed")
    assert f"no local embedding model {name[:100]!r}" in result.reason


def test_a_folder_of_something_else_says_so(minilm: str, tmp_path: Path) -> None:
    allow_folders([tmp_path])
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        get_model(str(tmp_path)).compute(["a"])


@pytest.mark.parametrize("blocked", LIBRARIES)
def test_without_the_extra_every_way_in_names_the_command(
    blocked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, blocked, None)
    local_models._load_model.cache_clear()
    assert not is_installed()
    with pytest.raises(EmbeddingError) as caught:
        get_model("all-MiniLM-L6-v2")
    assert (caught.value.code, caught.value.text) == ("embeddings_missing", MISSING)
    (result,) = configure_scorer("reference_match", {}).score([Case("a", "b")])
    assert (result.status, result.code, result.reason) == ("error", "embeddings_missing", MISSING)
    assert "pip install -r requirements-embeddings.txt" in MISSING


def test_looking_whether_it_is_there_imports_nothing() -> None:
    script = (
        "import sys\n"
        "from scoring.core.configured import configure_scorer\n"
        "from scoring.core.embeddings.local import is_installed\n"
        "configure_scorer('reference_match', {})\n"
        "is_installed()\n"
        "heavy = {'torch', 'sentence_transformers', 'transformers', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def score(folder: Path, model_name: str, **environment: str) -> list[dict[str, Any]]:
    """By the command, in a process of its own: nothing is imported yet, every variable counts."""
    config = json.dumps({"embedding_provider": "local", "model_name": model_name})
    words = ["score", "-", "--scorer", "reference_match", "--config", config]
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        check=False,
        cwd=ROOT,
        env={**os.environ, "EVALSITE_DATA_DIR": str(folder), **environment},
        input=b'{"output": "Paris", "references": ["It rains.", "Paris"]}\n{"output": "Paris"}\n',
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert b"Loading" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_score_command_embeds_from_end_to_end(tmp_path: Path) -> None:
    path = os.pathsep.join([str(put_tiny_model(tmp_path)), *sys.path])
    first, missing = score(tmp_path, DEFAULT_MODEL, PYTHONPATH=path)
    assert (first["score"], first["verdict"], first["metadata"]["winner"]) == (1.0, "pass", 2)
    assert missing["metadata"]["code"] == "expected_missing"


@pytest.mark.slow
@pytest.mark.parametrize("is_offline", ["0", "1"])
def test_the_score_command_embeds_with_the_real_model(
    tmp_path: Path, minilm: str, is_offline: str
) -> None:
    first, missing = score(tmp_path, minilm, HF_HUB_OFFLINE=is_offline)
    assert (first["score"], first["verdict"], first["metadata"]["winner"]) == (1.0, "pass", 2)
    assert missing["metadata"]["code"] == "expected_missing"


def test_a_model_in_the_machines_cache_is_found_by_its_name(
    tmp_path: Path, model: LocalModel
) -> None:
    """Laid out as Hugging Face's library lays it out: refs name a snapshot."""
    kept = tmp_path / "hub" / "models--acme--mini"
    shutil.copytree(local_models._find_packaged(), kept / "snapshots" / "0123abcd")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("0123abcd")
    code = (
        "from scoring.core.embeddings.local import get_model\nprint(get_model('acme/mini').model)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=ROOT,
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"},
        capture_output=True,
        text=True,
    )
    assert found.stdout == f"acme/mini@{model.model.rpartition('@')[2]}\n"
