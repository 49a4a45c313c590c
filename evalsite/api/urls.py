"""The API's addresses, its schema and the pages that explain it."""

from __future__ import annotations

from django.urls import include, path, re_path

from evalsite.api.problems import nothing_here
from evalsite.api.views import (
    alerts,
    compare,
    datasets,
    docs,
    drift,
    exports,
    results,
    runs,
    said,
    score,
    scorers,
)

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
    path("runs/<uuid:uid>/results/", results.ResultList.as_view(), name="run_results"),
    path("runs/<uuid:uid>/export/", exports.ResultExport.as_view(), name="run_export"),
    path("reviews/", said.ReviewList.as_view(), name="reviews"),
    path("comments/", said.CommentList.as_view(), name="comments"),
    path("compare/", compare.Compare.as_view(), name="compare"),
    path("compare/cases/", compare.ComparedCases.as_view(), name="compare_cases"),
    path("drift/", drift.Drift.as_view(), name="drift"),
    path("scorers/", scorers.ScorerList.as_view(), name="scorers"),
    path("scorers/<uuid:uid>/", scorers.ScorerDetail.as_view(), name="scorer"),
    path("suites/", scorers.SuiteList.as_view(), name="suites"),
    path("suites/<uuid:uid>/", scorers.SuiteDetail.as_view(), name="suite"),
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
    path("schema/", docs.schema, name="api_schema"),
    path("docs/", docs.docs, name="api_docs"),
    re_path(r"^(?P<rest>.*)$", nothing_here),
]
