"""How each address is made to change something, and the audit entry that this leaves.

RECORDED says how an address is posted and which action its entry has; UNRECORDED names the only
tables that another change of an address may touch, and why it leaves no entry.
"""

from __future__ import annotations

from typing import Any, Final

from scoring.models import (
    Adjudication,
    Draft,
    DraftEdit,
    Job,
    Notice,
    Output,
    ReviewTask,
    Upload,
)
from tests.contracts import audit_steps as steps
from tests.contracts.audit_steps import CONNECTION, EMPTY, KEY, OUTPUT, RULE, Change
from tests.pages.alerts.steps import typed
from tests.pages.connections.steps import changed

SUITE_FILE: Final = "name: other\nscorers:\n  - {name: same, type: exact_match}\n"
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
RELEASE: Final = {"state": "approved", "reason": "Good."}

RECORDED: Final[dict[tuple[str, str], Change]] = {
    ("page", "setup"): Change("site.set_up", CREATOR, first=steps.first_person),
    ("page", "new_team"): Change("team.created", {"name": "Second"}),
    ("page", "new_token"): Change("token.created", steps.own_token),
    ("page", "revoke_token"): Change("token.revoked"),
    ("page", "service_accounts"): Change(
        "service_account.created", {"name": "nightly", "role": "3"}
    ),
    ("page", "remove_service_account"): Change("member.removed"),
    ("page", "group_roles"): Change("group_role.set", {"group": "staff", "role": "3"}),
    ("page", "remove_group_role"): Change("group_role.removed"),
    ("page", "retention"): Change("retention.changed", {"runs_days": "365"}),
    ("page", "rename_team"): Change("team.renamed", {"name": "Renamed"}),
    ("page", "member_role"): Change("member.role_changed", {"role": "3"}),
    ("page", "remove_member"): Change("member.removed"),
    ("page", "leave_team"): Change("member.left", {"leave": ""}, first=steps.second_admin),
    ("page", "hand_over_team"): Change(
        "member.role_changed", lambda desk: {"successor": steps.second_admin(desk), "role": "2"}
    ),
    ("page", "invite"): Change("invitation.created", {"email": "g@example.org", "role": "2"}),
    ("page", "revoke_invitation"): Change("invitation.revoked"),
    ("page", "join_link"): Change("join_link.created", {"domain": "example.org", "role": "1"}),
    ("page", "invitation"): Change("invitation.accepted", first=steps.invited),
    ("page", "join"): Change("invitation.requested", {"email": "g@example.org"}),
    ("page", "load_demo"): Change("team.created"),
    ("page", "publish_draft"): Change("version.created", {"message": "Better"}, first=steps.edited),
    ("page", "discard_draft"): Change("draft.discarded", first=steps.edited),
    ("page", "restore_draft"): Change(
        "draft.restored", first=lambda desk: (steps.edited(desk), desk.send("discard_draft"))
    ),
    ("page", "move_draft"): Change(
        "draft.moved", first=lambda desk: (steps.edited(desk), steps.newer_version(desk))
    ),
    ("page", "carve"): Change("dataset.created", {"name": "Part", "seed": "7"}),
    ("page", "load_upload"): Change("dataset.created", first=steps.checked, then=steps.load),
    ("page", "undo_upload"): Change("import.undone", first=steps.imported),
    ("page", "rename_dataset"): Change("dataset.renamed", {"name": "Renamed"}),
    ("page", "archive_dataset"): Change("dataset.archived"),
    ("page", "delete_dataset"): Change("dataset.deleted", first=steps.at_rest),
    ("page", "restore_dataset"): Change(
        "dataset.restored", first=lambda desk: (steps.at_rest(desk), desk.send("delete_dataset"))
    ),
    ("page", "unarchive_dataset"): Change(
        "dataset.unarchived", first=steps.posted("archive_dataset")
    ),
    ("page", "new_run"): Change("run.created", steps.outputs_run),
    ("page", "generate_run"): Change("run.created", steps.generation),
    ("page", "use_starter"): Change("suite.created"),
    ("page", "cancel_run"): Change("run.cancelled"),
    ("page", "resume_run"): Change("run.queued", first=steps.posted("cancel_run")),
    ("page", "retry_run"): Change("run.queued", first=steps.with_errors),
    ("page", "ticked_cases"): Change("run.queued", {"do": "retry"}, first=steps.with_errors),
    ("page", "save_view"): Change("view.created", {"name": "mine", "query": "?verdict=fail"}),
    ("page", "remove_view"): Change("view.removed"),
    ("page", "edit_run"): Change("run.edited", {"name": "renamed", "note": ""}),
    ("page", "archive_run"): Change("run.archived", first=steps.judged),
    ("page", "unarchive_run"): Change(
        "run.unarchived", first=lambda desk: (steps.judged(desk), desk.send("archive_run"))
    ),
    ("page", "delete_run"): Change("run.deleted", first=steps.judged),
    ("page", "restore_run"): Change("run.restored"),
    ("page", "pin_run"): Change("baseline.pinned", first=steps.finished),
    ("page", "unpin_run"): Change(
        "baseline.unpinned", first=lambda desk: (steps.finished(desk), desk.send("pin_run"))
    ),
    ("page", "review_case"): Change("review.said", {"verdict": "fail", "note": ""}),
    ("page", "sign_off_cases"): Change("case.accepted", steps.accepted, first=steps.broken),
    ("page", "run_release"): Change("release.approved", RELEASE, first=steps.finished),
    ("page", "withdraw_run_release"): Change(
        "release.withdrawn",
        first=lambda desk: (steps.finished(desk), desk.send("run_release", RELEASE)),
    ),
    ("page", "end_waiver"): Change("waiver.ended"),
    ("page", "reopen_waiver"): Change("waiver.reopened", first=steps.posted("end_waiver")),
    ("page", "add_comment"): Change("comment.added", {"text": "Why?"}),
    ("page", "edit_comment"): Change("comment.edited", {"text": "Because."}),
    ("page", "delete_comment"): Change("comment.deleted"),
    ("page", "restore_comment"): Change("comment.restored", first=steps.posted("delete_comment")),
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
    ("page", "new_review_queue"): Change("review_queue.created", QUEUE, first=steps.finished),
    ("page", "run_reviews"): Change("reviews.imported", steps.review_file),
    ("page", "new_pairwise_queue"): Change(
        "review_queue.created", QUEUE, first=steps.finished_again
    ),
    ("page", "close_review_queue"): Change("review_queue.closed"),
    ("page", "reopen_review_queue"): Change(
        "review_queue.reopened", first=steps.posted("close_review_queue")
    ),
    ("page", "reassign_reviews"): Change("review_queue.reassigned", steps.other_reviewer),
    ("page", "join_review_queue"): Change("review_queue.pool_changed", first=steps.pooled),
    ("page", "leave_review_queue"): Change(
        "review_queue.pool_changed",
        first=steps.joined,
    ),
    ("page", "review_task"): Change("review.said", TASK),
    ("page", "undo_review_task"): Change(
        "review.taken_back", first=lambda desk: desk.send("review_task", TASK)
    ),
    ("page", "stamp_run_scorer"): Change("scorer.stamped", {"limit": "0.6"}, first=steps.finished),
    ("page", "check_run_scorer"): Change("judge.checked", {"sample": "2"}, first=steps.judged),
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
        first=steps.over_an_older_version,
        then=steps.run_jobs,
    ),
    ("page", "rescore_run"): Change("output_set.created", first=steps.same_cases_again),
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
    ("page", "default_connection"): Change("connection.default", first=steps.second_connection),
    ("page", "remove_connection"): Change("connection.removed"),
    ("page", "new_alert_rule"): Change("alert_rule.created", steps.page_rule),
    ("page", "alert_rule"): Change("alert_rule.changed", typed(**RULE)),
    ("page", "pause_alert_rule"): Change("alert_rule.paused"),
    ("page", "resume_alert_rule"): Change(
        "alert_rule.resumed", first=steps.posted("pause_alert_rule")
    ),
    ("page", "delete_alert_rule"): Change("alert_rule.deleted"),
    ("page", "restore_alert_rule"): Change("alert_rule.restored"),
    ("page", "alert_rule_secret"): Change("alert_rule.secret_replaced", first=steps.webhook),
    ("page", "test_alert_rule"): Change("alert_rule.tested", first=steps.webhook),
    ("page", "acknowledge_alert"): Change("alert.acknowledged"),
    ("api", "invitations"): Change("invitation.created", {"email": "h@example.org"}),
    ("api", "revoke_invitation delete"): Change("invitation.revoked", method="delete"),
    ("api", "tokens"): Change("token.created", {"name": "ci"}),
    ("api", "revoke_token delete"): Change("token.revoked", method="delete"),
    ("api", "datasets"): Change("dataset.created", {"name": "new", "cases": [{"input": "a"}]}),
    ("api", "versions"): Change("version.created", {"cases": [{"key": "x", "input": "a"}]}),
    ("api", "runs"): Change("run.created", steps.api_run),
    ("api", "run_start"): Change("output_set.created", first=steps.has_outputs),
    ("api", "run_outputs"): Change(
        "output_set.created", {"outputs": [OUTPUT], "final": True}, first=steps.awaits_outputs
    ),
    ("api", "run_cancel"): Change("run.cancelled"),
    ("api", "run_retry"): Change("run.queued", first=steps.with_errors),
    ("api", "reviews"): Change(
        "review.said",
        lambda desk: {"run": desk.uid("run"), "key": "case-1", "verdict": "fail"},
    ),
    ("api", "review_queues"): Change(
        "review_queue.created", lambda desk: {"run": desk.uid("run")}, first=steps.finished
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
    ("api", "case_decisions"): Change("case.accepted", steps.api_accepted, first=steps.broken),
    ("api", "waivers"): Change("waiver.created", steps.api_waiver),
    ("api", "waiver delete"): Change("waiver.ended", method="delete"),
    ("api", "run_release_decisions"): Change("release.approved", RELEASE, first=steps.finished),
    ("api", "release_decision delete"): Change("release.withdrawn", method="delete"),
    ("api", "scorers"): Change("scorer.created", {"name": "new", "type": "exact_match"}),
    ("page", "relabel_run"): Change("run.relabelled", first=steps.with_an_old_threshold),
    ("page", "relabel_suite"): Change(
        "run.relabelled", first=steps.with_an_old_threshold, then=steps.run_jobs
    ),
    ("page", "remove_run_labels"): Change(
        "run.labels_removed",
        first=lambda desk: (steps.with_an_old_threshold(desk), desk.send("relabel_run")),
    ),
    ("api", "run_relabel"): Change("run.relabelled", first=steps.with_an_old_threshold),
    ("api", "run_relabel delete"): Change(
        "run.labels_removed",
        first=lambda desk: (steps.with_an_old_threshold(desk), desk.send("relabel_run")),
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
    ("api", "alert_rules"): Change("alert_rule.created", steps.api_rule),
    ("api", "alert_rule_secret"): Change("alert_rule.secret_replaced", first=steps.webhook),
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
    ("page", "read_notice"): _unrecorded(OWN, {Notice}, first=steps.noticed),
    ("page", "ticked_cases"): _unrecorded(
        DRAFT, DRAFTS, {"do": "tag", "new_tag": "odd"}, first=steps.finished
    ),
    ("page", "skip_review_task"): _unrecorded(OWN, {ReviewTask}),
    ("api", "next_review_task"): _unrecorded(OWN, ()),
    ("page", "accept_case_output"): _unrecorded(DRAFT, DRAFTS, {"as": "reference"}),
    ("page", "draft_case"): _unrecorded(DRAFT, DRAFTS, steps.case, query=KEY),
    ("page", "delete_draft_case"): _unrecorded(DRAFT, DRAFTS, {"key": "case-1"}),
    ("page", "revert_draft_case"): _unrecorded(
        DRAFT, {DraftEdit}, {"key": "case-1"}, first=steps.edited
    ),
    ("page", "tag_cases"): _unrecorded(
        DRAFT, DRAFTS, {"version": "1", "tag": "odd", "position": ["1"]}
    ),
    ("page", "new_upload"): _unrecorded(
        FILE, {Upload}, {"kind": "dataset", "pasted": "id,input\n1,a\n", "dataset_name": "New"}
    ),
    ("page", "upload"): _unrecorded(FILE, {Upload}, steps.mapping, first=steps.sent_file),
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
        FILE, {Output}, {"outputs": [OUTPUT], "final": False}, first=steps.awaits_outputs
    ),
}
