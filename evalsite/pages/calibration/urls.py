"""The addresses of calibrations: of a run, of a scorer in it, and the check of a judge's noise."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.calibration import views

urlpatterns = [
    path("runs/<uuid:uid>/calibration/", views.run_calibration, name="run_calibration"),
    path(
        "runs/<uuid:uid>/scorers/<int:place>/calibration/",
        views.scorer_calibration,
        name="run_scorer_calibration",
    ),
    path("runs/<uuid:uid>/scorers/<int:place>/stamp/", views.stamp_scorer, name="stamp_run_scorer"),
    path(
        "runs/<uuid:uid>/scorers/<int:place>/check/", views.check_variance, name="check_run_scorer"
    ),
]
