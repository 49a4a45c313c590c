"""The folders that may hold local models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_allowed: list[Path] = []


def allow_folders(folders: Iterable[str | Path]) -> None:
    """Allow local models in these folders and below them, and nowhere else."""
    _allowed[:] = [Path(folder).resolve() for folder in folders]


def allowed_folders() -> list[Path]:
    """The folders of the last call of `allow_folders`."""
    return list(_allowed)


def is_folder(model_name: str) -> bool:
    """Whether the name is an absolute path and not a model's name."""
    return model_name.startswith(("/", "~", "\\"))


def folder_problem(model_name: str) -> str:
    """Why the folder of that name may not be read; "" where it may, or where it is none."""
    if not is_folder(model_name):
        return ""
    try:
        path = Path(model_name).resolve()  # where links and dots lead
    except (OSError, ValueError, RuntimeError):
        path = None
    if path and any(path.is_relative_to(folder) for folder in _allowed):
        return ""
    return (
        f"the folder {model_name[:100]!r} is not one that models may lie in: whoever runs the site"
        " names those in EVALSITE_MODEL_FOLDERS"
    )
