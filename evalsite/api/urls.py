"""The API's addresses, its schema and the pages that explain it."""

from __future__ import annotations

from django.urls import include, path, re_path

from evalsite.api.problems import nothing_here
from evalsite.api.views import docs, score, scorers

v1 = [
    path("score/", score.ScoreView.as_view(), name="score"),
    path("scorers/", scorers.ScorerList.as_view(), name="scorers"),
    path("scorers/<uuid:uid>/", scorers.ScorerDetail.as_view(), name="scorer"),
    path("suites/", scorers.SuiteList.as_view(), name="suites"),
    path("suites/<uuid:uid>/", scorers.SuiteDetail.as_view(), name="suite"),
]

urlpatterns = [
    path("v1/", include((v1, "api"))),
    path("schema/", docs.SchemaView.as_view(), name="api_schema"),
    path("docs/", docs.docs, name="api_docs"),
    re_path(r"^(?P<rest>.*)$", nothing_here),
]
