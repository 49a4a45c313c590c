"""`manage.py compare`: which runs may stand beside which."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.models import Comparison, Run
from tests.compared import run_with
from tests.conftest import MakeDataset
from tests.engine.test_compare_command import compare

pytestmark = pytest.mark.django_db


@pytest.fixture
def weeks(make_dataset: MakeDataset) -> list[Run]:
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    return [run_with(version, {"close": [1.0, 0.0]}, name=f"w{week}") for week in range(3)]


def test_a_candidate_named_twice_is_compared_once(weeks: list[Run]) -> None:
    code, out = compare("w0", "w1", "w2", str(weeks[1].uuid), "w1")
    assert code == 0
    assert [line for line in out.splitlines() if "compared with" in line] == [
        "Answers: w1 compared with w0",
        "Answers: w2 compared with w0",
    ]


@pytest.mark.parametrize("others", [[], ["w1"]])
def test_a_run_is_not_compared_with_itself(weeks: list[Run], others: list[str]) -> None:
    said = "w0 is the baseline: name another run to compare with it"
    assert compare("w0", *others, "w0") == (2, said)
    assert compare("w0", *others, str(weeks[0].uuid)) == (2, said)
    assert not Comparison.objects.exists()


def test_a_refused_comparison_leaves_no_file(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "compare.md"
    assert compare("w0", "w0", "--markdown", str(path))[0] == 2
    assert not path.exists()
