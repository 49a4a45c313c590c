"""The addresses of thresholds."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.thresholds import effects, proposals, relabels, suite_thresholds, views

urlpatterns = [
    path(
        "suites/<uuid:uid>/thresholds/", suite_thresholds.suite_thresholds, name="suite_thresholds"
    ),
    path(
        "suites/<uuid:uid>/thresholds/<uuid:scorer>/", views.suite_threshold, name="suite_threshold"
    ),
    path(
        "suites/<uuid:uid>/thresholds/<uuid:scorer>/relabel/",
        relabels.relabel_suite,
        name="relabel_suite",
    ),
    path("scorers/<uuid:uid>/threshold/", views.scorer_threshold, name="scorer_threshold"),
    path(
        "thresholds/proposals/<uuid:uid>/",
        proposals.decide_threshold_proposal,
        name="decide_threshold_proposal",
    ),
    path(
        "runs/<uuid:uid>/thresholds/effects/",
        effects.run_threshold_effects,
        name="run_threshold_effects",
    ),
    path("runs/<uuid:uid>/relabel/", relabels.relabel_run, name="relabel_run"),
    path("runs/<uuid:uid>/labels/remove/", relabels.remove_run_labels, name="remove_run_labels"),
]
