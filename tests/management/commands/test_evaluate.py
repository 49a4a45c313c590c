"""`manage.py evaluate`: what it prints, stores, writes, and which code it ends with."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.runs import planning
from scoring.models import (
    Baseline,
    Dataset,
    DatasetVersion,
    OutputSet,
    Run,
    Suite,
    SuiteProposal,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.fixtures.spy import Spy
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.django_db


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def evaluate(*arguments: str) -> Ended:
    out, err = StringIO(), StringIO()
    try:
        call_command("evaluate", *arguments, stdout=out, stderr=err)
    except CommandError as fault:
        return Ended(fault.returncode, out.getvalue(), f"{err.getvalue()}{fault}")
    return Ended(0, out.getvalue(), err.getvalue())


@pytest.fixture
def version(make_dataset: MakeDataset, make_scorer: MakeScorer, spy: Spy) -> DatasetVersion:
    """A dataset `Answers` of four cases with a suite of its own."""
    made = make_dataset([{"key": f"q{n}", "input": f"question {n}"} for n in range(1, 5)])
    made.dataset.suite = Suite.objects.define(
        made.dataset.team, "release", [(make_scorer("spy", "close enough"), None)]
    )
    made.dataset.save()
    return made


@pytest.fixture
def outputs(version: DatasetVersion, make_outputs: MakeOutputs) -> OutputSet:
    return make_outputs(version, ["1", "1", "0.5", "0"], series="gpt")


def test_it_scores_stores_and_prints_the_table(outputs: OutputSet) -> None:
    ended = evaluate("Answers", "--name", "week 46")
    assert (ended.code, ended.err) == (0, "")
    assert "close enough" in ended.out
    assert "75.0 %  4 of 4" in ended.out
    assert "cases: 3 pass, 1 fail, 0 error, 0 skipped" in ended.out
    run = Run.objects.get()
    assert (run.name, run.state, run.suite_name) == ("week 46", "finished", "release")
    assert (run.pass_count, run.lease_owner) == (3, "")


@pytest.mark.parametrize(
    ("texts", "gates", "code", "said"),
    [
        (["1", "1", "1", "0"], ["pass_rate>=0.75"], 0, "gate pass_rate>=0.75 (0.75) passed"),
        (["1", "1", "1", "0"], ["pass_rate>=0.9"], 1, "gate pass_rate>=0.9 (0.75) failed"),
        (["1", "1", "1", "0"], ["pass_rate>=0.7", "pass_rate>=0.8"], 1, "pass_rate>=0.8 (0.75) fa"),
        (["1", "1", "1", "0"], ["mean.close enough>=0.75"], 0, "(0.75) passed"),
        (["1", "1", "1", "0"], ["mean.close enough>0.75"], 1, "(0.75) failed"),
        (
            ["1", "1", "1", "error"],
            ["pass_rate>=0.9"],
            1,
            "undecided: 1 of 4 have no output, have an error",
        ),
        (["1", "1", "1", "skip"], ["pass_rate>=0.9"], 1, "undecided"),
        (["error"] * 4, ["pass_rate>=0"], 1, "undecided"),
        (["1", "1", "1", None], ["mean.close enough>=0.1"], 1, "undecided"),
        (["0", "0", "0", "0"], [], 0, "4 fail"),
    ],
)
def test_gates_decide_the_exit_code(
    version: DatasetVersion,
    make_outputs: MakeOutputs,
    texts: list[str | None],
    gates: list[str],
    code: int,
    said: str,
) -> None:
    make_outputs(version, texts)
    ended = evaluate("Answers", *(f"--gate={gate}" for gate in gates))
    assert ended.code == code
    assert said in ended.out
    assert Run.objects.get().state == "finished"


def test_more_errors_may_be_allowed(version: DatasetVersion, make_outputs: MakeOutputs) -> None:
    make_outputs(version, ["1", "1", "1", "error"])
    assert evaluate("Answers", "--gate=pass_rate>=0.9", "--max-errors=0.25").code == 0


class TestBaseline:
    @pytest.fixture
    def weeks(self, version: DatasetVersion, make_outputs: MakeOutputs) -> Callable[..., Ended]:
        """Evaluates outputs of the next week in the series."""

        def evaluate_week(name: str, *texts: str, more: tuple[str, ...] = ()) -> Ended:
            make_outputs(version, texts, series="gpt")
            return evaluate("Answers", "--name", name, *more)

        return evaluate_week

    def test_auto_is_the_previous_run_of_the_series(self, weeks: Callable[..., Ended]) -> None:
        asked = ("--baseline=auto", "--gate=regressions<=0")
        first = weeks("w1", "1", "1", "0", "0", more=asked)
        assert (first.code, "gate regressions<=0 passed: there is no earlier" in first.out) == (
            0,
            True,
        )
        assert "baseline: none, the series gpt has no earlier finished run" in first.out
        same = weeks("w2", "1", "1", "1", "0", more=asked)
        assert (same.code, "baseline w1: 0 regressions" in same.out) == (0, True)
        worse = weeks("w3", "1", "0", "0", "1", more=asked)
        assert (worse.code, "baseline w2: 2 regressions" in worse.out) == (1, True)
        assert "gate regressions<=0 (2) failed" in worse.out
        assert worse.err == "not met: regressions<=0"

    def test_auto_is_the_pinned_run_where_there_is_one(self, weeks: Callable[..., Ended]) -> None:
        weeks("w1", "1", "1", "1", "1")
        weeks("w2", "0", "0", "0", "0")
        Baseline.objects.pin(Run.objects.get(name="w1"), by=None)
        ended = weeks("w3", "1", "0", "0", "0", more=("--baseline=auto",))
        assert (ended.code, "baseline w1: 3 regressions" in ended.out) == (0, True)

    def test_json_has_no_figure_where_there_is_no_baseline(
        self, weeks: Callable[..., Ended]
    ) -> None:
        ended = weeks(
            "w1", "1", "1", "0", "0", more=("--baseline=auto", "--gate=regressions<=0", "--json")
        )
        found = json.loads(ended.out)
        assert (found["baseline"], found["regressions"]) == (None, None)
        (gate,) = found["gates"]
        assert (gate["state"], gate["value"], "no earlier run" in gate["why"]) == (
            "passed",
            None,
            True,
        )

    def test_a_run_may_be_named(self, weeks: Callable[..., Ended]) -> None:
        weeks("w1", "1", "1", "1", "1")
        weeks("w2", "0", "0", "0", "0")
        asked = ("--baseline=w1", "--gate=regressions<=2")
        ended = weeks("w3", "1", "1", "0", "0", more=asked)
        assert (ended.code, "baseline w1: 2 regressions" in ended.out) == (0, True)


class TestMisuse:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["Nowhere"], "has no dataset 'Nowhere'"),
            (["Answers", "--team=nobody"], "There is no team “nobody”. The teams are: support."),
            (["Answers", "--suite=nope"], "'nope' is neither a suite of the team support nor"),
            (["Answers", "--series=other"], "has no outputs of the series 'other'"),
            (["Answers", "--outputs=/no/such/file.jsonl"], "/no/such/file.jsonl"),
            (["Answers", "--dated=yesterday"], "--dated"),
            (["Answers", "--markdown=/"], "/ cannot be written"),
        ],
    )
    def test_it_ends_with_2_and_says_why(
        self, outputs: OutputSet, arguments: list[str], said: str
    ) -> None:
        ended = evaluate(*arguments)
        assert ended.code in {1, 2}  # argparse's own, when called from Python, carries 1
        assert said in ended.err
        assert not Run.objects.exists()

    def test_several_teams_must_be_told_apart(self, outputs: OutputSet) -> None:
        Team.objects.create(name="Other", slug="other")
        ended = evaluate("Answers")
        assert (ended.code, ended.err) == (
            2,
            "Name the team with --team. The teams are: other, support.",
        )
        assert evaluate("Answers", "--team", "support").code == 0

    def test_several_series_must_be_told_apart(
        self, version: DatasetVersion, outputs: OutputSet, make_outputs: MakeOutputs
    ) -> None:
        make_outputs(version, ["0"] * 4, series="llama")
        ended = evaluate("Answers")
        assert (ended.code, "name one: gpt, llama" in ended.err) == (2, True)
        assert "4 fail" in evaluate("Answers", "--series", "llama").out

    def test_a_dataset_without_a_suite_needs_one(self, outputs: OutputSet) -> None:
        Dataset.objects.update(suite=None)
        ended = evaluate("Answers")
        assert (ended.code, "name one with --suite" in ended.err) == (2, True)
        assert evaluate("Answers", "--suite", "release").code == 0

    def test_outputs_of_an_older_version_are_not_taken_for_the_latest(
        self, outputs: OutputSet, make_dataset: MakeDataset
    ) -> None:
        make_dataset([{"key": "q1"}])
        ended = evaluate("Answers")
        assert (ended.code, "Answers v2 has no outputs" in ended.err) == (2, True)


def test_the_newest_outputs_of_a_series_are_scored(
    version: DatasetVersion, outputs: OutputSet, make_outputs: MakeOutputs
) -> None:
    newest = make_outputs(version, ["0"] * 4, series="gpt")
    evaluate("Answers")
    assert Run.objects.get().output_set == newest


def test_a_suite_may_be_a_file(outputs: OutputSet, tmp_path: Path) -> None:
    path = tmp_path / "strict.json"
    path.write_text(json.dumps({"scorers": [{"name": "strict", "type": "spy", "threshold": 1}]}))
    ended = evaluate("Answers", "--suite", str(path), "--gate=mean.strict>=0.6")
    assert (ended.code, Run.objects.get().suite_name) == (0, "strict")
    path.write_text('{"scorers": []}')
    ended = evaluate("Answers", "--suite", str(path))
    assert (ended.code, "at least one scorer" in ended.err) == (2, True)


def test_a_suite_that_is_called_like_the_file_is_not_taken_for_it(
    outputs: OutputSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("release").write_text(json.dumps({"scorers": [{"name": "strict", "type": "spy"}]}))
    ended = evaluate("Answers", "--suite", "release")
    assert (ended.code, "both a suite of the team support and a file" in ended.err) == (2, True)
    assert evaluate("Answers", "--suite", "./release").code == 0
    assert Run.objects.get().frozen_scorers[0].name == "strict"


def test_a_suite_file_with_other_thresholds_scores_with_its_own(
    outputs: OutputSet, client: Client, alice: User, tmp_path: Path
) -> None:
    path = tmp_path / "strict.json"

    def run_file(threshold: float, *words: str, **more: Any) -> Ended:
        scorer = {"name": "strict", "type": "spy", "threshold": threshold, **more}
        path.write_text(json.dumps({"scorers": [scorer, {"type": "exact_match"}]}))
        return evaluate("Answers", "--suite", str(path), *words)

    first = run_file(1)
    assert ("Thresholds of" in first.out, first.err) == (False, "")
    suite = Suite.objects.get(name="strict")
    note = "Thresholds of strict.json: strict 0.5 (suite: 1)"
    ended = run_file(0.5, config={"label": "newer"})
    assert f"\n{note}\n" in ended.out
    assert ended.err.startswith("the suite strict keeps its thresholds; an administrator accepts")
    told = json.loads(run_file(0.5, "--json", config={"label": "newer"}).out)
    assert (told["thresholds_note"], told["scorers"][0]["threshold"]) == (note, 0.5)
    run = Run.objects.latest("pk")
    assert (run.suite, run.suite_revision, run.thresholds_note) == (suite, 1, note)
    assert [scorer.version.number for scorer in run.frozen_scorers] == [2, 1]
    assert suite.known_thresholds()[suite.entries.get(scorer__name="strict").scorer_id] == 1
    assert SuiteProposal.objects.get().source_name == "strict.json"
    client.force_login(alice)
    assert note in client.get(reverse("run", args=[run.uuid])).text
    assert client.get(reverse("api:run", args=[run.uuid])).json()["thresholds_note"] == note


def test_outputs_may_be_a_file(version: DatasetVersion, tmp_path: Path) -> None:
    path = tmp_path / "gpt.jsonl"
    rows = [{"id": f"q{n}", "output": "1"} for n in (1, 2, 3, 4)]
    path.write_text("\n".join(map(json.dumps, [*rows, {"id": "q9", "output": "1"}])))
    arguments = "--outputs", str(path), "--series", "gpt", "--dated", "2016-11-20"
    ended = evaluate("Answers", *arguments, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["verdicts"]["pass"] == 4
    outputs = OutputSet.objects.get()
    assert (outputs.series, outputs.dated.isoformat()) == ("gpt", "2016-11-20T00:00:00+00:00")
    assert "outputs without a case in Answers v1: 1: q9" in ended.err


def test_json_is_all_that_is_printed(outputs: OutputSet) -> None:
    ended = evaluate("Answers", "--json", "--gate=pass_rate>=0.9")
    found = json.loads(ended.out)
    assert (ended.code, found["gates"][0]["state"]) == (1, "failed")
    assert found["verdicts"] == {"pass": 3, "fail": 1, "error": 0, "skipped": 0}


def test_junit_and_markdown_are_written(outputs: OutputSet, tmp_path: Path) -> None:
    junit, markdown = tmp_path / "junit.xml", tmp_path / "table.md"
    evaluate("Answers", "--junit", str(junit), "--markdown", str(markdown))
    suite = ET.parse(junit).getroot()
    assert [case.get("name") for case in suite] == ["q1", "q2", "q3", "q4"]
    assert [child.tag for child in suite.iter("failure")] == ["failure"]
    assert "| close enough |" in markdown.read_text()


def test_a_run_already_held_by_a_worker_is_waited_for(
    outputs: OutputSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker finishes the run between our making it and our work on it."""
    from scoring.engine.processes.process_pool import InlineExecutor
    from scoring.engine.worker import run_dispatcher

    ours = run_dispatcher.RunDispatcher.take

    def too_late(self: Any, run: Run) -> bool:
        monkeypatch.setattr(run_dispatcher.RunDispatcher, "take", ours)
        run_dispatcher.run_to_end(Run.objects.get(), InlineExecutor())
        return False

    monkeypatch.setattr(run_dispatcher.RunDispatcher, "take", too_late)
    ended = evaluate("Answers")
    assert (ended.code, "3 pass" in ended.out) == (0, True)


@pytest.mark.django_db(transaction=True)
class TestAsAProcess:
    """The command line itself, with its exit codes; large enough for a pool."""

    @pytest.mark.long("the command is run three times, each in a process of its own")
    def test_exit_codes(
        self,
        site: Site,
        team: Team,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
        make_scorer: MakeScorer,
    ) -> None:
        count = planning.SHARD_OUTPUTS + 1
        version = make_dataset([{"expected": "yes"}] * count)
        make_outputs(version, ["yes"] * count)
        Suite.objects.define(team, "s", [(make_scorer("exact_match"), None)])
        common = "evaluate", "Answers", "--suite", "s"
        assert site.start(*common, "--gate", "pass_rate>=1").wait(DEADLINE_SECONDS) == 0
        assert f"{count:,} of {count:,}" in site.log
        assert site.start(*common, "--gate", "pass_rate<1").wait(DEADLINE_SECONDS) == 1
        assert "CommandError: not met: pass_rate<1" in site.log
        assert site.start(*common, "--dated", "yesterday").wait(DEADLINE_SECONDS) == 2
        assert "Traceback" not in site.log
        assert not site.members(site.processes[0].pid)

    @pytest.mark.parametrize(
        "words",
        [("token", "--team", "a", "--email", "b@example.org", "--name", "c"), ("demo",)],
        ids=lambda words: words[0],
    )
    def test_a_database_that_is_not_set_up_is_misuse(
        self, fresh_site: Site, words: tuple[str, ...]
    ) -> None:
        assert fresh_site.start(*words).wait(DEADLINE_SECONDS) == 2
        assert "manage.py migrate" in fresh_site.log
        assert "Traceback" not in fresh_site.log

    @pytest.mark.sqlite
    @pytest.mark.parametrize(
        "words", [("evaluate", "Answers"), ("import", "README.md", "--dataset", "Answers")]
    )
    def test_a_database_that_is_broken_is_said(
        self, fresh_site: Site, words: tuple[str, ...]
    ) -> None:
        (fresh_site.folder / "evalsite.sqlite3").write_bytes(b"no database" * 100)
        assert fresh_site.start(*words).wait(DEADLINE_SECONDS) == 2
        assert "the database cannot be used: file is not a database" in fresh_site.log
        assert "Traceback" not in fresh_site.log


@pytest.mark.parametrize("words", [("--map", "output=text"), ("--dated", "2016-11-20")])
def test_an_option_for_a_file_needs_the_file(outputs: OutputSet, words: tuple[str, str]) -> None:
    ended = evaluate("Answers", *words)
    assert (ended.code, ended.out) == (2, "")
    assert f"{words[0]} needs --outputs FILE" in ended.err
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "text", ["never", "2026-13-01", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00+14:00"]
)
def test_what_is_no_date_is_said(outputs: OutputSet, text: str) -> None:
    ended = evaluate("Answers", "--outputs", "none.csv", f"--dated={text}")
    assert f"{text!r} is no date; write it like 2026-11-20" in ended.err
    assert not Run.objects.exists()


def test_a_date_in_the_future_is_refused_unless_it_is_meant(
    version: DatasetVersion, tmp_path: Path
) -> None:
    path = tmp_path / "gpt.jsonl"
    path.write_text(json.dumps({"id": "q1", "output": "1"}))
    words = ("Answers", "--outputs", str(path), "--dated", "2262-11-20")
    ended = evaluate(*words)
    assert (ended.code, Run.objects.exists()) == (2, False)
    assert "2262-11-20 is in the future; correct it, or add --allow-future-date" in ended.err
    assert evaluate(*words, "--allow-future-date").code == 0
    assert OutputSet.objects.get(dated__year=2262).series_time < timezone.now()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Answers", "--name", "x" * 121], "--name: the name has 121 characters"),
        (["Answers", "--series", "\udcff"], "--series: '\\udcff' holds control characters"),
        (["Answers", "--suite", "\udcff"], "or is not UTF-8"),
        (["\udcff"], "DATASET: '\\udcff'"),
    ],
)
def test_a_name_that_cannot_be_kept_whole_exits_2(
    outputs: OutputSet, words: list[str], said: str
) -> None:
    ended = evaluate(*words)
    assert ended.code == 2
    assert said in ended.err
