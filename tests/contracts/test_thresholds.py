"""Whichever way somebody takes, a threshold that counts changes only by an admin with a reason.

Each path is walked by each role, first without a reason and then with one. What counts is the
threshold of the scorer `close` in the suite called `release`, which a run and a dataset use, and in
the suite of that dataset; of a scorer that was removed it is the one that it would come back with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from scoring.core.files.suite_format import DescribedScorer, SuiteDocument
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.suites.proposals import plan_proposal
from scoring.engine.suites.suite_file import ImportPlan
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
    SuiteEntry,
    SuiteProposal,
    Team,
    ThresholdChange,
    User,
)
from tests.conftest import PASSWORD, MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.thoroughness import IS_THOROUGH
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
REASON: Final = "Reviewers were stricter."
#: The contract of doors keeps viewers and reviewers out of all that an editor may open.
ROLES: Final = (*(("viewer", "reviewer") if IS_THOROUGH else ()), "editor", "admin", "superuser")


@dataclass
class Walker:
    """Somebody with a browser who wants `close` at 0.5 in place of 0.9."""

    browser: Client
    team: Team
    dataset: Dataset
    close: Scorer
    same: Scorer

    @property
    def suite(self) -> Suite:
        """The one that counts; renamed or not."""
        return Suite.objects.order_by("pk")[0]

    def post(self, address: str, argument: Any, **fields: Any) -> Any:
        return self.browser.post(reverse(address, args=[argument]), fields)

    def edit(self, *scorers: Scorer, name: str = "release", **more: Any) -> None:
        """Save the suite's form with these scorers ticked."""
        fields = {"name": name, "scorers": [s.uuid for s in scorers], **more}
        self.post("edit_suite", self.suite.uuid, **fields)

    @property
    def lower(self) -> dict[str, str]:
        return {f"threshold-{self.close.uuid}": "0.5"}

    def create(self, name: str, *scorers: Scorer) -> Suite | None:
        """A suite of their own, with `close` at 0.5, as editors may create one."""
        fields = {"name": name, "scorers": [s.uuid for s in scorers], **self.lower}
        self.post("new_suite", self.team.slug, **fields)
        return Suite.objects.filter(name=name).first()

    def import_file(self, reason: str, *scorers: dict[str, Any], name: str = "release") -> None:
        text = json.dumps({"name": name, "scorers": list(scorers)})
        self.post("import_suite", self.team.slug, text=text, reason=reason, **{"import": "yes"})

    def call_api(self, method: str, url: str, body: Any) -> None:
        getattr(self.browser, method)(url, json.dumps(body), content_type="application/json")

    def effective(self) -> tuple[Any, Any]:
        named, own = (
            Suite.objects.filter(name="release"),
            Suite.objects.filter(datasets=self.dataset),
        )
        return self._known(named), self._known(own)

    @property
    def default(self) -> float:
        """The threshold of `close` for suites to come."""
        return Scorer.objects.get(pk=self.close.pk).threshold

    @property
    def known_to_the_dataset(self) -> float | None:
        return self._known(Suite.objects.filter(datasets=self.dataset))

    def _known(self, suites: QuerySet[Suite]) -> float | None:
        suite = suites.first()
        return suite.known_thresholds().get(self.close.pk) if suite else None

    def choose(self, suite: Suite | None, reason: str) -> None:
        """Make it the suite of the dataset."""
        if suite:
            self.post("dataset_suite", self.dataset.uuid, suite=suite.uuid, reason=reason)


CLOSE: Final = {"name": "close", "type": "levenshtein"}
SAME: Final = {"name": "same", "type": "exact_match"}


def edit_threshold(walker: Walker, reason: str) -> None:
    walker.edit(walker.close, walker.same, reason=reason, **walker.lower)


def untick_and_tick(walker: Walker, reason: str) -> None:
    walker.edit(walker.same)
    walker.edit(walker.close, walker.same, reason=reason, **walker.lower)


def untick_and_tick_after_a_copy(walker: Walker, reason: str) -> None:
    walker.edit(walker.same)
    walker.create("copy", walker.close, walker.same)
    walker.edit(walker.close, walker.same, reason=reason, **walker.lower)


def tick_at_the_default(walker: Walker, reason: str) -> None:
    """The scorer's own default is 0.7; leaving the threshold empty does not bring it in."""
    walker.edit(walker.same)
    walker.edit(walker.close, walker.same, reason=reason)


def rename_and_replace(walker: Walker, reason: str) -> None:
    walker.edit(walker.close, walker.same, name="former", reason=reason)
    walker.create("release", walker.close, walker.same)


def choose_another_suite(walker: Walker, reason: str) -> None:
    walker.choose(walker.create(f"copy {len(reason)}", walker.close, walker.same), reason)


def choose_one_between(walker: Walker, reason: str) -> None:
    walker.choose(walker.create(f"between {len(reason)}", walker.same), reason)
    walker.choose(walker.create(f"other {len(reason)}", walker.close), reason)


def choose_and_tick(walker: Walker, reason: str) -> None:
    """Another suite that has never had the scorer, and then the scorer."""
    if suite := walker.create(f"without {len(reason)}", walker.same):
        walker.choose(suite, reason)
        fields = {"name": suite.name, "scorers": [walker.close.uuid, walker.same.uuid]}
        walker.post("edit_suite", suite.uuid, **fields, **walker.lower, reason=reason)


def create_under_the_name(walker: Walker, reason: str) -> None:
    walker.create("release", walker.close)


def import_with_another_threshold(walker: Walker, reason: str) -> None:
    walker.import_file(reason, CLOSE | {"threshold": 0.5}, SAME)


def import_twice(walker: Walker, reason: str) -> None:
    walker.import_file(reason, SAME)
    walker.import_file(reason, CLOSE | {"threshold": 0.5}, SAME)


def import_without_and_tick(walker: Walker, reason: str) -> None:
    walker.import_file(reason, SAME)
    walker.edit(walker.close, walker.same, reason=reason, **walker.lower)


def create_by_the_api(walker: Walker, reason: str) -> None:
    url = reverse("api:suites") + f"?team={walker.team.slug}"
    entry = {"scorer": str(walker.close.uuid), "threshold": 0.5}
    walker.call_api("post", url, {"name": "release", "entries": [entry], "reason": reason})


def change_by_the_api(walker: Walker, reason: str) -> None:
    entry = {"scorer": str(walker.close.uuid), "threshold": 0.5}
    body = {"name": "release", "entries": [entry], "reason": reason, "threshold": 0.5}
    urls = [
        reverse("api:suite", args=[walker.suite.uuid]),
        reverse("api:scorer", args=[walker.close.uuid]),
        reverse("api:dataset", args=[walker.dataset.uuid]),
    ]
    for method in ("patch", "put", "delete"):
        for url in urls:
            walker.call_api(method, url, body)


def change_in_djangos_admin(walker: Walker, reason: str) -> None:
    entry = SuiteEntry.objects.get(suite=walker.suite, scorer=walker.close)
    walker.post("admin:scoring_suiteentry_change", entry.pk, threshold="0.5", reason=reason)


def choose_the_suite_in_djangos_admin(walker: Walker, reason: str) -> None:
    other = Suite.objects.define(walker.team, "other", [(walker.close, 0.5)])
    fields = {"name": "Answers", "suite": other.pk, "reason": reason}
    walker.post("admin:scoring_dataset_change", walker.dataset.pk, **fields)
    other.delete()


def delete_in_djangos_admin(walker: Walker, reason: str) -> None:
    entry = SuiteEntry.objects.get(suite=walker.suite, scorer=walker.close)
    for name, row in (("suite", walker.suite), ("suiteentry", entry)):
        walker.post(f"admin:scoring_{name}_delete", row.pk, post="yes", reason=reason)
    walker.create("release", walker.close)


def accept_a_proposal(walker: Walker, reason: str) -> None:
    """One that a command has left, which is the operator's."""
    described = SuiteDocument("release", (DescribedScorer("close", "levenshtein", {}, 0.5),))
    plan = ImportPlan(walker.team, described, "release.yaml")
    if proposal := plan.propose(None):
        fields = {"decision": "accept", "reason": reason, "shown": plan.signature}
        walker.post("decide_proposal", proposal.uuid, **fields)


def propose_and_accept(walker: Walker, reason: str) -> None:
    walker.import_file("", CLOSE | {"threshold": 0.5})
    for proposal in SuiteProposal.objects.open():
        shown = plan_proposal(proposal).signature
        fields = {"decision": "accept", "reason": reason, "shown": shown}
        walker.post("decide_proposal", proposal.uuid, **fields)


def change_on_the_page_of_the_threshold(walker: Walker, reason: str) -> None:
    url = reverse("suite_threshold", args=[walker.suite.uuid, walker.close.uuid])
    walker.browser.post(url, {"threshold": "0.5", "old": "0.9", "reason": reason})


def change_the_default_and_tick(walker: Walker, reason: str) -> None:
    """The scorer's own default counts for suites to come, whoever changes it."""
    fields = {"threshold": "0.5", "old": "0.7", "reason": reason}
    walker.post("scorer_threshold", walker.close.uuid, **fields)
    walker.edit(walker.same)
    walker.edit(walker.close, walker.same, reason=reason)


def change_by_the_api_of_thresholds(walker: Walker, reason: str) -> None:
    body = {"scorer": str(walker.close.uuid), "threshold": 0.5, "reason": reason}
    url = reverse("api:thresholds")
    walker.call_api("post", url, {**body, "suite": str(walker.suite.uuid)})


def change_the_default_by_the_api(walker: Walker, reason: str) -> None:
    body = {"scorer": str(walker.close.uuid), "threshold": 0.5, "reason": reason}
    walker.call_api("post", reverse("api:thresholds"), body)


def relabel_runs(walker: Walker, reason: str) -> None:
    """Labels of runs change no threshold, whichever way they are made."""
    for run in Run.objects.all():
        walker.post("relabel_run", run.uuid, threshold="0.5", reason=reason)
        walker.post("remove_run_labels", run.uuid)
        url = reverse("api:run_relabel", args=[run.uuid])
        walker.call_api("post", url, {"thresholds": {"close": 0.5}, "reason": reason})
        walker.call_api("post", url, {})
    url = reverse("relabel_suite", args=[walker.suite.uuid, walker.close.uuid])
    walker.browser.post(url, {"threshold": "0.5", "reason": reason})


#: What may change the threshold on each path, with a reason; never anybody without one.
PATHS: Final[dict[Callable[[Walker, str], None], set[str]]] = {
    edit_threshold: {"admin"},
    untick_and_tick: {"admin"},
    untick_and_tick_after_a_copy: {"admin"},
    tick_at_the_default: set(),
    choose_another_suite: {"admin"},
    choose_one_between: {"admin"},
    choose_and_tick: {"admin"},
    create_under_the_name: set(),
    import_with_another_threshold: {"admin"},
    import_twice: {"admin"},
    import_without_and_tick: {"admin"},
    accept_a_proposal: {"admin"},
    propose_and_accept: set(),  # an admin has nothing to propose
    change_on_the_page_of_the_threshold: {"admin"},
    change_the_default_and_tick: set(),
    create_by_the_api: set(),
    change_by_the_api: set(),
    change_by_the_api_of_thresholds: {"admin"},
    change_the_default_by_the_api: set(),
    relabel_runs: set(),
    change_in_djangos_admin: {"superuser"},
    choose_the_suite_in_djangos_admin: set(),
    delete_in_djangos_admin: set(),
}


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


def test_a_command_changes_it_with_a_reason_alone(walker: Walker) -> None:
    with pytest.raises(CommandError, match="Enter a reason for the threshold change"):
        change_the_threshold_by_a_command(walker, " ")
    assert walker.effective() == (0.9, 0.9)
    change_the_threshold_by_a_command(walker, REASON)
    assert walker.effective() == (0.5, 0.5)
    (change,) = ThresholdChange.objects.filter(new=0.5)
    assert (change.changed_by, change.reason) == (None, REASON)
    assert AuditEntry.objects.get(new__reason=REASON).actor_id == ""


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
    entry = AuditEntry.objects.order_by("pk").filter(new__reason=REASON).get()
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
