"""The addresses of drift charts."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.drift import views as drift

urlpatterns = [
    path("datasets/<uuid:uid>/drift/", drift.dataset_drift, name="dataset_drift"),
    path("teams/<slug:slug>/drift/", drift.team_drift, name="team_drift"),
]
