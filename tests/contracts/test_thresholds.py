"""Whichever way somebody takes, a threshold that counts changes only by an admin with a reason.

Each path is walked by each role, first without a reason and then with one. What counts is the
threshold of the scorer `close` in the suite called `release`, which a run and a dataset use, and in
the suite of that dataset; of a scorer that was removed it is the one that it would come back with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import (
    AuditEntry,
    Dataset,
    Member,
    Relabel,
    Role,
    Run,
    Score,
    Scorer,
    Suite,
    SuiteProposal,
    Team,
    ThresholdChange,
    Token,
    User,
)
from tests.conftest import PASSWORD, MakeDataset, MakeOutputs
from tests.contracts.threshold_paths import (
    CLOSE,
    PATHS,
    SAME,
    Walker,
    change_by_the_api,
    change_the_default_by_the_api,
    rename_and_replace,
)
from tests.support.finished_runs import run_with
from tests.support.thoroughness import IS_THOROUGH
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
REASON: Final = "Reviewers were stricter."
#: The contract of doors keeps viewers and reviewers out of all that an editor may open.
ROLES: Final = (*(("viewer", "reviewer") if IS_THOROUGH else ()), "editor", "admin", "superuser")


@pytest.fixture
def walker(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Walker:
    """A suite `release` that a run and a dataset use; nobody is signed in."""
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    same = Scorer.objects.define(team, "same", "exact_match", {})
    suite = Suite.objects.define(team, "release", [(close, 0.9), (same, None)])
    version = make_dataset([{"input": "q", "expected": "a"}])
    suite.assign_to(version.dataset, by=None)
    planning.create_run(make_outputs(version, ["a"]), suite=suite)
    return Walker(Client(), team, version.dataset, close, same)


@contextmanager
def on_one_path(walker: Walker) -> Iterator[Walker]:
    """The walker, of whom no row stays."""
    with undone():
        yield replace(walker, dataset=Dataset.objects.get(pk=walker.dataset.pk))


def sign_in(walker: Walker, role: str) -> User:
    if role == "superuser":
        user = User.objects.create_superuser("root@example.org", PASSWORD)
    else:
        user = User.objects.create_user(f"{role}@example.org", PASSWORD)
        if role != "stranger":
            Member.objects.create(team=walker.team, user=user, role=Role[role.upper()])
    walker.browser.force_login(user)
    return user


@pytest.mark.parametrize("role", ROLES)
def test_a_threshold_changes_only_by_an_admin_with_a_reason(walker: Walker, role: str) -> None:
    user, before = sign_in(walker, role), walker.effective()
    assert before == (0.9, 0.9)
    without, changed, told = {}, set(), set()
    for path in PATHS:
        with on_one_path(walker) as own:
            path(own, " ")
            own.dataset.refresh_from_db()
            without[path] = own.effective()
            path(own, REASON)
            own.dataset.refresh_from_db()
            if own.effective() != before:
                changed.add(path)
                entries = AuditEntry.objects.filter(actor_id=str(user.pk))
                is_told = any(entry.new.get("reason") == REASON for entry in entries)
                told |= {path} if is_told and own.effective()[1] == 0.5 else set()
    assert {path: after for path, after in without.items() if after != before} == {}
    assert changed == {path for path, allowed in PATHS.items() if role in allowed}
    assert told == changed


@pytest.mark.parametrize("role", ["editor", "admin"])
def test_no_token_changes_a_threshold(walker: Walker, role: str) -> None:
    """Whoever's it is: only a person signs. What it proposes waits for one."""
    user = sign_in(walker, role)
    walker.browser.logout()
    _, secret = Token.objects.issue(walker.team, user, "a program", Role.ADMIN)
    walker.browser.defaults["HTTP_AUTHORIZATION"] = f"Token {secret}"
    for path in (*PATHS, *DEFAULT_PATHS):
        with on_one_path(walker) as own:
            path(own, REASON)
            own.dataset.refresh_from_db()
            assert (own.effective(), own.default) == ((0.9, 0.9), 0.7), path


@pytest.mark.parametrize("role", ROLES)
def test_only_an_admin_renames_a_suite_that_is_used(walker: Walker, role: str) -> None:
    sign_in(walker, role)
    rename_and_replace(walker, REASON)
    assert (walker.suite.name == "former") == (role == "admin")


def test_a_suite_that_changed_while_it_was_unused_is_no_way_back(walker: Walker) -> None:
    sign_in(walker, "editor")
    Run.objects.all().delete()
    first = walker.suite
    walker.choose(walker.create("without", walker.same), REASON)
    walker.edit(walker.close, walker.same, **walker.lower)
    assert first.known_thresholds()[walker.close.pk] == 0.5
    walker.choose(first, REASON)
    assert walker.known_to_the_dataset == 0.9


def change_the_default_on_its_page(walker: Walker, reason: str) -> None:
    fields = {"threshold": "0.5", "old": "0.7", "reason": reason}
    walker.post("scorer_threshold", walker.close.uuid, **fields)


def change_the_default_in_djangos_admin(walker: Walker, reason: str) -> None:
    fields = {"name": "close", "threshold": "0.5", "reason": reason}
    walker.post("admin:scoring_scorer_change", walker.close.pk, **fields)


def edit_the_scorer(walker: Walker, reason: str) -> None:
    """The form of a scorer leaves its default threshold."""
    url = reverse("edit_scorer", args=[walker.close.uuid])
    page = walker.browser.get(url)
    shown = page.context["form"] if page.status_code == HTTPStatus.OK else ()
    fields = {field.html_name: field.value() for field in shown if field.value()}
    walker.browser.post(url, {**fields, "threshold": "0.5", "reason": reason})


#: Who may change the default of a scorer on each path, with a reason.
DEFAULT_PATHS: Final[dict[Callable[[Walker, str], None], set[str]]] = {
    change_the_default_on_its_page: {"admin"},
    change_the_default_by_the_api: {"admin"},
    change_by_the_api: set(),
    change_the_default_in_djangos_admin: set(),
    edit_the_scorer: set(),
}


@pytest.mark.parametrize("role", ROLES)
def test_the_default_of_a_scorer_changes_only_by_an_admin_with_a_reason(
    walker: Walker, role: str
) -> None:
    user = sign_in(walker, role)
    changed = set()
    for path in DEFAULT_PATHS:
        with on_one_path(walker) as own:
            for reason in (" ", REASON):
                assert own.default == 0.7, path
                path(own, reason)
            assert own.effective() == (0.9, 0.9), path  # suites keep theirs
            if own.default != 0.7:
                changed.add(path)
                (change,) = ThresholdChange.objects.filter(suite=None, scorer=own.close)
                assert (change.old, change.new, change.reason) == (0.7, 0.5, REASON), path
                assert change.changed_by == user, path
    assert changed == {path for path, allowed in DEFAULT_PATHS.items() if role in allowed}


def relabel_on_the_page(walker: Walker, run: Run) -> None:
    walker.post("relabel_run", run.uuid)


def relabel_by_the_api(walker: Walker, run: Run) -> None:
    walker.call_api("post", reverse("api:run_relabel", args=[run.uuid]), {})


def relabel_the_suite(walker: Walker, _run: Run) -> None:
    url = reverse("relabel_suite", args=[walker.suite.uuid, walker.close.uuid])
    walker.browser.post(url)
    runner = JobRunner(InlineExecutor())
    runner.step()
    runner.step()  # collects what the first one began


@pytest.mark.parametrize("role", [*ROLES, "stranger"])
@pytest.mark.parametrize(
    "path",
    [relabel_on_the_page, relabel_by_the_api, relabel_the_suite],
    ids=lambda path: path.__name__,
)
def test_only_an_admin_relabels_and_the_stored_verdicts_stay(
    walker: Walker, path: Callable[[Walker, Run], None], role: str
) -> None:
    run = scored_run(walker)
    change_entry(walker, REASON)
    stored = list(Score.objects.order_by("pk").values())
    counts = run.verdict_counts
    user = sign_in(walker, role)
    path(walker, run)
    labels = Relabel.objects.filter(run=run)
    assert [label.thresholds for label in labels] == [{"close": 0.5}] * (role == "admin")
    assert [label.created_by for label in labels] == [user] * (role == "admin")
    run.refresh_from_db()
    assert list(Score.objects.order_by("pk").values()) == stored
    assert run.verdict_counts == counts
    labelled = AuditEntry.objects.filter(action="run.relabelled", actor_id=str(user.pk))
    assert labelled.exists() == (role == "admin")


@pytest.mark.parametrize("role", [*ROLES, "stranger"])
@pytest.mark.parametrize("is_by_api", [True, False])
def test_only_an_admin_removes_labels(walker: Walker, is_by_api: bool, role: str) -> None:
    run = scored_run(walker)
    change_entry(walker, REASON)
    relabel_run(run, by=None)
    sign_in(walker, role)
    if is_by_api:
        walker.call_api("delete", reverse("api:run_relabel", args=[run.uuid]), {})
    else:
        walker.post("remove_run_labels", run.uuid)
    assert Relabel.objects.exists() == (role != "admin")


def test_the_operator_relabels_by_a_command(walker: Walker) -> None:
    run = scored_run(walker)
    call_command("thresholds", "set", "release", "close", "0.5", reason=REASON, stdout=StringIO())
    call_command("thresholds", "relabel", "release", stdout=StringIO())
    (label,) = Relabel.objects.filter(run=run)
    assert (label.thresholds, label.created_by) == ({"close": 0.5}, None)
    assert AuditEntry.objects.get(action="run.relabelled").actor_id == ""


def scored_run(walker: Walker) -> Run:
    """A finished run of the suite, whose only output passes below 0.9."""
    version = walker.dataset.latest
    assert version is not None
    thresholds = {"close": 0.9, "same": 1.0}
    run = run_with(version, {"close": [0.6], "same": [1]}, thresholds=thresholds)
    Run.objects.filter(pk=run.pk).update(suite=walker.suite, suite_name="release")
    run.refresh_from_db()
    return run


def change_the_threshold_by_a_command(walker: Walker, reason: str) -> None:
    call_command("thresholds", "set", "release", "close", "0.5", reason=reason, stdout=StringIO())


def with_reason() -> AuditEntry:
    (entry,) = (each for each in AuditEntry.objects.all() if each.new.get("reason") == REASON)
    return entry


def test_a_command_changes_it_with_a_reason_alone(walker: Walker) -> None:
    with pytest.raises(CommandError, match="Enter a reason for the threshold change"):
        change_the_threshold_by_a_command(walker, " ")
    assert walker.effective() == (0.9, 0.9)
    change_the_threshold_by_a_command(walker, REASON)
    assert walker.effective() == (0.5, 0.5)
    (change,) = ThresholdChange.objects.filter(new=0.5)
    assert (change.changed_by, change.reason) == (None, REASON)
    assert with_reason().actor_id == ""


def change_entry(walker: Walker, reason: str) -> None:
    entry = walker.suite.entries.get(scorer=walker.close)
    entry.change_threshold(0.5, by=None, reason=reason)


def replace_entries(walker: Walker, reason: str) -> None:
    walker.suite.replace_entries([(walker.close, 0.5)], by=None, reason=reason)


def remove_and_add(walker: Walker, reason: str) -> None:
    walker.suite.replace_entries([(walker.same, None)], by=None)
    walker.suite.replace_entries([(walker.close, 0.5)], by=None, reason=reason)


def assign_another_suite(walker: Walker, reason: str) -> None:
    suite = Suite.objects.define(walker.team, f"other {reason}", [(walker.close, 0.5)])
    suite.assign_to(walker.dataset, by=None, reason=reason)


def assign_one_between(walker: Walker, reason: str) -> None:
    between = Suite.objects.define(walker.team, f"between {reason}", [(walker.same, None)])
    between.assign_to(walker.dataset, by=None)
    assign_another_suite(walker, reason)


def assign_and_add(walker: Walker, reason: str) -> None:
    without = Suite.objects.define(walker.team, f"without {reason}", [(walker.same, None)])
    without.assign_to(walker.dataset, by=None)
    without.replace_entries([(walker.close, 0.5)], by=None, reason=reason)


@pytest.mark.parametrize(
    "change",
    [
        change_entry,
        replace_entries,
        remove_and_add,
        assign_another_suite,
        assign_one_between,
        assign_and_add,
    ],
    ids=lambda change: change.__name__,
)
def test_the_operator_gives_a_reason_too(
    walker: Walker, change: Callable[[Walker, str], None]
) -> None:
    before = walker.effective()
    with pytest.raises(ValidationError, match="Enter a reason for the threshold change"):
        change(walker, " ")
    walker.dataset.refresh_from_db()
    assert walker.effective() == before
    change(walker, REASON)
    walker.dataset.refresh_from_db()
    assert walker.effective()[1] == 0.5
    entry = with_reason()
    assert (entry.actor_id, entry.new["reason"]) == ("", REASON)


@pytest.mark.parametrize("file_name", ["release.json", "other.json"])
def test_a_suite_file_of_ci_changes_no_threshold(
    walker: Walker, tmp_path: Path, file_name: str
) -> None:
    for threshold in (0.5, 0.6):
        path = tmp_path / file_name
        close = CLOSE | {"threshold": threshold}
        path.write_text(json.dumps({"name": "release", "scorers": [close, SAME]}))
        call_command("evaluate", "Answers", f"--suite={path}", stdout=StringIO(), stderr=StringIO())
        assert walker.effective() == (0.9, 0.9)
        assert Run.objects.latest("pk").scorers.get(name="close").threshold == threshold
    assert SuiteProposal.objects.open().count() == 2


def test_the_history_is_complete(walker: Walker) -> None:
    suite = walker.suite
    suite.replace_entries([(walker.same, None)], by=None)
    suite.replace_entries([(walker.same, None), (walker.close, None)], by=None)
    suite.replace_entries([(walker.close, 0.8)], by=None, reason=REASON)
    history = ThresholdChange.objects.order_by("pk")
    assert [(c.scorer.name, c.text, c.reason) for c in history] == [
        ("close", "removed (was 0.9)", ""),
        ("close", "added at 0.9", ""),
        ("same", "removed (was 1)", ""),
        ("close", "0.9 → 0.8", REASON),
    ]
