"""Two people change the same thing at once: nothing is lost, and the audit tells what was there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import pytest
from django.db import models

from scoring.core.questions import Questions
from scoring.engine.datasets.lifecycle import rename_dataset
from scoring.engine.runs.lifecycle import edit_run
from scoring.engine.team.groups import remove_group_role, set_group_role
from scoring.engine.team.teams import create_team, rename_team
from scoring.models import (
    AlertRule,
    AuditEntry,
    Baseline,
    Comment,
    Connection,
    FailureTag,
    Output,
    QuestionSet,
    Role,
    Run,
    Scorer,
    Suite,
    Team,
    User,
)
from scoring.models.team.audit_entry import AuditQuerySet
from tests.conftest import MakeDataset
from tests.support.concurrency import call_all_at_once, wait_for_all
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db(transaction=True)

TWICE = 2
ASKED = Questions.parse([{"text": "Polite?", "kind": "text"}])

Act = Callable[[], object]
M = TypeVar("M", bound=models.Model)


class Site(NamedTuple):
    team: Team
    alice: User
    runs: Sequence[Run]


Acts = Callable[[Site], list[Act]]
DoAtOnce = Callable[[Sequence[Act]], list[object]]


@pytest.fixture
def site(team: Team, alice: User, make_dataset: MakeDataset) -> Site:
    version = make_dataset([{"expected": "yes"}])
    runs = [run_with(version, {"close": [1.0]}, name=name) for name in ("first", "second")]
    return Site(team, alice, runs)


@pytest.fixture
def do_at_once(monkeypatch: pytest.MonkeyPatch) -> DoAtOnce:
    """Neither transaction ends before both have recorded their change, unless one waits."""

    def do(acts: Sequence[Act]) -> list[object]:
        monkeypatch.setattr(AuditQuerySet, "record", wait_for_all(AuditQuerySet.record, TWICE))
        return call_all_at_once(acts)

    return do


def twice(row: M) -> list[M]:
    """The row as two people have read it before either changes it."""
    return [type(row)._default_manager.get(pk=row.pk) for _ in range(TWICE)]


def revise_scorer(site: Site) -> list[Act]:
    rows = twice(Scorer.objects.define(site.team, "says", "includes", {"values": ["a"]}))
    return [
        partial(row.revise, {"values": [text]}, by=None)
        for row, text in zip(rows, "bc", strict=True)
    ]


def rename_scorer(site: Site) -> list[Act]:
    rows = twice(Scorer.objects.define(site.team, "says", "includes", {}))
    return [partial(row.rename, name, by=None) for row, name in zip(rows, "bc", strict=True)]


def rename_suite(site: Site) -> list[Act]:
    rows = twice(Suite.objects.define(site.team, "quick", [], None))
    return [partial(row.rename, name, by=None) for row, name in zip(rows, "bc", strict=True)]


def edit_one_run(site: Site) -> list[Act]:
    rows = twice(site.runs[0])
    return [
        partial(edit_run, row, name=name, note="", by=site.alice)
        for row, name in zip(rows, "bc", strict=True)
    ]


def rename_one_dataset(site: Site) -> list[Act]:
    rows = twice(site.runs[0].output_set.version.dataset)
    return [partial(rename_dataset, r, n, site.alice) for r, n in zip(rows, "bc", strict=True)]


def rename_one_team(site: Site) -> list[Act]:
    rows = twice(site.team)
    return [partial(rename_team, r, n, site.alice) for r, n in zip(rows, "bc", strict=True)]


def edit_comment(site: Site) -> list[Act]:
    run = site.runs[0]
    output = Output.objects.get(output_set=run.output_set)
    rows = twice(Comment.objects.add(run, output, "a", by=site.alice))
    return [
        partial(row.edit, run, text, by=site.alice) for row, text in zip(rows, "bc", strict=True)
    ]


def change_rule(site: Site) -> list[Act]:
    dataset = site.runs[0].output_set.version.dataset
    made = AlertRule.objects.define(site.team, dataset, by=None, kind="no_data", limit=3).rule
    rows = twice(made)
    wanted: list[dict[str, Any]] = [{"limit": 4}, {"renotify_hours": 2}]
    return [partial(row.change, by=None, **each) for row, each in zip(rows, wanted, strict=True)]


def change_connection(site: Site) -> list[Act]:
    url = "https://api.example.org/v1"
    rows = twice(Connection.objects.define(site.team, "own", url, by=None))
    return [
        partial(row.change, by=None, base_url=url, timeout_seconds=seconds, concurrency=8)
        for row, seconds in zip(rows, (61, 62), strict=True)
    ]


def set_role_of_group(site: Site) -> list[Act]:
    return [
        partial(set_group_role, site.team, "staff", role, site.alice)
        for role in (Role.VIEWER, Role.EDITOR)
    ]


def pin_baselines(site: Site) -> list[Act]:
    return [partial(Baseline.objects.pin, run, by=site.alice) for run in site.runs]


@pytest.mark.parametrize(
    ("action", "acts"),
    [
        ("scorer.revised", revise_scorer),
        ("scorer.renamed", rename_scorer),
        ("suite.renamed", rename_suite),
        ("run.edited", edit_one_run),
        ("dataset.renamed", rename_one_dataset),
        ("team.renamed", rename_one_team),
        ("comment.edited", edit_comment),
        ("alert_rule.changed", change_rule),
        ("connection.changed", change_connection),
        ("group_role.set", set_role_of_group),
        ("baseline.pinned", pin_baselines),
    ],
)
def test_each_entry_begins_with_what_the_one_before_left(
    site: Site, action: str, acts: Acts, do_at_once: DoAtOnce
) -> None:
    do_at_once(acts(site))
    entries = list(AuditEntry.objects.filter(action=action).order_by("number"))
    assert len(entries) == TWICE
    for earlier, later in pairwise(entries):
        assert later.old == earlier.new


def remove_tag(site: Site) -> list[Act]:
    rows = twice(FailureTag.objects.add(site.team, site.alice, name="Made up"))
    return [partial(row.remove, by=site.alice) for row in rows]


def mark_tag(site: Site) -> list[Act]:
    rows = twice(FailureTag.objects.add(site.team, site.alice, name="Made up"))
    return [partial(row.mark, is_severe=True, by=site.alice) for row in rows]


def remove_connection(site: Site) -> list[Act]:
    made = Connection.objects.define(site.team, "own", "https://api.example.org/v1", by=None)
    return [partial(row.remove, by=site.alice) for row in twice(made)]


def remove_role_of_group(site: Site) -> list[Act]:
    made = set_group_role(site.team, "staff", Role.VIEWER, site.alice)
    return [partial(remove_group_role, row, site.alice) for row in twice(made)]


def remove_questions(site: Site) -> list[Act]:
    QuestionSet.objects.publish(site.team, "Tone", ASKED, by=site.alice)
    return [partial(QuestionSet.objects.remove, site.team, "Tone", by=site.alice)] * TWICE


def unpin_baseline(site: Site) -> list[Act]:
    made = Baseline.objects.pin(site.runs[0], by=site.alice)
    return [partial(row.unpin, by=site.alice) for row in twice(made)]


@pytest.mark.parametrize(
    ("action", "acts"),
    [
        ("failure_tag.removed", remove_tag),
        ("failure_tag.changed", mark_tag),
        ("connection.removed", remove_connection),
        ("group_role.removed", remove_role_of_group),
        ("question_set.removed", remove_questions),
        ("baseline.unpinned", unpin_baseline),
    ],
)
def test_what_two_do_alike_is_done_and_recorded_once(
    site: Site, action: str, acts: Acts, do_at_once: DoAtOnce
) -> None:
    do_at_once(acts(site))
    assert AuditEntry.objects.filter(action=action).count() == 1


def test_a_baseline_that_was_pinned_anew_meanwhile_is_recorded_as_it_was(site: Site) -> None:
    first, second = site.runs
    seen = Baseline.objects.pin(first, by=site.alice)
    Baseline.objects.pin(second, by=site.alice)
    seen.unpin(by=site.alice)
    entry = AuditEntry.objects.get(action="baseline.unpinned")
    assert (entry.target_id, entry.old["name"]) == (str(second.uuid), "second")


def test_what_another_changed_of_a_rule_stays(site: Site, do_at_once: DoAtOnce) -> None:
    do_at_once(change_rule(site))
    rule = AlertRule.objects.get()
    assert (rule.limit, rule.renotify_hours) == (4, 2)


def test_teams_of_one_name_that_are_made_at_once_have_addresses_of_their_own(
    alice: User, do_at_once: DoAtOnce
) -> None:
    made = do_at_once([partial(create_team, "Help desk", alice)] * TWICE)
    assert {team.slug for team in made if isinstance(team, Team)} == {"help-desk", "help-desk-2"}
