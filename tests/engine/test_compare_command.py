"""`manage.py compare`: what it prints and writes, and which code it ends with."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from scoring.engine import compare_report
from scoring.engine.compare import figures_of
from scoring.engine.compare_report import Told
from scoring.models import Comparison, DatasetVersion, Run, RunState, Team
from tests.compared import Given, run_with
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db
CASES = 30


def compare(*arguments: str) -> tuple[int, str]:
    """The exit code and what was printed, or the error."""
    out = StringIO()
    try:
        call_command("compare", *arguments, stdout=out)
    except CommandError as fault:
        return fault.returncode, str(fault)
    return 0, out.getvalue()


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    tagged = [{"key": f"q{n}", "tags": ["even" if n % 2 == 0 else "odd"]} for n in range(CASES)]
    return make_dataset(tagged)


def scores(broken: int) -> list[Given]:
    """The first so many cases fail."""
    return [0.0] * broken + [1.0] * (CASES - broken)


@pytest.fixture
def weeks(version: DatasetVersion) -> list[Run]:
    """Runs w0, w1, w2 in which none, one and twenty-five cases fail."""
    return [
        run_with(version, {"close": scores(n), "tone": scores(0)}, name=f"w{week}")
        for week, n in enumerate((0, 1, 25))
    ]


def test_it_prints_the_sentence_the_table_and_what_broke(weeks: list[Run]) -> None:
    code, out = compare("w0", "w2")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Answers: w2 compared with w0"
    assert lines[1] == (
        "25 of 30 cases broke, 0 were fixed (more than chance explains, p < 0.001); "
        "the drop in close is larger than chance explains."
    )
    (row,) = [line.split() for line in lines if line.startswith("close ")][:1]
    assert row[:4] == ["close", "30", "1.000", "0.167"]
    assert row[4] == "-0.833"
    assert row[-5:] == ["0", "25", "25", "0", "<0.001"]
    assert "cases: 25 broke, 0 fixed, 5 unchanged" in out
    assert "broke: q0, q1, q2, " in out
    assert "q19 and 5 more" in out
    assert "tone gives 30 cases the same score in both runs." in out
    assert "intervals and p of close: 10,000 seeded sign flips, bootstrap interval" in out
    assert ["even", "close", "15"] in [line.split()[:3] for line in lines]


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
        (figures,) = (each for each in figures_of(*runs_of(version)).scorers if each.name == name)
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
    told = columns_of(compare_report.markdown(Told(*runs, figures_of(*runs))), "close")
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
    assert lines[0] == "Answers: 2 runs beside w0"
    assert [line.split() for line in lines[2:5]] == [
        ["run", "pairs", "broke", "fixed", "unclear", "only", "in", "one"],
        ["w1", "30", "3", "0", "0", "0"],
        ["w2", "30", "0", "0", "2", "0"],
    ]
    assert lines[6] == "Answers: w1 compared with w0"
    assert path.read_text().startswith(
        "### Answers: 2 runs beside w0\n\n"
        "| run | pairs | broke | fixed | unclear | only in one |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| w1 | 30 | 3 | 0 | 0 | 0 |\n"
        "| w2 | 30 | 0 | 0 | 2 | 0 |\n\n"
        "### Answers: w1 compared with w0\n"
    )


def test_several_candidates_are_compared_with_one_baseline(weeks: list[Run]) -> None:
    code, out = compare("w0", "w1", str(weeks[2].uuid))
    assert code == 0
    assert [line for line in out.splitlines() if "compared with" in line] == [
        "Answers: w1 compared with w0",
        "Answers: w2 compared with w0",
    ]
    assert Comparison.objects.count() == 2


def test_json_says_what_the_api_says(weeks: list[Run]) -> None:
    code, out = compare("w0", "w1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["baseline"] == {"id": str(weeks[0].uuid), "name": "w0"}
    (told,) = found["comparisons"]
    assert told.pop("candidate") == {"id": str(weeks[1].uuid), "name": "w1"}
    wanted = compare_report.as_json(figures_of(weeks[0], weeks[1]))
    assert told == json.loads(json.dumps(wanted))
    assert (told["broke"], told["scorers"][0]["regressed"]) == (1, 1)


def test_markdown_is_written_beside(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "compare.md"
    assert compare("w0", "w2", "--markdown", str(path))[0] == 0
    text = path.read_text()
    assert text.startswith("### Answers: w2 compared with w0\n\n25 of 30 cases broke")
    assert "| close | 30 | 1.000 | 0.167 | -0.833 [" in text
    assert "- cases: 25 broke, 0 fixed, 5 unchanged" in text


def test_a_bar_in_a_name_does_not_break_the_table(version: DatasetVersion) -> None:
    runs = [run_with(version, {"a|b": scores(n)}) for n in (0, 3)]
    text = compare_report.markdown(Told(runs[0], runs[1], figures_of(*runs)))
    assert "| a&#124;b | 30 |" in text


def test_warnings_are_printed(version: DatasetVersion) -> None:
    run_with(version, {"close": scores(0)}, name="w0")
    run_with(version, {"close": scores(0)}, name="w1", thresholds={"close": 0.7})
    assert "note: close: the threshold was 0.5 and then 0.7" in compare("w0", "w1")[1]


def test_trials_that_broke_are_named(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "a"}])
    run_with(version, {"close": [1.0, 1.0]}, name="w0", trials=2)
    run_with(version, {"close": [1.0, 0.0]}, name="w1", trials=2)
    assert "broke: a (trial 1)\n" in compare("w0", "w1")[1]


def test_of_runs_of_one_name_the_newest_counts(version: DatasetVersion, weeks: list[Run]) -> None:
    run_with(version, {"close": scores(7), "tone": scores(0)}, name="w1")
    assert "7 of 30 cases broke" in compare("w0", "w1")[1]


def test_names_of_several_datasets_want_the_dataset(
    weeks: list[Run], make_dataset: MakeDataset
) -> None:
    other = make_dataset([{}], name="Others")
    run_with(other, {"close": [1.0]}, name="w0")
    code, said = compare("w0", "w1")
    wanted = "several datasets have a run 'w0': name one with --dataset: Answers, Others"
    assert (code, said) == (2, wanted)
    assert compare("w0", "w1", "--dataset", "Answers")[0] == 0
    assert compare("w1", "w0")[0] == 0  # the baseline tells the dataset


MISUSE: list[tuple[list[str], str]] = [
    (["w0", "nope"], "the dataset Answers has no run 'nope' that has ended"),
    (["nope", "w1"], "the team support has no run 'nope' that has ended"),
    (["w0", *["w1"] * 11], "11 candidates are too many: name up to 10"),
    (["w0", "w1", "--team=nobody"], "There is no team “nobody”. The teams are: support."),
    (["w0", "w1", "--dataset=Nowhere"], "the team support has no dataset 'Nowhere'"),
    (["w0", "w1", "--markdown=/no/such/file.md"], "/no/such/file.md cannot be written: No such"),
    (["w0", "0190b1b0-0000-7000-8000-000000000000"], "the team support has no run 0190b1b0-0000"),
]


@pytest.mark.parametrize(("arguments", "said"), MISUSE)
def test_bad_use_ends_with_2(weeks: list[Run], arguments: list[str], said: str) -> None:
    code, told = compare(*arguments)
    assert (code, told.startswith(said)) == (2, True), told


def test_a_run_of_another_team_is_as_good_as_none(weeks: list[Run], team: Team) -> None:
    Run.objects.filter(pk=weeks[1].pk).update(
        team=Team.objects.create(name="Elsewhere", slug="elsewhere")
    )
    code, said = compare("w0", str(weeks[1].uuid), "--team", team.slug)
    assert (code, said) == (2, f"the team support has no run {weeks[1].uuid}")
    assert compare("w0", str(uuid4()), "--team", team.slug)[0] == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"state": RunState.RUNNING}, "The run w1 is running: wait until it has finished.")],
)
def test_runs_that_cannot_be_compared_are_refused(
    weeks: list[Run], changed: dict[str, Any], said: str
) -> None:
    Run.objects.filter(pk=weeks[1].pk).update(**changed)
    assert compare("w0", str(weeks[1].uuid)) == (2, said)


def test_different_datasets_are_refused(weeks: list[Run], make_dataset: MakeDataset) -> None:
    other = run_with(make_dataset([{}], name="Others"), {"close": [1.0]}, name="elsewhere")
    code, said = compare("w0", str(other.uuid))
    assert (code, "different datasets, Answers and Others" in said) == (2, True)
