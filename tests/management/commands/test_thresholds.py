"""`manage.py thresholds` shows, previews and changes the thresholds of a suite."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.models import (
    AuditEntry,
    DatasetVersion,
    Relabel,
    ReviewVerdict,
    Run,
    Suite,
    SuiteEntry,
    Team,
    ThresholdChange,
    User,
)
from tests.conftest import MakeDataset
from tests.support.commands import call
from tests.support.reviewed_runs import give_in_turn
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

SCORES = {"close": [0.2, 0.6, 0.7, "error"], "same": [1, 0, 1, 1]}


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    """Scored twice by the suite `release`."""
    made = make_dataset([{}] * 4)
    suite_run(made, SCORES, name="w45")
    suite_run(made, SCORES, name="w46")
    return made


def thresholds(*words: str) -> str:
    code, text = call("thresholds", *words)
    assert code == 0, text
    return text


def test_show_prints_pass_rates_and_the_history(version: DatasetVersion) -> None:
    text = thresholds("show", "release")
    assert text.splitlines()[:3] == [
        "scorer  threshold  default  pass rate  n of N  run",
        "close   0.5        0.7      66.7 %     3 of 4  w46",
        "same    0.5        0.7      75.0 %     4 of 4  w46",
    ]
    thresholds("set", "release", "close", "0.8", "--reason", "Too\nlenient.")
    *_, line = thresholds("show", "release").splitlines()
    assert line.split(maxsplit=2)[2] == "close   0.5 → 0.8  the operator  Too lenient."
    described = json.loads(thresholds("show", "release", "--json"))
    assert (described["name"], described["revision"]) == ("release", 2)
    assert [entry["threshold"] for entry in described["entries"]] == [0.8, 0.5]
    assert described["changes"][0]["reason"] == "Too\nlenient."


def test_show_says_that_there_is_no_run(team: Team, version: DatasetVersion) -> None:
    Suite.objects.define(team, "new", [(entry_of().scorer, None)])
    assert "close   0.7        0.7      -          -       no run yet" in thresholds("show", "new")


def test_preview_prints_what_would_flip(version: DatasetVersion) -> None:
    assert thresholds("preview", "release", "close", "0.65").splitlines() == [
        "At 0.65 instead of 0.5, 1 of 3 cases of w46 would fail instead of pass; "
        "the pass rate changes from 66.7 % to 33.3 %. "
        "No case verdict changes: other scorers fail these cases.",
        "",
        "run  n of N  pass rate  then    to pass  to fail",
        "w46  3 of 4  66.7 %     33.3 %  0        1",
        "w45  3 of 4  66.7 %     33.3 %  0        1",
        "",
        "case of w46  score  case verdict",
        "case-2       0.6    stays",
    ]


def test_preview_says_what_people_say(version: DatasetVersion, alice: User) -> None:
    give_in_turn(Run.objects.latest("pk"), alice, [ReviewVerdict.FAIL] * 2 + [ReviewVerdict.PASS])
    _, agreement, blank, *_ = thresholds("preview", "release", "close", "0.65").splitlines()
    assert agreement == (
        "People passed or failed 3 outputs: kappa 0.40 at 0.5, 1.00 at 0.65. "
        "Best at 0.7; as good: above 0.2 up to 0.7."
    )
    assert blank == ""


def test_a_long_list_of_flips_is_cut(make_dataset: MakeDataset) -> None:
    suite_run(make_dataset([{}] * 30), {"close": [0.6] * 30})
    *_, line = thresholds("preview", "release", "close", "0.7").splitlines()
    assert line == "and 10 more cases"


def test_preview_as_json_has_the_cases(version: DatasetVersion) -> None:
    described = json.loads(thresholds("preview", "release", "close", "0.1", "--json"))
    assert (described["threshold"], described["new_threshold"]) == (0.5, 0.1)
    assert described["cases"] == [{"key": "case-1", "trial": 0, "score": 0.2, "changes_case": True}]
    assert [run["to_pass"] for run in described["runs"]] == [1, 1]
    assert described["case_verdicts"] == 1


def test_preview_without_a_run_says_so(team: Team, version: DatasetVersion) -> None:
    Suite.objects.define(team, "new", [(entry_of().scorer, None)])
    assert thresholds("preview", "new", "close", "0.6").startswith("No finished run of new")


def test_set_is_recorded_as_the_operators(version: DatasetVersion) -> None:
    text = thresholds("set", "release", "close", "0.8", "--reason", "Too lenient.")
    assert text == "release, close: 0.5 → 0.8\n"
    entry = AuditEntry.objects.get(action="threshold.changed")
    assert (entry.actor_name, entry.new["reason"]) == ("the operator", "Too lenient.")
    assert entry_of().threshold == 0.8


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["show", "nothing"], "has no suite 'nothing'; it has: release"),
        (["show", "release", "--team", "other"], "no team"),
        (["preview", "release", "nothing", "0.5"], "no scorer 'nothing'; it has: close, same"),
        (["preview", "release", "close", "0.5"], "is 0.5 already"),
        (["preview", "release", "close", "half"], "'half' is no threshold"),
        (["preview", "release", "close", "1.01"], "'1.01' is no threshold"),
        (["preview", "release", "close", "nan"], "'nan' is no threshold"),
        (["set", "release", "close", "0.8"], "Enter a reason for the threshold change."),
        (
            ["set", "release", "close", "0.8", "--reason", " "],
            "Enter a reason for the threshold change.",
        ),
        (["set", "release", "close", "0.5", "--reason", "x"], "The threshold is 0.5 already."),
        (["set", "release", "close", "7", "--reason", "x"], "'7' is no threshold"),
        (["relabel", "nothing"], "has no suite 'nothing'"),
        (["relabel", "release", "--run", "w47"], "has no run 'w47' that has ended"),
        (["relabel", "release", "--last", "0"], "give a number of runs, 1 or more"),
        (["relabel", "release", "--remove", "--run", "w47"], "has no run 'w47' that has ended"),
        (["relabel", "release", "--remove", "--last", "0"], "give a number of runs, 1 or more"),
    ],
)
def test_bad_use_ends_with_2(version: DatasetVersion, words: list[str], problem: str) -> None:
    code, text = call("thresholds", *words)
    assert (code, problem in text) == (2, True), text
    assert entry_of().threshold == 0.5


def test_relabel_prints_both_counts(version: DatasetVersion) -> None:
    assert (
        thresholds("relabel", "release") == "No finished run of release would get other labels.\n"
    )
    thresholds("set", "release", "close", "0.65", "--reason", "Too lenient.")
    thresholds("set", "release", "same", "0", "--reason", "Too strict.")
    assert thresholds("relabel", "release", "--last", "1").splitlines() == [
        "run  pass    re-labelled  thresholds",
        "w46  1 of 4  1 of 4       close 0.65, same 0",
    ]
    (entry,) = AuditEntry.objects.filter(action="run.relabelled")
    assert entry.actor_name == "the operator"
    assert thresholds("relabel", "release", "--run", "w45").splitlines()[1].startswith("w45")
    assert thresholds("relabel", "release", "--run", "w45").startswith("No finished run")
    assert Relabel.objects.count() == 2


def test_relabel_removes_labels_that_say_nothing_else(version: DatasetVersion) -> None:
    thresholds("set", "release", "close", "0.65", "--reason", "Too lenient.")
    thresholds("relabel", "release")
    thresholds("set", "release", "close", "0.5", "--reason", "Too strict.")
    assert thresholds("relabel", "release").splitlines()[1:] == [
        "w46  1 of 4  -            those of the run again; labels removed",
        "w45  1 of 4  -            those of the run again; labels removed",
    ]
    assert not Relabel.objects.exists()


def test_relabel_takes_labels_back(version: DatasetVersion) -> None:
    remove = ("relabel", "release", "--remove")
    assert thresholds(*remove) == "No finished run of release has later labels.\n"
    thresholds("set", "release", "close", "0.65", "--reason", "Too lenient.")
    thresholds("relabel", "release")
    assert thresholds(*remove, "--run", "w45") == "Labels removed: w45.\n"
    assert thresholds(*remove, "--run", "w45") == "w45 has no later labels.\n"
    assert [relabel.run.name for relabel in Relabel.objects.all()] == ["w46"]
    thresholds("relabel", "release")
    assert thresholds(*remove, "--last", "1") == "Labels removed: w46.\n"
    assert [relabel.run.name for relabel in Relabel.objects.all()] == ["w45"]
    assert thresholds(*remove) == "Labels removed: w45.\n"
    entries = AuditEntry.objects.filter(action="run.labels_removed").order_by("pk")
    assert [entry.target_name for entry in entries] == ["w45", "w46", "w45"]
    assert {entry.actor_name for entry in entries} == {"the operator"}
    assert entry_of().threshold == 0.65


def test_set_ends_with_1_where_somebody_changed_it_meanwhile(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = SuiteEntry.change_threshold

    def change_late(entry: SuiteEntry, *args: Any, **kwargs: Any) -> ThresholdChange:
        change(entry_of(), 0.6, by=None, reason="First.")
        return change(entry, *args, **kwargs)

    monkeypatch.setattr(SuiteEntry, "change_threshold", change_late)
    code, text = call("thresholds", "set", "release", "close", "0.7", "--reason", "x")
    assert code == 1
    assert (
        "set the threshold of close to 0.6 in the meantime (“First.”). Nothing was changed" in text
    )
