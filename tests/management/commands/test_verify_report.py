"""`manage.py verify_report`: its exit codes, and what it says."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from scoring.engine.reports.release_report import build_release_report, report_json
from scoring.models import Review
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db
verify = partial(call, "verify_report")


@pytest.fixture
def path(make_dataset: MakeDataset, tmp_path: Path) -> Path:
    version = make_dataset([{"key": f"q{n}"} for n in range(6)])
    old, new = (run_with(version, {"close": [score] * 6}) for score in (1.0, 0.0))
    file = tmp_path / "release.json"
    file.write_bytes(report_json(build_release_report(new, old, Review.objects.of_run(new))))
    return file


def test_a_sound_report_ends_with_0(path: Path) -> None:
    code, out = verify(str(path))
    assert code == 0
    assert "is sound" in out
    assert "from its 6 rows" in out


def test_a_changed_figure_ends_with_1(path: Path) -> None:
    report = json.loads(path.read_text())
    report["result"]["fixed"] = 6
    path.write_text(json.dumps(report))
    code, said = verify(str(path))
    assert code == 1
    assert "result.fixed is 6 in the report and 0 by its rows" in said


def test_bad_use_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    assert verify(str(tmp_path / "other.json"))[0] == 2
    code, said = verify(str(tmp_path / "none.json"))
    assert code == 2
    assert "cannot be read: No such file" in said
