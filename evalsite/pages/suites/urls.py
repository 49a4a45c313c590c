"""The addresses of suites."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.suites import decisions
from evalsite.pages.suites import views as suites

urlpatterns = [
    path("teams/<slug:slug>/suites/new/", suites.new_suite, name="new_suite"),
    path("teams/<slug:slug>/suites/import/", suites.import_suite, name="import_suite"),
    path("suites/<uuid:uid>/", suites.suite, name="suite"),
    path("suites/<uuid:uid>/export/", suites.export_suite, name="export_suite"),
    path("proposals/<uuid:uid>/decide/", decisions.decide_proposal, name="decide_proposal"),
    path("suites/<uuid:uid>/edit/", suites.edit_suite, name="edit_suite"),
]
