"""The tables of a drift line, in plain text and in Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pytest_django import DjangoAssertNumQueries

from scoring.engine.drift import drift_lines, report
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, User
from tests.conftest import MakeDataset
from tests.management.commands.test_drift import drift
from tests.support.drift_runs import run_in_week
from tests.support.suite_runs import entry_of, suite_run


def test_tags_and_changes_of_level_are_printed(make_dataset: MakeDataset, tmp_path: Path) -> None:
    version = make_dataset([{"tags": ["billing", "app"]}, {"tags": ["billing"]}, *[{}] * 4])
    for week in range(15):
        run_in_week(version, week, 0.8 - 0.2 * (week > 7), "p" * 6)
    run_in_week(version, 15, 0.6, "pfpppp", is_near=False)
    path = tmp_path / "drift.md"
    printed, text = drift("Answers", "--markdown", str(path)), path.read_text()
    fell = re.escape("level decreased 0.800 → 0.600")
    assert re.search(rf"^w8 .* {fell}", printed, re.MULTILINE)
    assert re.search(rf"^\| w8 \|.*\| {fell}", text, re.MULTILINE)
    assert "from 0.800 to 0.600 (p < 0.001)." in printed
    assert re.search(
        r"\n\ntag       mean  change  n\nbilling  0.500  -0.0\d\d  2\napp      1.000", printed
    )
    assert re.search(
        r"\n\| billing \| 0.500 \| -0.\d+ \| 2 \|\n\| app \| 1.000 \| \+0.\d+ \| 1 \|\n$", text
    )


def test_a_bar_in_a_name_does_not_part_a_cell(version: DatasetVersion) -> None:
    run_in_week(version, 0, name="a|b")
    (line,) = drift_lines(version.dataset)
    assert "| a&#124;b |" in report.as_markdown(line)


def test_points_have_the_later_labels_of_their_runs(
    make_dataset: MakeDataset, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    version = make_dataset([{}] * 3)
    scores = {"close": [0.9, 0.6, "error"], "same": [1, 1, 1]}
    _, second = (suite_run(version, scores, name=name) for name in ("w45", "w46"))
    with django_assert_num_queries(0):
        assert report.read_relabels([]) == {}
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(second, by=alice)
    lines = drift_lines(version.dataset)
    with django_assert_num_queries(1):
        relabels = report.read_relabels(lines)
        described = [report.as_json(line, relabels)["points"] for line in lines]
    assert len(described) == 2
    for first, last in described:
        assert first["relabel"] is None
        assert last["relabel"]["thresholds"] == {"close": 0.7}
        assert last["relabel"]["passed"] == {"close": 1}
        assert [point["pass_rate"] for point in (first, last)] == [1, 1]
    printed = json.loads(drift(version.dataset.name, "--json"))
    labelled = [point["relabel"] is not None for line in printed for point in line["points"]]
    assert labelled == [False, True] * 2
