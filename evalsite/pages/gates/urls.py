"""The address of a run's gates."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.gates import views

urlpatterns = [path("runs/<uuid:uid>/gate/", views.run_gate, name="run_gate")]
