"""`manage.py release_report`: what it writes is verified, and refused once it was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scoring.models import Run, RunState, User
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db
write = partial(call, "release_report")
verify = partial(call, "verify_report")
Spoil = Callable[[dict[str, Any]], Any]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": f"q{n}"} for n in range(6)])
    old = run_with(version, {"close": [1.0] * 6}, name="w45")
    return old, run_with(version, {"close": [0.0, 0.0, *[1.0] * 4]}, name="w46")


@pytest.mark.parametrize("file_format", ["html", "json"])
def test_the_file_verifies(
    runs: tuple[Run, Run], alice: User, tmp_path: Path, file_format: str
) -> None:
    waive(runs[1], "q0", "close", alice)
    ask_to_review(runs[1], alice, "q1")  # whoever has the machine sees all
    path = tmp_path / f"release.{file_format}"
    assert write("w46", "--format", file_format, "--output", str(path)) == (0, "")
    code, said = verify(str(path))
    assert (code, "from its 6 rows" in said) == (0, True)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_it_is_printed_without_a_file(runs: tuple[Run, Run]) -> None:
    code, out = write(str(runs[1].uuid), "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert (report["run"]["name"], report["baseline"]["name"]) == ("w46", "w45")
    assert report["states"] == {"open": 2, "accepted": 0, "rejected": 0, "waived": 0}
    code, out = write("w46")
    assert (code, out.startswith("<!DOCTYPE html>")) == (0, True)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda report: report["result"].update(broke=1), "result.broke"),
        (
            lambda report: report["result"]["scorers"][0].update(delta=0.0),
            "result.scorers[1].delta",
        ),
        (lambda report: report["states"].update(open=0), "states.open"),
        (lambda report: report.update(risk=[]), "risk"),
        (lambda report: report["rows"]["candidate"].__setitem__(0, 0), "rows_sha256"),
        (lambda report: report["rows"]["candidate"].__setitem__(0, 0), "result.broke"),
        (lambda report: report["rows"]["key"].__setitem__(5, "q9"), "rows_sha256"),
    ],
)
def test_one_changed_figure_or_row_is_found(
    runs: tuple[Run, Run], tmp_path: Path, spoil: Spoil, named: str
) -> None:
    path = tmp_path / "release.json"
    write("w46", "--format", "json", "--output", str(path))
    report = json.loads(path.read_text())
    spoil(report)
    path.write_text(json.dumps(report))
    code, said = verify(str(path))
    assert code == 1
    assert named in said


def test_a_changed_page_is_found(runs: tuple[Run, Run], tmp_path: Path) -> None:
    path = tmp_path / "release.html"
    write("w46", "--output", str(path))
    text = path.read_text()
    assert text.count("2 open, 0 accepted") == 1
    path.write_text(text.replace("2 open, 0 accepted", "0 open, 2 accepted"))
    code, said = verify(str(path))
    assert (code, "does not show what its data say" in said) == (1, True)


def test_another_baseline_is_named(runs: tuple[Run, Run], make_dataset: MakeDataset) -> None:
    third = run_with(runs[0].output_set.version, {"close": [1.0] * 6}, name="w47")
    found = json.loads(write("w47", "--baseline", "w45", "--format", "json")[1])
    assert (found["baseline"]["name"], found["result"]["broke"]) == ("w45", 0)
    assert json.loads(write(str(third.uuid), "--format", "json")[1])["baseline"]["name"] == "w46"


def test_bad_use_ends_with_2_and_writes_nothing(runs: tuple[Run, Run], tmp_path: Path) -> None:
    path = tmp_path / "release.html"

    def refused(*words: str) -> str:
        code, said = write(*words, "--output", str(path))
        assert (code, path.exists()) == (2, False)
        return said

    assert "has no baseline: name one with --baseline" in refused("w45")
    assert "is the run itself" in refused("w46", "--baseline", "w46")
    assert "no run 'w99'" in refused("w99")
    assert "no run 'w99'" in refused("w46", "--baseline", "w99")
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.CANCELLED)
    assert "is cancelled: a release report needs a finished run" in refused("w46")
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.FINISHED)
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.RUNNING)
    assert "w45" in refused("w46", "--baseline", str(runs[0].uuid))
