"""Versions made before references counted as right answers score as they did."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.engine.backups.upgrades import known_migrations
from scoring.models import Scorer, ScorerVersion, Team

pytestmark = pytest.mark.django_db

NESTED = {
    "scorers": [
        {"type": "includes", "name": "word"},
        {"type": "any", "config": {"scorers": [{"type": "regex", "config": {"pattern": "a"}}]}},
        {"type": "all", "config": {"scorers": [{"type": "exact_match", "config": {"trim": True}}]}},
    ]
}
NYC = Case("NYC", "New York", references=("NYC",))


def migrate() -> None:
    (name,) = (name for name in known_migrations() if name.endswith("_in_old_versions"))
    import_module(f"scoring.migrations.{name}").keep_old_meaning(apps, None)


def without_setting(value: Any) -> Any:
    """A stored config as it was before the setting existed."""
    if isinstance(value, list):
        return [without_setting(item) for item in value]
    if isinstance(value, dict):
        return {k: without_setting(v) for k, v in value.items() if k != "use_references"}
    return value


def made_before(team: Team, type_name: str, config: dict[str, Any]) -> ScorerVersion:
    version = Scorer.objects.define(team, f"old {type_name}", type_name, config).current
    assert version
    version.config = without_setting(version.config)
    parts = json.dumps([type_name, 1, version.config], sort_keys=True)
    version.fingerprint = hashlib.sha256(parts.encode()).hexdigest()
    version.save()
    return version


@pytest.mark.parametrize("type_name", ["exact_match", "levenshtein", "numeric", "json_similarity"])
def test_an_old_version_compares_with_the_expected_value_alone(team: Team, type_name: str) -> None:
    old = made_before(team, type_name, {})
    migrate()
    old.refresh_from_db()
    assert old.config["use_references"] is False
    same = Scorer.objects.define(team, "same", type_name, {"use_references": False}).current
    new = Scorer.objects.define(team, "new", type_name, {}).current
    assert same
    assert new
    assert (old.config, old.fingerprint) == (same.config, same.fingerprint)
    assert new.fingerprint != old.fingerprint


def test_saving_an_old_scorer_unchanged_makes_no_version(team: Team) -> None:
    old = made_before(team, "includes", {"case_sensitive": False})
    migrate()
    old.refresh_from_db()
    assert old.scorer.revise(old.config, by=None).number == 1


def test_parts_of_combinations_keep_their_meaning_to_any_depth(team: Team) -> None:
    old = made_before(team, "any", NESTED)
    migrate()
    old.refresh_from_db()
    word, pattern, whole = (part["config"] for part in old.config["scorers"])
    assert word["use_references"] is False
    assert "use_references" not in pattern["scorers"][0]["config"]
    assert whole["scorers"][0]["config"]["use_references"] is False
    (result,) = configure_scorer("any", old.config).score([NYC])
    assert result.score == 0.0
    assert configure_scorer("any", NESTED).score([NYC])[0].score == 1.0
    assert old.scorer.revise(old.config, by=None).number == 1


def test_other_versions_and_newer_ones_stay_as_they_are(team: Team) -> None:
    Scorer.objects.define(team, "new", "exact_match", {})
    Scorer.objects.define(team, "other", "regex", {"pattern": "a"})
    before = list(ScorerVersion.objects.order_by("pk").values_list("config", "fingerprint"))
    migrate()
    after = list(ScorerVersion.objects.order_by("pk").values_list("config", "fingerprint"))
    assert after == before


def test_a_fingerprint_of_an_older_type_stays(team: Team) -> None:
    old = made_before(team, "includes", {})
    ScorerVersion.objects.filter(pk=old.pk).update(fingerprint="f" * 64)
    migrate()
    old.refresh_from_db()
    assert (old.config["use_references"], old.fingerprint) == (False, "f" * 64)
