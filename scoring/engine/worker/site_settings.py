"""What all workers of a site have to have in common, and what of it differs between them.

A worker of other scorers, settings or code would score the same case otherwise than its neighbours.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.conf import settings

from scoring.core.custom import ENTRY_POINTS
from scoring.engine.jobs import lease
from scoring.engine.runs.progress import live_workers
from scoring.models import Worker

#: Environment variables, and the settings that keep them.
SETTINGS: Final = {
    "EVALSITE_SCORERS": "EVALSITE_SCORERS",
    "EVALSITE_JUDGE_CHECK_SAMPLE": "EVALSITE_JUDGE_CHECK_SAMPLE",
    "EVALSITE_MODEL_HOSTS": "EVALSITE_MODEL_HOSTS",
    "EVALSITE_MODEL_FOLDERS": "EVALSITE_MODEL_FOLDERS",
    "EVALSITE_WEBHOOK_HOSTS": "EVALSITE_WEBHOOK_HOSTS",
    "EVALSITE_URL": "EVALSITE_URL",
    "EVALSITE_MAIL_HOST": "EVALSITE_MAIL_HOST",
    "EVALSITE_MAIL_FROM": "DEFAULT_FROM_EMAIL",
    "OPENAI_BASE_URL": "EVALSITE_OPENAI_BASE_URL",
}
SECRETS: Final = {
    "EVALSITE_SECRET_KEY": "SECRET_KEY",
    "EVALSITE_ENCRYPTION_KEY": "EVALSITE_ENCRYPTION_KEY",
    "OPENAI_API_KEY": "EVALSITE_OPENAI_API_KEY",
}
#: Packages that scores are computed with.
PACKAGES: Final = (
    *("rapidfuzz", "numpy", "scipy", "sacrebleu", "rouge-score", "regex", "google-re2"),
    *("jsonschema_rs", "torch", "sentence-transformers"),
)
MISSING: Final = "missing"


@cache
def describe_settings() -> dict[str, str]:
    """The value of each, by name; of secrets and code the beginning of their SHA-256."""
    described = {name: _text(getattr(settings, value)) for name, value in SETTINGS.items()}
    described["EVALSITE_MAX_UPLOAD_MB"] = str(settings.EVALSITE_MAX_UPLOAD_BYTES // 1024**2)
    described["EVALSITE_UPLOADS"] = _text(settings.STORAGES.get("uploads", {}).get("OPTIONS", {}))
    for name, value in SECRETS.items():
        described[name] = _digest(getattr(settings, value).encode())
    described["Python"] = platform.python_version()
    described |= {f"the package {name}": _package_version(name) for name in PACKAGES}
    described["the code of Evalsite"] = _code_digest(Path(__file__).parents[2])
    return described | _custom_scorers()


def find_differences() -> list[str]:
    """What is not the same in this process and in the other living workers, in words."""
    own, others = describe_settings(), live_workers()
    return [
        _difference(name, own.get(name, MISSING), other.settings.get(name, MISSING), other)
        for other in others
        if other.name != lease.own_name() and other.settings
        for name in sorted(own.keys() | other.settings.keys())
        if own.get(name) != other.settings.get(name)
    ]


class Difference(NamedTuple):
    """What workers do not have in common: each value, and the names of those who have it."""

    name: str
    values: list[tuple[str, list[str]]]


def compare_workers(workers: Iterable[Worker]) -> list[Difference]:
    """What differs between these; who says nothing of itself is left out."""
    telling = [worker for worker in workers if worker.settings]
    names = sorted({name for worker in telling for name in worker.settings})
    differences = []
    for name in names:
        values: dict[str, list[str]] = {}
        for worker in telling:
            values.setdefault(worker.settings.get(name, MISSING), []).append(worker.name)
        if len(values) > 1:
            differences.append(Difference(name, list(values.items())))
    return differences


def _difference(name: str, here: str, there: str, other: Worker) -> str:
    if name in SECRETS or name.startswith("the code of"):
        return f"{name} is another here than at the worker {other}"
    return f"{name} is {here or 'empty'} here, {there or 'empty'} at the worker {other}"


def _text(value: Any) -> str:
    if isinstance(value, dict):  # of a storage: where it is
        return "/".join(str(value[key]) for key in ("bucket_name", "location") if key in value)
    return ", ".join(sorted(value)) if isinstance(value, list | frozenset) else str(value)


def _package_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING


def _custom_scorers() -> dict[str, str]:
    """The code of those of this site, and the packages of those that are installed."""
    described = {}
    for path in settings.EVALSITE_SCORERS:
        module = import_module(path.replace(":", ".").rpartition(".")[0])
        if module.__file__:
            described[f"the code of {path}"] = _digest(Path(module.__file__).read_bytes())
    for entry in entry_points(group=ENTRY_POINTS):
        described[f"the scorer {entry.name}"] = f"{entry.value} {entry.dist and entry.dist.version}"
    return described


def _code_digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)
    return _digest(b"".join(path.read_bytes() for path in files))


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
