"""The addresses of runs and of what is done to them."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.runs import (
    baselines,
    bulk_actions,
    exports,
    lifecycle,
    missing_outputs,
    saved_views,
)
from evalsite.pages.runs import views as runs
from evalsite.pages.runs.generation import views as generation

urlpatterns = [
    path("teams/<slug:slug>/runs/", runs.runs, name="runs"),
    path("datasets/<uuid:uid>/runs/new/", runs.new_run, name="new_run"),
    path("datasets/<uuid:uid>/runs/generate/", generation.generate_run, name="generate_run"),
    path("prompts/<uuid:uid>/", generation.prompt_tryout, name="tried_prompt"),
    path("datasets/<uuid:uid>/runs/starter/", runs.use_suggested_suite, name="use_starter"),
    path("runs/<uuid:uid>/", runs.run, name="run"),
    path(
        "runs/<uuid:uid>/missing-outputs/",
        missing_outputs.missing_outputs,
        name="run_missing_outputs",
    ),
    path("runs/<uuid:uid>/export/", exports.export_run, name="export_run"),
    path("runs/<uuid:uid>/cancel/", runs.cancel_run, name="cancel_run"),
    path("runs/<uuid:uid>/resume/", runs.resume_run, name="resume_run"),
    path("runs/<uuid:uid>/retry/", runs.retry_run, name="retry_run"),
    path("runs/<uuid:uid>/ticked/", bulk_actions.apply_bulk_action, name="ticked_cases"),
    path("runs/<uuid:uid>/views/", saved_views.save_view, name="save_view"),
    path("runs/<uuid:uid>/views/<uuid:view>/remove/", saved_views.remove_view, name="remove_view"),
    path("runs/<uuid:uid>/edit/", lifecycle.edit_run, name="edit_run"),
    path("runs/<uuid:uid>/archive/", lifecycle.archive_run, name="archive_run"),
    path("runs/<uuid:uid>/unarchive/", lifecycle.unarchive_run, name="unarchive_run"),
    path("runs/<uuid:uid>/delete/", lifecycle.delete_run, name="delete_run"),
    path("runs/<uuid:uid>/restore/", lifecycle.restore_run, name="restore_run"),
    path("runs/<uuid:uid>/pin/", baselines.pin_run, name="pin_run"),
    path("runs/<uuid:uid>/unpin/", baselines.unpin_run, name="unpin_run"),
    path("runs/<uuid:uid>/report/", exports.run_report, name="run_report"),
]
