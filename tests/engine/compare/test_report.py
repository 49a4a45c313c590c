"""The tables of a comparison: a line each for candidates, scorers and slices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoring.engine.compare import report
from scoring.engine.compare.comparison import compute_figures
from scoring.engine.compare.report import ComparedRun
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, Run, User
from tests.conftest import MakeDataset
from tests.management.commands.test_compare import CASES, compare, scores, version
from tests.support.finished_runs import Given, run_with
from tests.support.suite_runs import entry_of, suite_run

__all__ = ["version"]


def columns_of(text: str, scorer: str) -> dict[str, str]:
    """The cells of a scorer's line in a Markdown table by their heads."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    (head,) = (row for row in rows if row[0] == "scorer")
    (found,) = (row for row in rows if row[0] == scorer and len(row) == len(head))
    return dict(zip(head, found, strict=True))


def test_each_scorers_line_has_both_ps_that_of_flips_and_what_can_be_detected(
    version: DatasetVersion, tmp_path: Path
) -> None:
    lower: list[Given] = [0.6] * 5 + scores(0)[5:]  # which still pass
    run_with(version, {"close": scores(0), "tone": scores(0)}, name="w0")
    run_with(version, {"close": scores(6), "tone": lower}, name="w1")
    path = tmp_path / "compare.md"
    out = compare("w0", "w1", "--markdown", str(path))[1]
    written = path.read_text()
    for name in ("close", "tone"):
        told = columns_of(written, name)
        (figures,) = (
            each for each in compute_figures(*runs_of(version)).scorers if each.name == name
        )
        ps = {"p": figures.p, "p corr.": figures.p_corrected, "p flips": figures.flips.p_corrected}
        for head, p in ps.items():
            assert p is not None
            is_told = (
                abs(float(told[head]) - p) <= 0.00051 if p >= 0.001 else told[head] == "<0.001"
            )
            assert is_told, (name, head)
        assert float(told["detect."]) == pytest.approx(figures.detectable, abs=0.0005)
        (line,) = [line.split() for line in out.splitlines() if line.startswith(f"{name} ")][:1]
        assert line[-8:] == list(told.values())[-8:]
    close, tone = (columns_of(written, name) for name in ("close", "tone"))
    assert close["p"] != close["p corr."]
    assert tone["p corr."] != tone["p flips"] == "1.000"


def runs_of(version: DatasetVersion) -> list[Run]:
    return list(Run.objects.filter(output_set__version=version).order_by("pk"))


def test_a_scorer_that_nothing_is_known_of_has_dashes(version: DatasetVersion) -> None:
    errors: list[Given] = ["error"] * CASES
    runs = [run_with(version, {"close": given}) for given in (scores(0), errors)]
    told = columns_of(report.as_markdown(ComparedRun(*runs, compute_figures(*runs))), "close")
    assert [told[head] for head in ("n", "p", "p corr.", "detect.")] == ["0", "-", "-", "-"]


@pytest.mark.parametrize("word", ["broke", "fixed"])
@pytest.mark.parametrize(("count", "more"), [(1, ""), (20, ""), (21, " and 1 more")])
def test_the_first_cases_that_flipped_are_named(
    version: DatasetVersion, word: str, count: int, more: str
) -> None:
    given = [scores(0), scores(count)] if word == "broke" else [scores(count), scores(0)]
    for name, each in zip(("w0", "w1"), given, strict=True):
        run_with(version, {"close": each}, name=name)
    lines = compare("w0", "w1")[1].splitlines()
    keys = ", ".join(f"q{n}" for n in range(min(count, 20)))
    named = [line for line in lines if line.startswith(("broke: ", "fixed: "))]
    assert named == [f"{word}: {keys}{more}"]


def test_several_candidates_have_a_line_each_before_their_parts(
    version: DatasetVersion, tmp_path: Path
) -> None:
    errors: list[Given] = ["error", "skip", *scores(0)[2:]]
    for name, given in (("w0", scores(0)), ("w1", scores(3)), ("w2", errors)):
        run_with(version, {"close": given}, name=name)
    path = tmp_path / "compare.md"
    lines = compare("w0", "w1", "w2", "--markdown", str(path))[1].splitlines()
    assert lines[0] == "Answers: 2 runs vs. w0"
    assert [line.split() for line in lines[2:5]] == [
        ["run", "pairs", "broke", "fixed", "inconclusive", "only", "in", "one"],
        ["w1", "30", "3", "0", "0", "0"],
        ["w2", "30", "0", "0", "2", "0"],
    ]
    assert lines[6] == "Answers: w1 compared with w0"
    assert path.read_text().startswith(
        "### Answers: 2 runs vs. w0\n\n"
        "| run | pairs | broke | fixed | inconclusive | only in one |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| w1 | 30 | 3 | 0 | 0 | 0 |\n"
        "| w2 | 30 | 0 | 0 | 2 | 0 |\n\n"
        "### Answers: w1 compared with w0\n"
    )


def test_a_bar_in_a_name_does_not_break_the_table(version: DatasetVersion) -> None:
    runs = [run_with(version, {"a|b": scores(n)}) for n in (0, 3)]
    text = report.as_markdown(ComparedRun(runs[0], runs[1], compute_figures(*runs)))
    assert "| a&#124;b | 30 |" in text


def test_cases_that_broke_by_the_mean_of_their_trials_are_named(
    make_dataset: MakeDataset,
) -> None:
    version = make_dataset([{"key": "a"}, {"key": "b"}])
    run_with(version, {"close": [1.0, 1.0, 1.0, 1.0]}, name="w0", trials=2)
    run_with(version, {"close": [0.9, 0.0, 0.5, 0.5]}, name="w1", trials=2)
    assert "broke: a\n" in compare("w0", "w1")[1]


def test_a_relabelled_run_is_a_note(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    old, new = (
        suite_run(version, {"close": scores}, name=name)
        for name, scores in (("w45", [0.9, 0.9]), ("w46", [0.9, 0.4]))
    )
    entry_of().change_threshold(0.3, by=None, reason="x")
    compared = ComparedRun(old, new, compute_figures(old, new))
    note = "note: w46 is re-labelled with close 0.3; this comparison uses its verdicts as scored"
    assert note not in report.as_table(compared)
    relabel_run(new, by=None)
    assert note in report.as_table(compared).splitlines()
    assert f"- {note}" in report.as_markdown(compared).splitlines()


def test_json_has_the_later_labels_of_both_runs(make_dataset: MakeDataset, alice: User) -> None:
    version = make_dataset([{}] * 2)
    old, new = (suite_run(version, {"close": [0.9, 0.4]}, name=name) for name in ("w45", "w46"))
    assert report.relabels_json(old, new) == {"baseline": None, "candidate": None}
    entry_of().change_threshold(0.3, by=None, reason="x")
    relabel_run(old, by=alice)
    found = report.relabels_json(old, new)
    assert found["candidate"] is None
    assert found["baseline"]["thresholds"] == {"close": 0.3}
    assert (found["baseline"]["verdicts"]["pass"], found["baseline"]["by"]) == (2, str(alice))
    told = json.loads(compare("w45", "w46", "--json")[1])
    assert told["comparisons"][0]["relabel"] == found
    assert told["comparisons"][0]["unchanged"] == 2
