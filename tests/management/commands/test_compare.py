"""`manage.py compare`: what it prints and writes, and which code it ends with."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from scoring.engine.compare import report
from scoring.engine.compare.comparison import compute_figures
from scoring.models import Comparison, DatasetVersion, Run, RunState, Team, User, Waiver
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.finished_runs import Given, run_with
from tests.support.module_rows import kept
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db
CASES = 30


compare = partial(call, "compare")


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    tagged = [{"key": f"q{n}", "tags": ["even" if n % 2 == 0 else "odd"]} for n in range(CASES)]
    return make_dataset(tagged)


def scores(broken: int) -> list[Given]:
    """The first so many cases fail."""
    return [0.0] * broken + [1.0] * (CASES - broken)


@kept
def add_weeks() -> None:
    version = DatasetVersion.objects.get()
    for week, n in enumerate((0, 1, 25)):
        run_with(version, {"close": scores(n), "tone": scores(0)}, name=f"w{week}")


@pytest.fixture
def weeks(version: DatasetVersion) -> list[Run]:
    """Runs w0, w1, w2 in which none, one and twenty-five cases fail."""
    add_weeks()
    return list(Run.objects.order_by("pk"))


def test_it_prints_the_sentence_the_table_and_what_broke(weeks: list[Run]) -> None:
    code, out = compare("w0", "w2")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Answers: w2 compared with w0"
    assert lines[1] == (
        "25 of 30 cases broke, 0 were fixed (statistically significant, p < 0.001 after correction)"
        "; the drop in close is statistically significant; 2 slices by tag changed significantly."
    )
    (row,) = [line.split() for line in lines if line.startswith("close ")][:1]
    assert row[:4] == ["close", "30", "1.000", "0.167"]
    assert row[4] == "-0.833"
    assert row[-5:] == ["0", "25", "25", "0", "<0.001"]
    assert "cases: 25 broke, 0 fixed, 5 unchanged" in out
    assert "broke: q0, q1, q2, " in out
    assert "q19 and 5 more" in out
    assert "tone gives 30 cases the same score in both runs." in out
    assert "intervals and p of close, tone: every sign flip counted, bootstrap interval" in out
    assert ["even", "close", "15"] in [line.split()[:3] for line in lines]


def test_json_says_what_the_api_says(weeks: list[Run]) -> None:
    code, out = compare("w0", "w1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["baseline"] == {"id": str(weeks[0].uuid), "name": "w0"}
    (told,) = found["comparisons"]
    assert told.pop("candidate") == {"id": str(weeks[1].uuid), "name": "w1"}
    assert told.pop("relabel") == {"baseline": None, "candidate": None}
    wanted = report.as_json(compute_figures(weeks[0], weeks[1]))
    assert told == json.loads(json.dumps(wanted))
    assert (told["broke"], told["scorers"][0]["regressed"]) == (1, 1)


def test_markdown_is_written_beside(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "compare.md"
    assert compare("w0", "w2", "--markdown", str(path))[0] == 0
    text = path.read_text()
    assert text.startswith("### Answers: w2 compared with w0\n\n25 of 30 cases broke")
    assert "| close | 30 | 1.000 | 0.167 | -0.833 [" in text
    assert "- cases: 25 broke, 0 fixed, 5 unchanged" in text


def test_warnings_are_printed(version: DatasetVersion) -> None:
    run_with(version, {"close": scores(0)}, name="w0")
    run_with(version, {"close": scores(0)}, name="w1", thresholds={"close": 0.7})
    assert "note: close: the threshold was 0.5 and then 0.7" in compare("w0", "w1")[1]


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
    (["w0", "w1", "--gate=regressions"], "the gate 'regressions' cannot be read"),
    (["w0", "w1", "--gate=mean.no>=1"], "mean.no>=1: the run w1 has no such scorer; it has: close"),
    (["w0", "w1", "--max-errors=2"], "--max-errors is a share from 0 to 1"),
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


def test_a_run_that_goes_on_is_not_compared(weeks: list[Run]) -> None:
    Run.objects.filter(pk=weeks[1].pk).update(state=RunState.RUNNING)
    error = "The run w1 is running: wait until it has finished."
    assert compare("w0", str(weeks[1].uuid)) == (2, error)


def test_different_datasets_are_refused(weeks: list[Run], make_dataset: MakeDataset) -> None:
    other = run_with(make_dataset([{}], name="Others"), {"close": [1.0]}, name="elsewhere")
    code, said = compare("w0", str(other.uuid))
    assert (code, "different datasets, Answers and Others" in said) == (2, True)


def test_a_candidate_named_twice_is_compared_once(weeks: list[Run]) -> None:
    code, out = compare("w0", "w1", "w2", str(weeks[1].uuid), "w1")
    assert code == 0
    assert [line for line in out.splitlines() if "compared with" in line] == [
        "Answers: w1 compared with w0",
        "Answers: w2 compared with w0",
    ]
    assert Comparison.objects.count() == 2


@pytest.mark.parametrize("others", [[], ["w1"]])
def test_a_run_is_not_compared_with_itself(
    weeks: list[Run], others: list[str], tmp_path: Path
) -> None:
    error = "w0 is the baseline: name another run to compare with it"
    path = tmp_path / "compare.md"
    assert compare("w0", *others, "w0", "--markdown", str(path)) == (2, error)
    assert compare("w0", *others, str(weeks[0].uuid)) == (2, error)
    assert not Comparison.objects.exists()
    assert not path.exists()


def gated(*words: str) -> tuple[int, str]:
    """The exit code, and what was printed also where a gate was missed."""
    out = StringIO()
    try:
        call_command("compare", *words, stdout=out)
    except CommandError as fault:
        return fault.returncode, out.getvalue()
    return 0, out.getvalue()


@pytest.mark.parametrize(
    ("gates", "code", "said"),
    [
        (["regressions<=1", "pass_rate>=0.9"], 0, "gate regressions<=1 (1) passed"),
        (["regressions<=0"], 1, "gate regressions<=0 (1) failed"),
        (["no_regression"], 1, "gate no_regression (p = 1.000) undecided: 1 broke, 0 fixed"),
        (["mean.close>=0.99"], 1, "gate mean.close>=0.99 (0.966667) failed"),
    ],
)
def test_gates_decide_the_exit_code(
    weeks: list[Run], gates: list[str], code: int, said: str
) -> None:
    ended = gated("w0", "w1", *(f"--gate={gate}" for gate in gates))
    assert ended[0] == code
    assert said in ended[1]


def test_of_several_candidates_each_gate_is_named(weeks: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "compare.md"
    code, out = gated("w0", "w1", "w2", "--gate=regressions<=1", f"--markdown={path}")
    assert code == 1
    assert "w1: gate regressions<=1 (1) passed" in out
    assert "w2: gate regressions<=1 (25) failed" in out
    assert "- w2: gate regressions<=1 (25) failed\n" in path.read_text()


def test_a_waiver_turns_the_gate_until_its_date(weeks: list[Run], alice: User) -> None:
    gate = "--gate=regressions<=0"
    assert gated("w0", "w1", gate)[0] == 1
    waiver = waive(weeks[1], "q0", "close", alice, days=0)
    code, out = gated("w0", "w1", gate)
    assert code == 0
    until = waiver.until.isoformat()
    assert f"waived: q0: close until {until} (alice@example.org: Known bug 12.)" in out
    assert "gate regressions<=0 (0) passed: 1 waived" in out
    (found,) = json.loads(gated("w0", "w1", gate, "--json")[1])["comparisons"]
    assert (found["broke"], found["regressions"]) == (1, 0)
    (used,) = found["waivers"]["used"]
    assert (used["key"], used["waivers"][0]["until"]) == ("q0", until)
    Waiver.objects.update(until=waiver.until - timedelta(days=1))
    code, out = gated("w0", "w1", gate)
    assert code == 1
    assert "waiver expired: q0: close until" in out
    assert "gate regressions<=0 (1) failed: 1 no longer waived" in out
