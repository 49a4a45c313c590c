"""The addresses of comparisons."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.compare import sign_off, views

urlpatterns = [
    path("teams/<slug:slug>/compare/", views.compare, name="compare"),
    path("teams/<slug:slug>/compare/report/", views.compare_report, name="compare_report"),
    path("runs/<uuid:uid>/sign-off/", sign_off.sign_off_cases, name="sign_off_cases"),
]
