"""The addresses of what watches over the site."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.operations import health, metrics, views

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operations/", views.operations, name="operations"),
]
