from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from scoring.core.contract import ConfigError
from scoring.core.suites.suite_format import DescribedScorer, SuiteDocument, write_suite
from scoring.engine.suites.suite_file import ImportPlan, describe_suite, plan_import
from scoring.models import (
    Scorer,
    ScorerVersion,
    Suite,
    SuiteProposal,
    Team,
    ThresholdChange,
)
from tests.conftest import MakeDataset
from tests.support.paths import ROOT

pytestmark = pytest.mark.django_db

CLOSE = {"name": "close", "type": "levenshtein", "config": {"decimals": 3}, "threshold": 0.8}
SAME = {"type": "exact_match"}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(*scorers: Any, **more: Any) -> Path:
        path = tmp_path / "release.json"
        path.write_text(json.dumps({"scorers": scorers, **more}))
        return path

    return write


def suite_from_file(team: Team, path: Path) -> Suite:
    return plan_import(team, path).carry_out(None)


def thresholds(suite: Suite) -> dict[str, float]:
    return {entry.scorer.name: entry.threshold for entry in suite.entries.all()}


def test_a_file_makes_a_suite_with_its_scorers(team: Team, written: Any) -> None:
    suite = suite_from_file(team, written(CLOSE, SAME))
    assert (suite.name, suite.revision) == ("release", 1)
    assert thresholds(suite) == {"close": 0.8, "exact_match": 1.0}
    close = Scorer.objects.get(name="close")
    assert close.current is not None
    assert close.current.config["decimals"] == 3


def test_reading_the_same_file_again_changes_nothing(team: Team, written: Any) -> None:
    suite_from_file(team, written(CLOSE, SAME))
    before = list(Suite.objects.values()), list(ScorerVersion.objects.values())
    suite_from_file(team, written(CLOSE, SAME))
    assert (list(Suite.objects.values()), list(ScorerVersion.objects.values())) == before


def test_a_changed_config_is_a_new_version(team: Team, written: Any) -> None:
    suite_from_file(team, written(CLOSE))
    suite_from_file(team, written({**CLOSE, "config": {"decimals": 4}}))
    assert list(ScorerVersion.objects.order_by("number").values_list("number", flat=True)) == [1, 2]
    assert Suite.objects.get().revision == 1


def test_a_changed_threshold_is_a_dated_change_with_a_reason(team: Team, written: Any) -> None:
    suite_from_file(team, written(CLOSE, SAME))
    suite = suite_from_file(team, written({**CLOSE, "threshold": 0.9}, SAME))
    assert thresholds(suite) == {"close": 0.9, "exact_match": 1.0}
    change = ThresholdChange.objects.get()
    assert (change.old, change.new, change.reason) == (0.8, 0.9, "the suite file release.json")
    assert suite.revision == 2


def test_a_threshold_the_file_leaves_out_stays_as_people_set_it(team: Team, written: Any) -> None:
    suite = suite_from_file(team, written(SAME))
    suite.entries.get().change_threshold(0.5, by=None, reason="too strict")
    assert thresholds(suite_from_file(team, written(SAME))) == {"exact_match": 0.5}


def test_scorers_come_and_go(team: Team, written: Any) -> None:
    suite_from_file(team, written(CLOSE, SAME))
    suite = suite_from_file(team, written(SAME, {"type": "includes"}, name="release"))
    assert list(thresholds(suite)) == ["exact_match", "includes"]
    assert Scorer.objects.filter(name="close").exists()


@pytest.mark.parametrize(
    ("scorers", "field"),
    [
        ([], "suite"),
        (["exact_match"], r"scorers\[0\]"),
        ([{"name": "x"}], r"scorers\[0\]"),
        ([SAME, {"type": "nonsense"}], r"scorers\[1\]\.type"),
        ([{"type": "exact_match", "treshold": 1}], r"scorers\[0\]"),
        ([{"type": "levenshtein", "config": {"decimals": "two"}}], r"scorers\[0\]\.decimals"),
        ([{"type": "exact_match", "threshold": 2}], r"scorers\[0\]\.threshold"),
        ([{"type": "exact_match", "config": []}], r"scorers\[0\]\.config"),
        ([CLOSE, CLOSE], r"scorers\[1\]\.name: two scorers are called 'close'"),
    ],
)
def test_a_bad_file_names_the_field_and_changes_nothing(
    team: Team, written: Any, scorers: list[Any], field: str
) -> None:
    with pytest.raises(ConfigError, match=field):
        suite_from_file(team, written(*scorers))
    assert not Scorer.objects.exists()
    assert not Suite.objects.exists()


def test_what_a_suite_file_cannot_hold_is_refused(team: Team, written: Any) -> None:
    with pytest.raises(ConfigError, match="treshold: is not known in a suite file"):
        suite_from_file(team, written(SAME, treshold=0.5))
    assert not Scorer.objects.exists()


def test_a_name_that_means_another_type_is_refused(team: Team, written: Any) -> None:
    suite_from_file(team, written(SAME))
    with pytest.raises(ConfigError, match="exact_match already"):
        suite_from_file(team, written({"name": "exact_match", "type": "includes"}))


@pytest.mark.parametrize("content", ["", "{", "[1]", '"text"', '{"scorers": {}}'])
def test_what_is_no_suite_is_refused(team: Team, tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"bad\.json"):
        suite_from_file(team, path)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"scorers": [], "scorers": []}', "NaN", "["])
def test_what_is_not_strict_json_is_refused(team: Team, tmp_path: Path, content: str) -> None:
    path = tmp_path / "release.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match="cannot be read as JSON"):
        suite_from_file(team, path)


# YAML, and what importing would do


GUIDE = ROOT / "docs" / "commands.md"


def test_the_guides_file_is_read(team: Team, tmp_path: Path) -> None:
    block = GUIDE.read_text().partition("```yaml\n")[2].partition("```")[0]
    path = tmp_path / "any.yaml"
    path.write_text(block)
    suite = suite_from_file(team, path)
    assert (suite.name, thresholds(suite)) == ("release", {"close": 0.8, "exact_match": 1.0})


def test_json_and_yaml_say_the_same(team: Team, written: Any, tmp_path: Path) -> None:
    suite = suite_from_file(team, written(CLOSE, SAME))
    for spelling in ("json", "yaml"):
        path = tmp_path / f"again.{spelling}"
        path.write_text(write_suite(describe_suite(suite), spelling))  # type: ignore[arg-type]
        assert suite_from_file(team, path) == suite
    suite.refresh_from_db()
    assert (suite.revision, ScorerVersion.objects.count()) == (1, 2)


def test_a_part_that_spells_its_defaults_out_is_the_same(team: Team, written: Any) -> None:
    def both(**config: Any) -> dict[str, Any]:
        part = {"type": "levenshtein", "config": config}
        return {"name": "both", "type": "all", "config": {"scorers": [part]}}

    suite_from_file(team, written(both()))
    suite_from_file(team, written(both(decimals=2)))
    assert ScorerVersion.objects.count() == 1
    suite_from_file(team, written(both(decimals=3)))
    assert ScorerVersion.objects.count() == 2


def test_looking_changes_nothing_and_tells_what_would_happen(team: Team, written: Any) -> None:
    Scorer.objects.define(team, "close", "levenshtein", {"decimals": 1})
    Scorer.objects.define(team, "taken", "regex", {"pattern": "x"})
    described = SuiteDocument(
        "release",
        (
            DescribedScorer("close", "levenshtein", {"decimals": 3}, 0.8),
            DescribedScorer("taken", "exact_match", {}),
            DescribedScorer("fresh", "numeric", {}),
        ),
    )
    plan = ImportPlan(team, described)
    assert [line.state for line in plan.lines] == ["revised", "clash", "new"]
    assert [(c.path, c.old, c.new) for c in plan.lines[0].changes] == [("decimals", 1, 3)]
    assert [line.threshold for line in plan.lines] == [0.8, 1.0, 1.0]
    assert (plan.suite, plan.is_idle) == (None, False)
    assert (Scorer.objects.count(), ScorerVersion.objects.count()) == (2, 2)
    assert plan.signature == ImportPlan(team, described).signature
    Scorer.objects.get(name="close").revise({"decimals": 3}, by=None)
    assert plan.signature != ImportPlan(team, described).signature


def test_a_plan_takes_the_same_queries_for_any_number_of_scorers(
    team: Team, django_assert_num_queries: Any
) -> None:
    for number in range(20):
        Scorer.objects.define(team, f"s{number}", "exact_match", {})
    for count in (1, 20):
        scorers = tuple(DescribedScorer(f"s{n}", "exact_match", {}) for n in range(count))
        plan = ImportPlan(team, SuiteDocument("release", scorers))
        with django_assert_num_queries(2):
            assert plan.signature
            assert not plan.clashes


def used_meanwhile(team: Team, make_dataset: MakeDataset) -> ImportPlan:
    """A plan with another threshold for a suite that a dataset takes after the plan was made."""
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    suite = Suite.objects.define(team, "release", [(close, 0.9)])
    described = SuiteDocument("release", (DescribedScorer("close", "levenshtein", {}, 0.1),))
    plan = ImportPlan(team, described, "release.yaml")
    assert not plan.needs_reason
    suite.assign_to(make_dataset([{}]).dataset, by=None)
    return plan


@pytest.mark.parametrize("reason", ["", "Why"])
def test_a_suite_that_came_into_use_meanwhile_keeps_its_thresholds(
    team: Team, make_dataset: MakeDataset, reason: str
) -> None:
    plan = used_meanwhile(team, make_dataset)
    with pytest.raises(ValidationError):
        plan.carry_out(None, reason)
    assert thresholds(Suite.objects.get()) == {"close": 0.9}


def test_a_run_of_such_a_file_has_its_thresholds_and_proposes_them(
    team: Team, make_dataset: MakeDataset
) -> None:
    made = used_meanwhile(team, make_dataset).prepare_run()
    assert thresholds(Suite.objects.get()) == {"close": 0.9}
    assert made.thresholds_note == "Thresholds of release.yaml: close 0.1 (suite: 0.9)"
    assert SuiteProposal.objects.count() == 1
