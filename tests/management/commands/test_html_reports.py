"""`export --format html` and `compare --html`: the files they write, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.engine.compare.comparison import stored_comparison
from scoring.models import Run
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.finished_runs import run_with
from tests.support.report_html import sound

pytestmark = pytest.mark.django_db


@pytest.fixture
def weeks(make_dataset: MakeDataset) -> list[Run]:
    """Runs w0, w1, w2 in which none, one and seven of eight cases fail."""
    version = make_dataset([{"key": f"q{n}", "tags": ["all"]} for n in range(8)])
    return [
        run_with(version, {"close": [0.0] * failed + [1.0] * (8 - failed)}, name=f"w{week}")
        for week, failed in enumerate((0, 1, 7))
    ]


def test_a_run_is_written_as_a_report(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "w2.html"
    assert call("export", "w2", "--format", "html", "--output", str(path)) == (0, "")
    words = sound(path.read_text(encoding="utf-8")).text
    assert "Answers / w2" in words
    assert "7 of 7 shown" in words
    assert str(weeks[2].uuid) in words


def test_a_run_is_printed_as_a_report(weeks: list[Run]) -> None:
    code, out = call("export", str(weeks[1].uuid), "--format", "html")
    assert code == 0
    assert "1 of 1 shown" in sound(out).text


def test_a_large_run_is_compared_with_its_baseline_first(
    weeks: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    path = tmp_path / "w2.html"
    call("export", "w2", "--format", "html", "--output", str(path))
    assert "Against w1 6 of 8 cases broke" in sound(path.read_text()).text
    assert stored_comparison(weeks[1], weeks[2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--dataset", "Answers"], "a report is of a run, so name a RUN"),
        (["w2", "--verdict", "fail"], "leave filters and --sort out"),
        (["w2", "--tag", "all"], "leave filters and --sort out"),
        (["w2", "--sort", "close"], "leave filters and --sort out"),
    ],
)
def test_a_report_is_of_a_whole_run(
    weeks: list[Run], tmp_path: Path, options: list[str], said: str
) -> None:
    path = tmp_path / "out.html"
    code, text = call("export", *options, "--format", "html", "--output", str(path))
    assert code == 2
    assert said in text
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_is_written_beside_what_is_printed(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "weeks.html"
    code, out = call("compare", "w0", "w1", "w2", "--html", str(path))
    assert code == 0
    assert out.startswith("Answers: 2 runs vs. w0")
    words = sound(path.read_text(encoding="utf-8")).text
    assert "Answers / 2 runs compared with w0" in words
    assert "7 of 8 cases broke, 0 were fixed" in words
    assert "1 of 1 shown" in words


def test_a_file_that_cannot_be_written_is_refused_first(weeks: list[Run], tmp_path: Path) -> None:
    code, text = call("compare", "w0", "w1", "--html", str(tmp_path / "no" / "file.html"))
    assert code == 2
    assert "cannot be written" in text
    assert stored_comparison(weeks[0], weeks[1]) is None


def test_a_comparison_that_is_refused_leaves_no_file(weeks: list[Run], tmp_path: Path) -> None:
    path, older = tmp_path / "new.html", tmp_path / "older.html"
    older.write_text("kept")
    for each in (path, older):
        assert call("compare", "w0", "nowhere", "--html", str(each))[0] == 2
    assert [each.name for each in tmp_path.iterdir()] == ["older.html"]
    assert older.read_text() == "kept"
