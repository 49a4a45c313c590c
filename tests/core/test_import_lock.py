"""A torch that another thread imports just now: scipy is kept from looking into it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from scoring.core.embeddings import local as local_models
from scoring.core.import_lock import IMPORT_LOCK
from scoring.core.stats import paired_tests
from scoring.core.stats.paired_tests import RESAMPLED_BELOW, Flips

#: Imports scipy and works with it, in a process that has not done so yet.
FRESH = """
import sys
from types import ModuleType
from scoring.core.stats import paired_tests as paired

class Turn:
    def __enter__(self):
        sys.modules.pop("torch")
    def __exit__(self, *_):
        sys.modules["torch"] = ModuleType("torch")

paired.IMPORT_LOCK = Turn()
sys.modules["torch"] = ModuleType("torch")
assert "scipy" not in sys.modules
print(paired.Flips(10, 3, 1).p)
"""

WITHOUT_STATS = """
import sys
import numpy as np
from scoring.core.stats import paired_tests as paired
half = np.full(2 * paired.RESAMPLED_BELOW, 0.5)
paired.difference(half, half + np.resize([0.1, -0.1, 0.2], len(half)))
paired.Flips(10, 3, 1).p
print("scipy.special" in sys.modules, "scipy.stats" in sys.modules)
"""


class Turn:
    """Takes the half of a torch away while it is held."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __enter__(self) -> None:
        self._monkeypatch.delitem(sys.modules, "torch")

    def __exit__(self, *_: object) -> None:
        self._monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))


@pytest.fixture
def half(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch without classes, as it stands there at the beginning of its import."""
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setattr(paired_tests, "IMPORT_LOCK", Turn(monkeypatch))


def t_test() -> float:
    half = np.full(2 * RESAMPLED_BELOW, 0.5)
    return paired_tests.difference(half, half + np.tile([0.1, -0.1], RESAMPLED_BELOW)).p or 0.0


WORKS: list[tuple[Callable[[], float], float]] = [
    (lambda: Flips(10, 3, 1).p, 0.625),
    (t_test, 1.0),
]


@pytest.mark.parametrize(("work", "found"), WORKS)
def test_scipy_works_in_its_turn(half: None, work: Callable[[], float], found: float) -> None:
    assert work() == pytest.approx(found, abs=1e-6)


def test_scipy_is_imported_in_its_turn() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRESH], cwd=Path.cwd(), capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert float(done.stdout) == 0.625


def test_a_comparison_does_not_load_the_whole_of_scipys_statistics() -> None:
    """They would take 45 MB of a worker for good."""
    command = [sys.executable, "-c", WITHOUT_STATS]
    assert subprocess.check_output(command, cwd=Path.cwd(), text=True) == "True False\n"


def test_torch_is_imported_in_its_turn(minilm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    def loaded(_: Path) -> object:
        held.append(IMPORT_LOCK._is_owned())  # type: ignore[attr-defined]
        return object()

    monkeypatch.setattr(local_models, "_load", loaded)
    local_models.LocalModel("fresh", local_models._find_packaged())._ready()
    assert held == [True]
