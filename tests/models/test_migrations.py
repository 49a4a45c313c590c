"""A new database is set up by two migrations; one that is there goes on step by step."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, StateApps

from scoring.engine.backups.integrity import DATABASE
from scoring.engine.upgrades import known_migrations
from scoring.models import (
    CaseVerdict,
    ModelCall,
    OutputSet,
    Run,
    RunSummary,
    Scorer,
    ScorerVersion,
    Team,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import Given, run_with
from tests.support.paths import ROOT


@pytest.mark.django_db
def test_the_migrations_lead_to_the_models() -> None:
    call_command("makemigrations", check=True, dry_run=True)


@pytest.mark.django_db(transaction=True)
def test_many_models_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `CreateModel` by itself would render all that is related to it once more."""
    rendered: list[int] = []
    render = StateApps.render_multiple

    def counted(self: StateApps, states: list[ModelState]) -> None:
        rendered.append(len(states))
        render(self, states)

    monkeypatch.setattr(StateApps, "render_multiple", counted)
    loader = MigrationLoader(connection)
    (squashed,) = (migration for migration in loader.replacements.values())
    *_, operation, _ = squashed.operations
    before = loader.project_state(("scoring", "0001_user"))
    before.apps  # noqa: B018  rendered, as the executor does
    rendered.clear()
    operation.state_forwards("scoring", before)
    before.apps  # noqa: B018
    assert sum(rendered) == len(before.models)


#: Sets a database up as versions did that had no migration of the account alone.
STEP_BY_STEP = """
import sys
import django
django.setup()
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
executor = MigrationExecutor(connection)
executor.loader = MigrationLoader(connection, replace_migrations=False)
others = [node for node in executor.loader.graph.leaf_nodes() if node[0] != "scoring"]
executor.migrate([*others, ("scoring", sys.argv[1])])
later = [name for _, name in executor.loader.replacements]
MigrationRecorder.Migration.objects.filter(name__in=["0001_user", *later]).delete()
"""


@pytest.mark.long("every migration, once one by one and twice by `migrate`")
@pytest.mark.parametrize("last", ["0010_names_are_one_line", "0022_groups"])
def test_a_database_that_is_there_becomes_what_a_new_one_is(tmp_path: Path, last: str) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    _manage(old, "-c", STEP_BY_STEP, last)
    assert not _is_upgraded(old)
    _manage(old, "manage.py", "migrate")
    _manage(new, "manage.py", "migrate")
    assert _is_upgraded(old)
    assert _is_upgraded(new)
    assert _schema(old) == _schema(new)


def _manage(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "EVALSITE_DATA_DIR": str(folder), "EVALSITE_DEBUG": "1"}
    environment["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _is_upgraded(folder: Path) -> bool:
    """Whether all that this version knows is recorded, as commands look at it."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        rows = database.execute("SELECT name FROM django_migrations WHERE app = 'scoring'")
        return {name for (name,) in rows} == known_migrations()


def _schema(folder: Path) -> dict[str, list[str]]:
    """What tables, indexes and triggers say, by their table; columns come in any order."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        for table, name, sql in database.execute(
            "SELECT tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ):
            # An index keeps its name where its table was renamed.
            clauses = _clauses(sql) if table == name else [sql.replace(name, "")]
            found.setdefault(table, []).extend(clauses)
    return {table: sorted(clauses) for table, clauses in found.items()}


def _clauses(sql: str) -> list[str]:
    """Columns and constraints of CREATE TABLE: what commas part outside inner brackets."""
    parts, depth = [""], 0
    for sign in sql[sql.index("(") + 1 : sql.rindex(")")]:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def test_runs_that_counted_each_trial_count_each_case(make_dataset: MakeDataset) -> None:
    scores: dict[str, list[Given]] = {
        "close": [1, 0, "error", 1, 1, 1, "skip", "skip", "skip", *["error"] * 3, 0, 0, "skip"],
        "same": [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, "error", 0, 0],
    }
    run = run_with(make_dataset([{}] * 6), scores, trials=3, leaves_out=[15, 16, 17])
    wanted = _counts(run)
    for summary in RunSummary.objects.all():
        outputs = summary.trials.pop("outputs")
        for name in ("lost", "unscored", "bounds"):
            summary.trials.pop(name, None)
        summary.n = outputs["n"] + 3  # the trials of the case without an output
        summary.scored, summary.passed = outputs["scored"], outputs["passed"]
        summary.errors = summary.skipped = 0
        summary.mean = summary.variance = 0.9
        summary.save()
    Run.objects.update(pass_count=9, output_verdicts={})
    migration = import_module("scoring.migrations.0003_case_verdicts")
    migration.count_cases(apps, None)
    assert _counts(run) == wanted


def _counts(run: Run) -> list[object]:
    run.refresh_from_db()
    fields = ("n", "scored", "errors", "skipped", "passed", "mean", "variance", "trials")
    summaries = RunSummary.objects.order_by("scorer").values(*fields)
    return [run.verdict_counts, run.output_verdicts, *summaries]


def test_verdicts_of_cases_are_kept_on_the_rows_of_first_trials(make_dataset: MakeDataset) -> None:
    scores: dict[str, list[Given]] = {
        "close": [0, "error", 1, 1, 1, "skip", "skip", "skip", *["error"] * 3],
        "same": [1, 1, 1, 0, 0, "skip", "skip", "skip", 1, 1, 1],
    }
    version = make_dataset([{}] * 4)
    run = run_with(version, scores, trials=3, leaves_out=[0])
    once = run_with(version, {"close": [1] * 4})
    wanted = dict(CaseVerdict.objects.values_list("pk", "of_case"))
    told = run.verdicts.exclude(of_case=None).order_by("position")
    assert list(told.values_list("trial", "of_case")) == [(1, 1), (0, 1), (0, 3), (0, 2)]
    assert not once.verdicts.exclude(of_case=None).exists()
    CaseVerdict.objects.update(of_case=None)
    import_module("scoring.migrations.0004_verdicts_of_cases").keep_verdicts(apps, None)
    assert dict(CaseVerdict.objects.values_list("pk", "of_case")) == wanted


def test_impossible_counts_of_tokens_are_forgotten(team: Team) -> None:
    """Earlier versions stored what an endpoint invented, and no sum over it could be made."""
    for count in (2_000_000_000, 100_000_000):
        ModelCall.objects.create(
            team=team, purpose="judge", model="m", tokens_in=count, tokens_out=1, cost_usd=1.0
        )
    module = import_module("scoring.migrations.0008_calls_without_usage")
    module.forget_impossible_usage(apps, None)
    kept = ModelCall.objects.order_by("pk").values_list("tokens_in", "tokens_out", "cost_usd")
    assert list(kept) == [(None, None, None), (100_000_000, 1, 1.0)]


def test_saved_scorers_go_on_not_checking_formats(team: Team) -> None:
    schema = {"schema": {"format": "date"}}
    part = {"name": "shape", "type": "json_schema", "config": {**schema}}
    alone = Scorer.objects.define(team, "alone", "json_schema", schema)
    inside = Scorer.objects.define(
        team, "inside", "all", {"scorers": [part, {"type": "json_schema"}]}
    )
    for scorer in (alone, inside):
        assert scorer.current is not None
    before = {row.pk: row.fingerprint for row in ScorerVersion.objects.all()}
    for row in ScorerVersion.objects.all():
        row.config.pop("check_formats", None)
        row.save()
    migration = import_module("scoring.migrations.0014_formats_unchecked")
    migration.keep_unchecked(apps, None)
    old, combined = ScorerVersion.objects.order_by("pk")
    assert old.config["check_formats"] is False
    parts = combined.config["scorers"]
    assert [each["config"].get("check_formats") for each in parts] == [False, False]
    assert {row.pk: row.fingerprint for row in ScorerVersion.objects.all()} == before


def test_outputs_that_were_carried_over_know_what_they_were_first(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{}])
    first, second, third, other = (make_outputs(version, ["a"]) for _ in range(4))
    OutputSet.objects.filter(pk=second.pk).update(copied_from=first)
    OutputSet.objects.filter(pk=third.pk).update(copied_from=second)
    migration = import_module("scoring.migrations.0015_score_again")
    migration.find_originals(apps, None)
    originals = dict(OutputSet.objects.values_list("pk", "original"))
    assert originals == {first.pk: None, second.pk: first.pk, third.pk: first.pk, other.pk: None}
