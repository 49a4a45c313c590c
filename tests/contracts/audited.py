"""How each address is made to change something, and the audit entry that this leaves.

RECORDED says how an address is posted and which action its entry has; UNRECORDED names the only
tables that another change of an address may touch, and why it leaves no entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scoring.engine import imports
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import (
    Adjudication,
    Connection,
    Draft,
    DraftEdit,
    Job,
    Member,
    Notice,
    Output,
    OutputSet,
    ReviewQueue,
    ReviewTask,
    Role,
    Run,
    RunState,
    Score,
    Status,
    Team,
    Upload,
    UploadState,
    User,
)
from scoring.models.team.team import setup_token
from tests.contracts.addresses import parameters_of, url_of
from tests.pages.alerts.steps import HOOK, typed
from tests.pages.calibration.steps import judged_run
from tests.pages.connections.steps import changed, filled
from tests.support.datasets import published_version
from tests.support.finished_runs import run_with
from tests.support.run_states import finished_run

Sent = Mapping[str, Any]
EMPTY: Final[Sent] = MappingProxyType({})


@dataclass
class Desk:
    """An administrator of the team before one of everything; `house` is by parameter."""

    client: Client
    team: Team
    alice: User
    house: dict[str, Any]
    make_set: Callable[..., OutputSet]

    def url(self, name: str, kind: str = "page") -> str:
        return url_of(kind, name, parameters_of(kind, name), self.house, self.team)

    def send(
        self,
        name: str,
        sent: Sent = EMPTY,
        kind: str = "page",
        method: str = "post",
        query: str = "",
    ) -> Any:
        url = self.url(name, kind) + query
        if kind == "page":
            return self.client.post(url, dict(sent))
        body = json.dumps(dict(sent))
        return getattr(self.client, method)(url, body, content_type="application/json")

    def shown(self, name: str, query: str = "") -> dict[str, Any]:
        """What a browser would send of the form at this address."""
        form = self.client.get(self.url(name) + query).context["form"]
        return {field.html_name: field.value() for field in form if field.value()}

    def uid(self, noun: str) -> str:
        return str(self.house[noun].uuid)


def _nothing(_: Desk) -> None:
    pass


@dataclass(frozen=True)
class Change:
    """What is sent, after what, and the action of the entry that is left; "" for none.

    `then` does the worker's part; `touches` are the tables that a change without an entry may
    write, and `reason` says why it leaves none.
    """

    action: str = ""
    sent: Sent | Callable[[Desk], Sent] = field(default_factory=dict)
    first: Callable[[Desk], Any] = _nothing
    then: Callable[[Desk], Any] = _nothing
    query: str = ""
    method: str = "post"
    touches: frozenset[type] = frozenset()
    reason: str = ""

    def make(self, desk: Desk, kind: str, name: str) -> Any:
        """The answer; what goes before it was done already."""
        sent = self.sent(desk) if callable(self.sent) else self.sent
        answer = desk.send(name, sent, kind, self.method, self.query)
        self.then(desk)
        return answer


KEY: Final = "?key=case-1"
RULE: Final = {"kind": "no_data", "limit_no_data": "30", "scorer": ""}
SUITE_FILE: Final = "name: other\nscorers:\n  - {name: same, type: exact_match}\n"
CONNECTION: Final = filled(("small", "0.15", ""), name="second", key="sk-very-secret-0123456789")
TAG: Final = {"name": "tone"}
QUESTIONS: Final = {"name": "Tone", "text_1": "Polite?", "kind_1": "text"}
QUEUE: Final = {"name": "w46", "order": "random", "case_count": "2"}
TASK: Final = {"verdict": "fail", "note": "", "seen": "0"}
CREATOR: Final = {
    "email": "first@example.org",
    "password": "a long enough phrase",
    "password_again": "a long enough phrase",
    "team_name": "First",
}


def _case(desk: Desk) -> Sent:
    """The form of a case with another input."""
    form = desk.client.get(desk.url("draft_case") + KEY).context["form"]
    values = {field.name: field.value() for field in form}
    return {k: "" if v is None else v for k, v in values.items()} | {"input": "Another?"}


def _edited(desk: Desk) -> None:
    desk.send("draft_case", _case(desk), query=KEY)


def _posted(*names: str) -> Callable[[Desk], None]:
    """These addresses before, each without more than its name."""
    return lambda desk: [desk.send(name) for name in names] and None


def _pooled(desk: Desk) -> None:
    """The queue's cases are taken from a pool."""
    ReviewQueue.objects.filter(pk=desk.house["review"].pk).update(is_pooled=True)


def _joined(desk: Desk) -> None:
    _pooled(desk)
    desk.send("join_review_queue")


def _review_file(_: Desk) -> Sent:
    rows = b"key,reviewer,verdict\ncase-1,Jo,pass\n"
    return {"file": SimpleUploadedFile("reviews.csv", rows)}


def _other_reviewer(desk: Desk) -> Sent:
    """All tasks of the administrator go to somebody else."""
    other = User.objects.create_user("rita@example.org")
    Member.objects.create(team=desk.team, user=other, role=Role.REVIEWER)
    return {"old": str(desk.alice.pk), "new": str(other.pk)}


def _judged(desk: Desk) -> None:
    """A run that a judge scored, in place of the run."""
    desk.house["run"] = judged_run(desk.make_set(["yes", "no"], "Judged"), ["a", "b"])


def _finished(desk: Desk) -> None:
    """A finished run, in place of the run."""
    desk.house["run"] = finished_run(desk.make_set(["yes", "no"], "Scored"))


def _with_an_old_threshold(desk: Desk) -> None:
    """A run with another threshold than its suite has now, in place of the run."""
    run = run_with(desk.house["dataset"].latest, {"same": [0.6, 0.6]})
    suite = desk.house["suite"]
    Run.objects.filter(pk=run.pk).update(suite=suite, suite_name=suite.name)
    desk.house["run"] = run


def _over_an_older_version(desk: Desk) -> None:
    """The run is finished, and its dataset has a later version."""
    run = finished_run(desk.make_set(["yes", "no"], "Older"))
    desk.house["run"], desk.house["dataset"] = run, run.output_set.version.dataset
    cases = [
        {"key": case.key, "input": case.input, "expected": "x"}
        for case in run.output_set.version.cases.order_by("position")
    ]
    published_version(desk.team, cases, "Older")
    desk.house["dataset"].refresh_from_db()


def _run_jobs(_: Desk) -> None:
    """As the worker does."""
    runner = JobRunner(InlineExecutor())
    runner.step()
    runner.step()  # collects what the first one began


def _finished_again(desk: Desk) -> None:
    """Two finished runs of one series, the second one in place of the run."""
    finished_run(desk.make_set(["no", "yes"], "Scored"))
    _finished(desk)


def _with_errors(desk: Desk) -> None:
    """A finished run with an error, in place of the run."""
    run = finished_run(desk.make_set(["yes", "no"], "Failed"))
    Score.objects.filter(scorer__run=run, output__case__position=1).update(
        status=Status.ERROR, score=None, verdict=None, code="timeout"
    )
    desk.house["run"] = run


def _broken(desk: Desk) -> None:
    """Two runs of a case that broke, the candidate in place of the run."""
    version = desk.make_set(["yes"], "Broken").version
    desk.house["before"] = run_with(version, {"same": [1.0]})
    desk.house["run"] = run_with(version, {"same": [0.0]})


def _accepted(desk: Desk) -> Sent:
    return {"do": "accepted", "baseline": desk.uid("before"), "place": "1"}


def _api_accepted(desk: Desk) -> Sent:
    runs = {"baseline": desk.uid("before"), "candidate": desk.uid("run")}
    return {**runs, "state": "accepted", "cases": [{"key": "case-1"}]}


def _api_waiver(desk: Desk) -> Sent:
    named = {"dataset": desk.uid("dataset"), "key": "case-1", "scorer": desk.uid("scorer")}
    return {**named, "until": "2999-12-31", "reason": "Known."}


def _sent_file(desk: Desk) -> None:
    """An upload of cases, in place of the upload."""
    form = {"kind": "dataset", "file": SimpleUploadedFile("a.csv", b"id,input,expected\na,b,c\n")}
    desk.send("new_upload", form)
    desk.house["upload"] = Upload.objects.latest("pk")


def _mapping(desk: Desk) -> Sent:
    page = desk.client.get(desk.url("upload")).context
    forms = (page["form"], page["reading"])
    return {field.html_name: field.value() or "" for form in forms for field in form}


def _checked(desk: Desk) -> None:
    """A checked upload of cases, in place of the upload."""
    _sent_file(desk)
    desk.send("upload", _mapping(desk))
    desk.house["upload"].refresh_from_db()
    imports.check_upload(desk.house["upload"])


def _second_connection(desk: Desk) -> None:
    """Another connection, in place of the connection."""
    desk.send("new_connection", CONNECTION)
    desk.house["connection"] = Connection.objects.get(name="second")


def _load(desk: Desk) -> None:
    desk.house["upload"].refresh_from_db()
    imports.import_upload(desk.house["upload"])


def _imported(desk: Desk) -> None:
    """An upload of cases that was imported, in place of the upload."""
    _checked(desk)
    desk.send("load_upload")
    _load(desk)


def _at_rest(_: Desk) -> None:
    """No run is under way, and no upload."""
    Run.objects.update(state=RunState.FINISHED)
    Upload.objects.update(state=UploadState.CANCELLED)


def _noticed(desk: Desk) -> None:
    desk.house["read_notice"] = Notice.objects.create(
        user=desk.alice, run=desk.house["run"], text="The run has ended."
    )


def _first_person(desk: Desk) -> None:
    """A site without anybody, and the link that sets it up."""
    User.objects.all().delete()
    desk.house["token"] = setup_token()


def _webhook(desk: Desk) -> None:
    desk.send("alert_rule", typed(**RULE, webhook_url=HOOK))


def _newer_version(desk: Desk) -> None:
    desk.send("versions", {"cases": [{"key": "case-1", "input": "new"}]}, "api")


def _same_cases_again(desk: Desk) -> None:
    """A second version, whose case asks the same."""
    desk.send("versions", {"cases": [{"key": "case-1", "input": "q", "expected": "b"}]}, "api")


def _awaits_outputs(desk: Desk) -> None:
    """A run that was made without outputs, in place of the run."""
    answer = desk.send("runs", _api_run(desk, outputs=[], final=False), "api").json()
    desk.house["run"] = desk.team.runs.get(uuid=answer["id"])


def _has_outputs(desk: Desk) -> None:
    _awaits_outputs(desk)
    desk.send("run_outputs", {"outputs": [OUTPUT], "final": False}, "api")


RELEASE: Final = {"state": "approved", "reason": "Good."}
OUTPUT: Final = {"key": "case-1", "output": "a"}


def _api_run(desk: Desk, **more: Any) -> Sent:
    named = {"dataset": desk.uid("dataset"), "suite": desk.uid("suite"), "series": "a"}
    return {**named, "outputs": [OUTPUT], "final": True, **more}


def _api_rule(desk: Desk) -> Sent:
    return {"dataset": desk.uid("dataset"), "kind": "no_data", "limit": 30}


def _page_rule(desk: Desk) -> Sent:
    return typed(**RULE, dataset=desk.uid("dataset"))


def _generation(desk: Desk) -> Sent:
    asked = {"model": "m", "template": "{{ input }}", "trials": "1"}
    return desk.shown("generate_run") | asked | {"suite": desk.uid("suite")}


def _outputs_run(desk: Desk) -> Sent:
    return desk.shown("new_run", f"?outputs={desk.uid('outputs')}") | {"suite": desk.uid("suite")}


RECORDED: Final[dict[tuple[str, str], Change]] = {
    ("page", "setup"): Change("site.set_up", CREATOR, first=_first_person),
    ("page", "load_demo"): Change("team.created"),
    ("page", "publish_draft"): Change("version.created", {"message": "Better"}, first=_edited),
    ("page", "discard_draft"): Change("draft.discarded", first=_edited),
    ("page", "restore_draft"): Change(
        "draft.restored", first=lambda desk: (_edited(desk), desk.send("discard_draft"))
    ),
    ("page", "move_draft"): Change(
        "draft.moved", first=lambda desk: (_edited(desk), _newer_version(desk))
    ),
    ("page", "carve"): Change("dataset.created", {"name": "Part", "seed": "7"}),
    ("page", "load_upload"): Change("dataset.created", first=_checked, then=_load),
    ("page", "undo_upload"): Change("import.undone", first=_imported),
    ("page", "rename_dataset"): Change("dataset.renamed", {"name": "Renamed"}),
    ("page", "archive_dataset"): Change("dataset.archived"),
    ("page", "delete_dataset"): Change("dataset.deleted", first=_at_rest),
    ("page", "restore_dataset"): Change(
        "dataset.restored", first=lambda desk: (_at_rest(desk), desk.send("delete_dataset"))
    ),
    ("page", "unarchive_dataset"): Change("dataset.unarchived", first=_posted("archive_dataset")),
    ("page", "new_run"): Change("run.created", _outputs_run),
    ("page", "generate_run"): Change("run.created", _generation),
    ("page", "use_starter"): Change("suite.created"),
    ("page", "cancel_run"): Change("run.cancelled"),
    ("page", "resume_run"): Change("run.queued", first=_posted("cancel_run")),
    ("page", "retry_run"): Change("run.queued", first=_with_errors),
    ("page", "ticked_cases"): Change("run.queued", {"do": "retry"}, first=_with_errors),
    ("page", "save_view"): Change("view.created", {"name": "mine", "query": "?verdict=fail"}),
    ("page", "remove_view"): Change("view.removed"),
    ("page", "edit_run"): Change("run.edited", {"name": "renamed", "note": ""}),
    ("page", "archive_run"): Change("run.archived", first=_judged),
    ("page", "unarchive_run"): Change(
        "run.unarchived", first=lambda desk: (_judged(desk), desk.send("archive_run"))
    ),
    ("page", "delete_run"): Change("run.deleted", first=_judged),
    ("page", "restore_run"): Change("run.restored"),
    ("page", "pin_run"): Change("baseline.pinned", first=_finished),
    ("page", "unpin_run"): Change(
        "baseline.unpinned", first=lambda desk: (_finished(desk), desk.send("pin_run"))
    ),
    ("page", "review_case"): Change("review.said", {"verdict": "fail", "note": ""}),
    ("page", "sign_off_cases"): Change("case.accepted", _accepted, first=_broken),
    ("page", "run_release"): Change("release.approved", RELEASE, first=_finished),
    ("page", "withdraw_run_release"): Change(
        "release.withdrawn",
        first=lambda desk: (_finished(desk), desk.send("run_release", RELEASE)),
    ),
    ("page", "end_waiver"): Change("waiver.ended"),
    ("page", "reopen_waiver"): Change("waiver.reopened", first=_posted("end_waiver")),
    ("page", "add_comment"): Change("comment.added", {"text": "Why?"}),
    ("page", "edit_comment"): Change("comment.edited", {"text": "Because."}),
    ("page", "delete_comment"): Change("comment.deleted"),
    ("page", "restore_comment"): Change("comment.restored", first=_posted("delete_comment")),
    ("page", "failure_tags"): Change("failure_tag.added", TAG),
    ("page", "mark_failure_tag"): Change(
        "failure_tag.changed",
        {**TAG, "is_severe": "on"},
        first=lambda desk: desk.send("failure_tags", TAG),
    ),
    ("page", "remove_failure_tag"): Change(
        "failure_tag.removed", TAG, first=lambda desk: desk.send("failure_tags", TAG)
    ),
    ("page", "edit_question_set"): Change("question_set.published", QUESTIONS),
    ("page", "remove_question_set"): Change(
        "question_set.removed",
        {"name": "Tone"},
        first=lambda desk: desk.send("edit_question_set", QUESTIONS),
    ),
    ("page", "new_review_queue"): Change("review_queue.created", QUEUE, first=_finished),
    ("page", "run_reviews"): Change("reviews.imported", _review_file),
    ("page", "new_pairwise_queue"): Change("review_queue.created", QUEUE, first=_finished_again),
    ("page", "close_review_queue"): Change("review_queue.closed"),
    ("page", "reopen_review_queue"): Change(
        "review_queue.reopened", first=_posted("close_review_queue")
    ),
    ("page", "reassign_reviews"): Change("review_queue.reassigned", _other_reviewer),
    ("page", "join_review_queue"): Change("review_queue.pool_changed", first=_pooled),
    ("page", "leave_review_queue"): Change(
        "review_queue.pool_changed",
        first=_joined,
    ),
    ("page", "review_task"): Change("review.said", TASK),
    ("page", "undo_review_task"): Change(
        "review.taken_back", first=lambda desk: desk.send("review_task", TASK)
    ),
    ("page", "stamp_run_scorer"): Change("scorer.stamped", {"limit": "0.6"}, first=_finished),
    ("page", "check_run_scorer"): Change("judge.checked", {"sample": "2"}, first=_judged),
    ("page", "propose_correction"): Change(
        "correction.proposed", {"expected": "b", "kind": "text", "why": ""}
    ),
    ("page", "decide_dataset_corrections"): Change(
        "correction.approved",
        lambda desk: {"decision": "approve", "corrections": desk.uid("correction")},
    ),
    ("page", "withdraw_correction"): Change("correction.withdrawn"),
    ("page", "dataset_older_runs"): Change(
        "run.created",
        lambda desk: {"runs": desk.uid("run")},
        first=_over_an_older_version,
        then=_run_jobs,
    ),
    ("page", "rescore_run"): Change("output_set.created", first=_same_cases_again),
    ("page", "adjudicate_disagreement"): Change("review.adjudicated", TASK),
    ("page", "clear_disagreement"): Change(
        "review.adjudication_cleared",
        lambda _: {"seen": str(Adjudication.objects.latest("pk").revision)},
        first=lambda desk: desk.send("adjudicate_disagreement", TASK),
    ),
    ("page", "new_scorer"): Change(
        "scorer.created", lambda desk: desk.shown("new_scorer") | {"name": "new"}
    ),
    ("page", "edit_scorer"): Change(
        "scorer.revised", lambda desk: desk.shown("edit_scorer") | {"config-case_sensitive": ""}
    ),
    ("page", "extract_scorer_json"): Change("scorer.revised"),
    ("page", "new_suite"): Change(
        "suite.created", lambda desk: {"name": "new", "scorers": [desk.uid("scorer")]}
    ),
    ("page", "edit_suite"): Change(
        "suite.renamed", lambda desk: {"name": "renamed", "scorers": [desk.uid("scorer")]}
    ),
    ("page", "decide_proposal"): Change(
        "proposal.rejected", {"decision": "reject", "reason": "Not yet."}
    ),
    ("page", "decide_threshold_proposal"): Change(
        "proposal.rejected", {"decision": "reject", "reason": "Not yet."}
    ),
    ("page", "suite_thresholds"): Change(
        "threshold.changed",
        lambda desk: {
            f"threshold-{desk.uid('scorer')}": "0.25",
            f"old-{desk.uid('scorer')}": "1",
            "reason": "Too strict.",
        },
    ),
    ("api", "threshold_proposals"): Change(
        "proposal.created",
        lambda desk: {
            "suite": desk.uid("suite"),
            "thresholds": [{"scorer": desk.uid("scorer"), "threshold": 0.125}],
            "reason": "Too strict.",
        },
    ),
    ("page", "dataset_suite"): Change(
        "dataset.suite_changed", lambda desk: {"suite": desk.uid("suite")}
    ),
    ("page", "import_suite"): Change("suite.created", {"text": SUITE_FILE, "import": "1"}),
    ("page", "new_connection"): Change("connection.created", CONNECTION),
    ("page", "connection"): Change("connection.changed", changed(("m", "1", ""))),
    ("page", "default_connection"): Change("connection.default", first=_second_connection),
    ("page", "remove_connection"): Change("connection.removed"),
    ("page", "new_alert_rule"): Change("alert_rule.created", _page_rule),
    ("page", "alert_rule"): Change("alert_rule.changed", typed(**RULE)),
    ("page", "pause_alert_rule"): Change("alert_rule.paused"),
    ("page", "resume_alert_rule"): Change("alert_rule.resumed", first=_posted("pause_alert_rule")),
    ("page", "delete_alert_rule"): Change("alert_rule.deleted"),
    ("page", "restore_alert_rule"): Change("alert_rule.restored"),
    ("page", "alert_rule_secret"): Change("alert_rule.secret_replaced", first=_webhook),
    ("page", "test_alert_rule"): Change("alert_rule.tested", first=_webhook),
    ("page", "acknowledge_alert"): Change("alert.acknowledged"),
    ("api", "datasets"): Change("dataset.created", {"name": "new", "cases": [{"input": "a"}]}),
    ("api", "versions"): Change("version.created", {"cases": [{"key": "x", "input": "a"}]}),
    ("api", "runs"): Change("run.created", _api_run),
    ("api", "run_start"): Change("output_set.created", first=_has_outputs),
    ("api", "run_outputs"): Change(
        "output_set.created", {"outputs": [OUTPUT], "final": True}, first=_awaits_outputs
    ),
    ("api", "run_cancel"): Change("run.cancelled"),
    ("api", "run_retry"): Change("run.queued", first=_with_errors),
    ("api", "reviews"): Change(
        "review.said",
        lambda desk: {"run": desk.uid("run"), "key": "case-1", "verdict": "fail"},
    ),
    ("api", "review_queues"): Change(
        "review_queue.created", lambda desk: {"run": desk.uid("run")}, first=_finished
    ),
    ("api", "close_review_queue"): Change("review_queue.closed"),
    ("api", "review_task"): Change("review.said", {"verdict": "fail"}),
    ("api", "run_reviews"): Change(
        "reviews.imported",
        {"reviews": [{"key": "case-1", "reviewer": "Jo", "verdict": "pass"}]},
    ),
    ("api", "adjudications"): Change(
        "review.adjudicated",
        lambda desk: {"run": desk.uid("disagreement"), "key": "case-1", "verdict": "fail"},
    ),
    ("api", "corrections"): Change(
        "correction.proposed",
        lambda desk: {"run": desk.uid("run"), "key": "case-1", "expected": "b"},
    ),
    ("api", "decide_corrections"): Change(
        "correction.rejected",
        lambda desk: {
            "dataset": desk.uid("dataset"),
            "corrections": [desk.uid("correction")],
            "decision": "reject",
            "reason": "It is right.",
        },
    ),
    ("api", "preferences"): Change(
        "preference.given",
        lambda desk: {
            "run": desk.uid("run"),
            "baseline": desk.uid("disagreement"),
            "key": "case-1",
            "verdict": "better",
        },
    ),
    ("api", "comments"): Change(
        "comment.added", lambda desk: {"run": desk.uid("run"), "key": "case-1", "text": "Why?"}
    ),
    ("api", "case_decisions"): Change("case.accepted", _api_accepted, first=_broken),
    ("api", "waivers"): Change("waiver.created", _api_waiver),
    ("api", "waiver delete"): Change("waiver.ended", method="delete"),
    ("api", "run_release_decisions"): Change("release.approved", RELEASE, first=_finished),
    ("api", "release_decision delete"): Change("release.withdrawn", method="delete"),
    ("api", "scorers"): Change("scorer.created", {"name": "new", "type": "exact_match"}),
    ("page", "relabel_run"): Change("run.relabelled", first=_with_an_old_threshold),
    ("page", "relabel_suite"): Change(
        "run.relabelled", first=_with_an_old_threshold, then=_run_jobs
    ),
    ("page", "remove_run_labels"): Change(
        "run.labels_removed",
        first=lambda desk: (_with_an_old_threshold(desk), desk.send("relabel_run")),
    ),
    ("api", "run_relabel"): Change("run.relabelled", first=_with_an_old_threshold),
    ("api", "run_relabel delete"): Change(
        "run.labels_removed",
        first=lambda desk: (_with_an_old_threshold(desk), desk.send("relabel_run")),
        method="delete",
    ),
    ("page", "scorer_threshold"): Change(
        "threshold.changed", {"threshold": "0.25", "old": "1", "reason": "Too strict."}
    ),
    ("page", "suite_threshold"): Change(
        "threshold.changed", {"threshold": "0.25", "old": "1", "reason": "Too strict."}
    ),
    ("api", "suites"): Change(
        "suite.created", lambda desk: {"name": "new", "entries": [{"scorer": desk.uid("scorer")}]}
    ),
    ("api", "thresholds"): Change(
        "threshold.changed",
        lambda desk: {
            "suite": desk.uid("suite"),
            "scorer": desk.uid("scorer"),
            "threshold": 0.25,
            "reason": "Too strict.",
        },
    ),
    ("api", "acknowledge_alert"): Change("alert.acknowledged"),
    ("api", "alert_rules"): Change("alert_rule.created", _api_rule),
    ("api", "alert_rule_secret"): Change("alert_rule.secret_replaced", first=_webhook),
    ("api", "alert_rule"): Change("alert_rule.changed", {"limit": 30}, method="patch"),
    ("api", "alert_rule delete"): Change("alert_rule.deleted", method="delete"),
}

OWN: Final = "the person's own reading, which nobody else sees"
DRAFT: Final = "counts for nobody until the draft is published, which is recorded"
FILE: Final = "on its way: what comes of it is recorded when all of it is stored"
TRIAL: Final = "tries something out and keeps no result but the answer"
DRAFTS: Final = frozenset({Draft, DraftEdit})


def _unrecorded(reason: str, touches: Any, sent: Any = EMPTY, **more: Any) -> Change:
    return Change(sent=sent, touches=frozenset(touches), reason=reason, **more)


UNRECORDED: Final[dict[tuple[str, str], Change]] = {
    ("page", "read_notice"): _unrecorded(OWN, {Notice}, first=_noticed),
    ("page", "ticked_cases"): _unrecorded(
        DRAFT, DRAFTS, {"do": "tag", "new_tag": "odd"}, first=_finished
    ),
    ("page", "skip_review_task"): _unrecorded(OWN, {ReviewTask}),
    ("api", "next_review_task"): _unrecorded(OWN, ()),
    ("page", "accept_case_output"): _unrecorded(DRAFT, DRAFTS, {"as": "reference"}),
    ("page", "draft_case"): _unrecorded(DRAFT, DRAFTS, _case, query=KEY),
    ("page", "delete_draft_case"): _unrecorded(DRAFT, DRAFTS, {"key": "case-1"}),
    ("page", "revert_draft_case"): _unrecorded(
        DRAFT, {DraftEdit}, {"key": "case-1"}, first=_edited
    ),
    ("page", "tag_cases"): _unrecorded(
        DRAFT, DRAFTS, {"version": "1", "tag": "odd", "position": ["1"]}
    ),
    ("page", "new_upload"): _unrecorded(
        FILE, {Upload}, {"kind": "dataset", "pasted": "id,input\n1,a\n", "dataset_name": "New"}
    ),
    ("page", "upload"): _unrecorded(FILE, {Upload}, _mapping, first=_sent_file),
    ("page", "cancel_upload"): _unrecorded(FILE, {Upload}),
    ("page", "test_connection"): _unrecorded(TRIAL, {Job}),
    ("api", "score"): _unrecorded(
        TRIAL,
        (),
        {
            "scorer": {"type": "exact_match", "config": {}},
            "cases": [{"output": "a", "expected": "a"}],
        },
    ),
    ("api", "run_outputs"): _unrecorded(
        FILE, {Output}, {"outputs": [OUTPUT], "final": False}, first=_awaits_outputs
    ),
}
