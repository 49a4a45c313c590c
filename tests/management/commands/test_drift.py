"""`manage.py drift` prints what the drift page shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.engine.drift import drift_lines, report
from scoring.models import Baseline, DatasetVersion, RunStep
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.fixtures.weeks import version

__all__ = ["version"]


@pytest.fixture
def two_weeks(version: DatasetVersion) -> DatasetVersion:
    """Two runs, the first one the baseline, with another threshold in the second."""
    first = run_in_week(version, 0, 0.8, "ppff")
    run_in_week(version, 1, 0.75, "pfpf", threshold=0.6)
    Baseline.objects.pin(first, by=None)
    return version


def drift(*words: str) -> str:
    code, text = call("drift", *words)
    assert code == 0, text
    return text


TABLE = """\
a · close
run            dated                mean [95 %]  pass rate  n  fixed  broke  over all  similarity   unique  changed
w0 (baseline)  2015-01-05  0.800 [0.641, 0.959]     75.0 %  4      -      -         -        1.00  100.0 %
w1             2015-01-12  0.750 [0.591, 0.909]     75.0 %  4      1      1     1 / 1        1.00  100.0 %  threshold 0.7 → 0.6
fixed and broke: cases whose verdict by close flipped since the run before; over all: fixed / broke over all scorers

close is at 0.750 in w1 (n = 4), 0.050 less than in w0.
No significant change against w0 (p = 0.006; the level is 0.0025).
Against w0 alone, over the same 4 outputs: \N{MINUS SIGN}0.050 [\N{MINUS SIGN}0.073, \N{MINUS SIGN}0.027] (p = 0.006); 1 fixed, 1 broke.
A decrease of 0.737 in the next run is detectable with 80\u202f% power.
The similarity of its outputs to those of w0 is 1.00.
Not enough runs for control limits: 2 runs, 8 are needed. Until then each run is tested case by case against these runs alone.
"""  # noqa: E501  as a terminal shows it


def test_a_table_for_each_line(two_weeks: DatasetVersion) -> None:
    assert drift("Answers") == TABLE


def test_json_has_the_apis_shape(two_weeks: DatasetVersion) -> None:
    (told,) = json.loads(drift("Answers", "--json"))
    assert set(told) >= {"points", "change_points", "limits", "scorer", "series"}
    assert [point["fixed"] for point in told["points"]] == [None, 1]
    (line,) = drift_lines(two_weeks.dataset)
    assert told["sentences"] == report.as_json(line, {})["sentences"]


def test_markdown_is_written_beside_the_table(two_weeks: DatasetVersion, tmp_path: Path) -> None:
    path = tmp_path / "drift.md"
    assert drift("Answers", "--markdown", str(path)) == TABLE
    text = path.read_text()
    assert text.startswith("### a · close\n\n| run | dated |")
    assert "| w1 | 2015-01-12 | 0.750 [0.591, 0.909] | 75.0 % | 4 | 1 | 1 | 1 / 1 |" in text
    assert "- Not enough runs for control limits: 2 runs, 8 are needed." in text


def test_a_scorer_and_a_series_can_be_chosen(version: DatasetVersion) -> None:
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    run_in_week(version, 0, scorers=both)
    run_in_week(version, 1, scorers=both[:1], series="b")

    def lines(*words: str) -> list[str]:
        return [told["series"] + told["scorer"] for told in json.loads(drift("Answers", *words))]

    assert lines("--json") == ["aclose", "asame", "bclose"]
    assert lines("--json", "--scorer", "close") == ["aclose", "bclose"]
    assert lines("--json", "--series", "a", "--scorer", "same") == ["asame"]


def test_nothing_is_left_to_the_worker(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.drift.jobs.MAX_INLINE_OUTPUTS", 0)
    for week in range(3):
        run_in_week(version, week, 0.8, "pppp")
    (told,) = json.loads(drift("Answers", "--json"))
    assert told["is_measured"]
    assert RunStep.objects.count() == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["Nothing"], "the team support has no dataset 'Nothing'"),
        (["Answers", "--scorer", "nobody"], "Answers has no scorer 'nobody'; it has: close, same"),
        (["Answers", "--series", "z"], "Answers has no series 'z'; it has: a, b"),
        (["Answers", "--series", "b", "--scorer", "same"], "the series 'b' was never scored by"),
        (["Answers", "--markdown", "/nowhere/at.md"], "/nowhere/at.md cannot be written"),
        (["Answers", "--team", "nobody"], "There is no team “nobody”"),
        (["Empty"], "the dataset Empty has no finished run"),
    ],
)
def test_bad_use_ends_with_2_and_says_what_there_is(
    version: DatasetVersion, make_dataset: MakeDataset, words: list[str], text: str
) -> None:
    both: list[Any] = [scorer_of(version, "close"), scorer_of(version, "same")]
    run_in_week(version, 0, scorers=both)
    run_in_week(version, 1, scorers=both[:1], series="b")
    make_dataset([{}], name="Empty")
    code, error = call("drift", *words)
    assert (code, text in error) == (2, True), error
