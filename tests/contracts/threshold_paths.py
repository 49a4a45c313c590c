"""The ways on which somebody may try to change a threshold that counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from scoring.core.suites.suite_format import DescribedScorer, SuiteDocument
from scoring.engine.suites.proposals import plan_proposal
from scoring.engine.suites.suite_file import ImportPlan
from scoring.engine.thresholds.proposals import ProposedChange
from scoring.models import (
    Dataset,
    Run,
    Scorer,
    Suite,
    SuiteEntry,
    SuiteProposal,
    Team,
    ThresholdProposal,
    User,
)


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


def change_several(walker: Walker, reason: str) -> None:
    fields = {f"threshold-{walker.close.uuid}": "0.5", f"old-{walker.close.uuid}": "0.9"}
    walker.post("suite_thresholds", walker.suite.uuid, **fields, reason=reason)


def propose_by_the_api_and_accept(walker: Walker, reason: str) -> None:
    given = [{"scorer": str(walker.close.uuid), "threshold": 0.5}]
    body = {"suite": str(walker.suite.uuid), "thresholds": given, "reason": reason}
    walker.call_api("post", reverse("api:threshold_proposals"), body)
    accept_what_is_proposed(walker, reason)


def propose_on_a_page_and_accept(walker: Walker, reason: str) -> None:
    """An admin's own click changes the threshold at once."""
    change_on_the_page_of_the_threshold(walker, reason)
    change_several(walker, reason)
    accept_what_is_proposed(walker, reason)


def accept_what_is_proposed(walker: Walker, reason: str) -> None:
    for proposal in ThresholdProposal.objects.open():
        shown = ProposedChange.of(proposal).signature
        fields = {"decision": "accept", "reason": reason, "shown": shown}
        walker.post("decide_threshold_proposal", proposal.uuid, **fields)


def accept_a_members_proposal(walker: Walker, reason: str) -> None:
    """One that somebody else has left."""
    erin, _ = User.objects.get_or_create(email="erin@example.org")
    propose = ThresholdProposal.objects.propose
    propose(walker.team, walker.suite, {walker.close: 0.5}, by=erin, rationale="Too strict.")
    accept_what_is_proposed(walker, reason)


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
    change_several: {"admin"},
    propose_by_the_api_and_accept: {"admin"},
    propose_on_a_page_and_accept: {"admin"},
    accept_a_members_proposal: {"admin"},
    change_in_djangos_admin: {"superuser"},
    choose_the_suite_in_djangos_admin: set(),
    delete_in_djangos_admin: set(),
}
