"""A suite that is exported and imported elsewhere is the same, to the letter and by its hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.core.suites.suite_format import SuiteFormat, write_suite
from scoring.engine.suites.suite_file import describe_suite, plan_import
from scoring.models import Scorer, ScorerVersion, Suite, Team
from tests.support.thoroughness import examples

pytestmark = pytest.mark.django_db

SPELLED_OUT = {"case_sensitive": False, "decimals": 2, "max_chars": 10_000}


@pytest.fixture
def other_team(db: None) -> Team:
    return Team.objects.create(name="Elsewhere", slug="elsewhere")


def part(kind: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "config": config, **more}


#: By name, combinations whose parts say more, or less, than they need.
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "a default spelled out": ("all", {"scorers": [part("levenshtein", {"decimals": 2})]}),
    "every default spelled out": ("any", {"scorers": [part("levenshtein", SPELLED_OUT)]}),
    "nothing spelled out": ("all", {"scorers": [{"type": "levenshtein"}]}),
    "name and weight spelled out": (
        "weighted",
        {"scorers": [part("exact_match", {"trim": False}, name="", weight=1), part("numeric", {})]},
    ),
    "numbers as they were typed": (
        "all",
        {
            "scorers": [
                part("numeric", {"tolerance": 1}),
                part("numeric", {"tolerance": 1.0}, name="other"),
                part("numeric", {"tolerance": 1e-7}, name="third"),
            ]
        },
    ),
    "deep": (
        "all",
        {
            "scorers": [
                part(
                    "weighted",
                    {
                        "scorers": [
                            part("any", {"scorers": [part("levenshtein", SPELLED_OUT, weight=1)]}),
                            part("includes", {"mode": "all", "values": ["yes", "no", "1"]}),
                        ]
                    },
                    weight=2,
                )
            ]
        },
    ),
}


def copied(suite: Suite, team: Team, folder: Path, spelling: SuiteFormat) -> Suite:
    path = folder / f"copy.{spelling}"
    path.write_text(write_suite(describe_suite(suite), spelling), encoding="utf-8")
    return plan_import(team, path).carry_out(None)


def versions(team: Team) -> list[tuple[str, int, dict[str, Any], str]]:
    found = ScorerVersion.objects.filter(scorer__team=team).order_by("scorer__name", "number")
    return list(found.values_list("scorer__name", "number", "config", "fingerprint"))


def suite_of(team: Team, kinds: dict[str, tuple[str, dict[str, Any]]]) -> Suite:
    made = [Scorer.objects.define(team, name, *kind) for name, kind in kinds.items()]
    return Suite.objects.define(team, "release", [(scorer, None) for scorer in made])


@pytest.mark.parametrize("spelling", get_args(SuiteFormat))
@pytest.mark.parametrize("name", CONFIGS)
def test_a_copy_in_another_team_has_the_same_configs_and_hashes(
    team: Team, other_team: Team, tmp_path: Path, name: str, spelling: SuiteFormat
) -> None:
    suite = suite_of(team, {"both": CONFIGS[name]})
    copied(suite, other_team, tmp_path, spelling)
    (original,), (copy,) = versions(team), versions(other_team)
    assert copy == original
    assert repr(copy) == repr(original)  # where 1 is not 1.0


@pytest.mark.parametrize("spelling", get_args(SuiteFormat))
def test_importing_twice_makes_no_new_version(
    team: Team, other_team: Team, tmp_path: Path, spelling: SuiteFormat
) -> None:
    suite = suite_of(team, CONFIGS)
    for where in (team, other_team, team, other_team):
        copied(suite, where, tmp_path, spelling)
    assert versions(team) == versions(other_team)
    assert {number for _, number, *_ in versions(team)} == {1}
    assert {each.revision for each in Suite.objects.all()} == {1}


LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "decimals": st.none() | st.integers(0, 9),
        "case_sensitive": st.booleans(),
        "max_chars": st.integers(1, 20_000),
        "default_expected": st.none() | st.text("ab: #-'\"\n", max_size=5),
    },
).map(lambda config: part("levenshtein", config))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda kind, parts: part(kind, {"scorers": parts}),
        st.sampled_from(["all", "any", "weighted"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("spelling", get_args(SuiteFormat))
@settings(
    deadline=None,
    max_examples=examples(8),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tree=TREES)
def test_any_combination_is_copied_to_the_letter(
    team: Team, other_team: Team, tmp_path: Path, spelling: SuiteFormat, tree: dict[str, Any]
) -> None:
    with transaction.atomic():
        suite = suite_of(team, {"both": ("all", {"scorers": [tree]})})
        copied(suite, other_team, tmp_path, spelling)
        assert repr(versions(other_team)) == repr(versions(team))
        transaction.set_rollback(True)
