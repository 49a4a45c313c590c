"""The API's addresses, its schema and the pages that explain it."""

from __future__ import annotations

from django.urls import include, path, re_path

from evalsite.api.alerts import views as alerts
from evalsite.api.calibration import views as calibration
from evalsite.api.compare import views as compare
from evalsite.api.corrections import views as corrections
from evalsite.api.datasets import views as datasets
from evalsite.api.drift import views as drift
from evalsite.api.errors import not_found
from evalsite.api.exports import views as exports
from evalsite.api.feedback import run_reviews
from evalsite.api.feedback import views as feedback
from evalsite.api.gates import views as gates
from evalsite.api.openapi import lazy_views
from evalsite.api.preferences import views as preferences
from evalsite.api.releases import views as releases
from evalsite.api.results import views as results
from evalsite.api.review_queues import tasks as review_tasks
from evalsite.api.review_queues import views as review_queues
from evalsite.api.runs import views as runs
from evalsite.api.score import views as score
from evalsite.api.scorers import views as scorers
from evalsite.api.signoff import views as signoff
from evalsite.api.team import views as team
from evalsite.api.thresholds import views as thresholds

v1 = [
    path("score/", score.ScoreView.as_view(), name="score"),
    path("datasets/", datasets.DatasetList.as_view(), name="datasets"),
    path("datasets/<uuid:uid>/", datasets.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<uuid:uid>/versions/", datasets.VersionList.as_view(), name="versions"),
    path(
        "datasets/<uuid:uid>/versions/<int:number>/export/",
        exports.VersionExport.as_view(),
        name="version_export",
    ),
    path("runs/", runs.RunList.as_view(), name="runs"),
    path("runs/<uuid:uid>/", runs.RunDetail.as_view(), name="run"),
    path("runs/<uuid:uid>/outputs/", runs.RunOutputs.as_view(), name="run_outputs"),
    path("runs/<uuid:uid>/start/", runs.RunStart.as_view(), name="run_start"),
    path("runs/<uuid:uid>/cancel/", runs.RunCancel.as_view(), name="run_cancel"),
    path("runs/<uuid:uid>/retry/", runs.RunRetry.as_view(), name="run_retry"),
    path("runs/<uuid:uid>/relabel/", runs.RunRelabel.as_view(), name="run_relabel"),
    path("runs/<uuid:uid>/results/", results.ResultList.as_view(), name="run_results"),
    path(
        "runs/<uuid:uid>/missing-outputs/",
        results.MissingOutputList.as_view(),
        name="run_missing_outputs",
    ),
    path(
        "runs/<uuid:uid>/calibration/",
        calibration.RunCalibration.as_view(),
        name="run_calibration",
    ),
    path("runs/<uuid:uid>/gate/", gates.RunGate.as_view(), name="run_gate"),
    path("runs/<uuid:uid>/export/", exports.ResultExport.as_view(), name="run_export"),
    path("runs/<uuid:uid>/reviews/", run_reviews.RunReviews.as_view(), name="run_reviews"),
    path(
        "runs/<uuid:uid>/release-decisions/",
        releases.ReleaseDecisionList.as_view(),
        name="run_release_decisions",
    ),
    path(
        "runs/<uuid:uid>/release-report/",
        releases.ReleaseReport.as_view(),
        name="run_release_report",
    ),
    path(
        "release-decisions/<uuid:uid>/",
        releases.ReleaseDecisionDetail.as_view(),
        name="release_decision",
    ),
    path("reviews/queues/", review_queues.QueueList.as_view(), name="review_queues"),
    path("reviews/queues/<uuid:uid>/", review_queues.QueueDetail.as_view(), name="review_queue"),
    path(
        "reviews/queues/<uuid:uid>/close/",
        review_queues.QueueClosing.as_view(),
        name="close_review_queue",
    ),
    path("reviews/queues/<uuid:uid>/tasks/", review_tasks.TaskList.as_view(), name="review_tasks"),
    path(
        "reviews/queues/<uuid:uid>/tasks/next/",
        review_tasks.NextTask.as_view(),
        name="next_review_task",
    ),
    path(
        "reviews/queues/<uuid:uid>/tasks/<int:number>/",
        review_tasks.TaskDetail.as_view(),
        name="review_task",
    ),
    path("reviews/", feedback.ReviewList.as_view(), name="reviews"),
    path("adjudications/", feedback.AdjudicationList.as_view(), name="adjudications"),
    path("corrections/", corrections.CorrectionList.as_view(), name="corrections"),
    path(
        "corrections/decide/", corrections.CorrectionDecisions.as_view(), name="decide_corrections"
    ),
    path("preferences/", preferences.PreferenceList.as_view(), name="preferences"),
    path("comments/", feedback.CommentList.as_view(), name="comments"),
    path("compare/", compare.Compare.as_view(), name="compare"),
    path("compare/cases/", compare.ComparedCases.as_view(), name="compare_cases"),
    path("compare/decisions/", signoff.CaseDecisions.as_view(), name="case_decisions"),
    path("waivers/", signoff.WaiverList.as_view(), name="waivers"),
    path("waivers/<uuid:uid>/", signoff.WaiverDetail.as_view(), name="waiver"),
    path("drift/", drift.Drift.as_view(), name="drift"),
    path("scorers/", scorers.ScorerList.as_view(), name="scorers"),
    path("scorers/<uuid:uid>/", scorers.ScorerDetail.as_view(), name="scorer"),
    path("suites/", scorers.SuiteList.as_view(), name="suites"),
    path("suites/<uuid:uid>/", scorers.SuiteDetail.as_view(), name="suite"),
    path("thresholds/", thresholds.Thresholds.as_view(), name="thresholds"),
    path(
        "thresholds/proposals/",
        thresholds.ThresholdProposalList.as_view(),
        name="threshold_proposals",
    ),
    path("thresholds/preview/", thresholds.ThresholdPreview.as_view(), name="threshold_preview"),
    path("teams/", team.TeamList.as_view(), name="teams"),
    path("members/", team.MemberList.as_view(), name="members"),
    path("invitations/", team.InvitationList.as_view(), name="invitations"),
    path("invitations/<uuid:uid>/", team.InvitationDetail.as_view(), name="revoke_invitation"),
    path("tokens/", team.TokenList.as_view(), name="tokens"),
    path("tokens/<uuid:uid>/", team.TokenDetail.as_view(), name="revoke_token"),
    path("audit/", team.AuditList.as_view(), name="audit"),
    path("alerts/", alerts.AlertList.as_view(), name="alerts"),
    path(
        "alerts/<uuid:uid>/acknowledge/",
        alerts.AlertAcknowledgement.as_view(),
        name="acknowledge_alert",
    ),
    path("alerts/rules/", alerts.AlertRuleList.as_view(), name="alert_rules"),
    path(
        "alerts/rules/<uuid:uid>/secret/",
        alerts.AlertRuleSecret.as_view(),
        name="alert_rule_secret",
    ),
    path("alerts/rules/<uuid:uid>/", alerts.AlertRuleDetail.as_view(), name="alert_rule"),
]

urlpatterns = [
    path("v1/", include((v1, "api"))),
    path("schema/", lazy_views.schema, name="api_schema"),
    path("docs/", lazy_views.docs, name="api_docs"),
    re_path(r"^(?P<rest>.*)$", not_found),
]
