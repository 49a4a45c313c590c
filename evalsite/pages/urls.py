"""Every page's address, grouped by noun."""

from __future__ import annotations

from django.urls import path

from evalsite.pages import (
    baselines,
    compare,
    connections,
    datasets,
    drift,
    exports,
    generation,
    health,
    home,
    judges,
    notices,
    previews,
    reports,
    run_life,
    runs,
    saved_views,
    scorer_help,
    scorers,
    setup,
    suites,
    ticked,
    tryouts,
    uploads,
)

urlpatterns = [
    # Coming in
    path("healthz", health.healthz, name="healthz"),
    path("", home.home, name="home"),
    path("setup/<str:token>/", setup.setup, name="setup"),
    path("demo/", home.load_demo, name="load_demo"),
    path("notices/", notices.notices, name="notices"),
    path("notices/<uuid:uid>/read/", notices.read_notice, name="read_notice"),
    path("sample.csv", home.sample_file, name="sample"),
    # Team
    path("teams/<slug:slug>/", home.team_home, name="team_home"),
    path("teams/<slug:slug>/search/", home.search, name="search"),
    # Datasets
    path("teams/<slug:slug>/datasets/", datasets.datasets, name="datasets"),
    path("datasets/<uuid:uid>/", datasets.cases, name="dataset"),
    path("datasets/<uuid:uid>/versions/", datasets.versions, name="dataset_versions"),
    path(
        "datasets/<uuid:uid>/versions/<int:number>/export/",
        exports.export_version,
        name="export_version",
    ),
    path("outputs/<uuid:uid>/export/", exports.export_outputs, name="export_outputs"),
    path("datasets/<uuid:uid>/outputs/", datasets.output_sets, name="dataset_outputs"),
    path("datasets/<uuid:uid>/runs/", datasets.runs, name="dataset_runs"),
    path("datasets/<uuid:uid>/drift/", drift.dataset_drift, name="dataset_drift"),
    path("datasets/<uuid:uid>/cases/<int:position>/", datasets.case, name="dataset_case"),
    # Drift
    path("teams/<slug:slug>/drift/", drift.team_drift, name="team_drift"),
    # Uploads
    path("teams/<slug:slug>/datasets/upload/", uploads.new_upload, name="new_upload"),
    path("uploads/<uuid:uid>/", uploads.upload, name="upload"),
    path("uploads/<uuid:uid>/load/", uploads.load_upload, name="load_upload"),
    path("uploads/<uuid:uid>/cancel/", uploads.cancel_upload, name="cancel_upload"),
    # Runs
    path("teams/<slug:slug>/runs/", runs.runs, name="runs"),
    path("datasets/<uuid:uid>/runs/new/", runs.new_run, name="new_run"),
    path("datasets/<uuid:uid>/runs/generate/", generation.generate_run, name="generate_run"),
    path("prompts/<uuid:uid>/", generation.tried_prompt, name="tried_prompt"),
    path("datasets/<uuid:uid>/runs/starter/", runs.use_starter, name="use_starter"),
    path("runs/<uuid:uid>/", runs.run, name="run"),
    path("runs/<uuid:uid>/export/", exports.export_run, name="export_run"),
    path("runs/<uuid:uid>/cancel/", runs.cancel_run, name="cancel_run"),
    path("runs/<uuid:uid>/resume/", runs.resume_run, name="resume_run"),
    path("runs/<uuid:uid>/retry/", runs.retry_run, name="retry_run"),
    path("runs/<uuid:uid>/ticked/", ticked.ticked_cases, name="ticked_cases"),
    path("runs/<uuid:uid>/views/", saved_views.save_view, name="save_view"),
    path("runs/<uuid:uid>/views/<uuid:view>/remove/", saved_views.remove_view, name="remove_view"),
    path("runs/<uuid:uid>/edit/", run_life.edit_run, name="edit_run"),
    path("runs/<uuid:uid>/archive/", run_life.archive_run, name="archive_run"),
    path("runs/<uuid:uid>/unarchive/", run_life.unarchive_run, name="unarchive_run"),
    path("runs/<uuid:uid>/delete/", run_life.delete_run, name="delete_run"),
    path("runs/<uuid:uid>/restore/", run_life.restore_run, name="restore_run"),
    path("runs/<uuid:uid>/pin/", baselines.pin_run, name="pin_run"),
    path("runs/<uuid:uid>/unpin/", baselines.unpin_run, name="unpin_run"),
    path("runs/<uuid:uid>/report/", reports.run_report, name="run_report"),
    path("runs/<uuid:uid>/judges/<int:place>/", judges.judge, name="run_judge"),
    path("runs/<uuid:uid>/judges/<int:place>/check/", judges.check_noise, name="check_run_judge"),
    # Comparisons
    path("teams/<slug:slug>/compare/", compare.compare, name="compare"),
    path("teams/<slug:slug>/compare/report/", compare.compare_report, name="compare_report"),
    # Scorers and suites
    path("teams/<slug:slug>/scorers/", scorers.scorers, name="scorers"),
    path("teams/<slug:slug>/scorers/new/", scorers.choose_type, name="new_scorer_type"),
    path("teams/<slug:slug>/scorers/new/<str:type_name>/", scorers.new_scorer, name="new_scorer"),
    path("scorers/<uuid:uid>/", scorers.scorer, name="scorer"),
    path("scorers/<uuid:uid>/edit/", scorers.edit_scorer, name="edit_scorer"),
    path("tries/<uuid:uid>/", tryouts.tried, name="tried"),
    path("previews/<uuid:uid>/", previews.previewed, name="previewed"),
    path("teams/<slug:slug>/suites/new/", suites.new_suite, name="new_suite"),
    path("teams/<slug:slug>/suites/import/", suites.import_suite, name="import_suite"),
    path("suites/<uuid:uid>/", suites.suite, name="suite"),
    path("suites/<uuid:uid>/export/", suites.export_suite, name="export_suite"),
    path("suites/<uuid:uid>/edit/", suites.edit_suite, name="edit_suite"),
    # Help
    path("help/scorers/", scorer_help.scorer_types, name="scorer_types"),
    path("help/scorers/<str:type_name>/", scorer_help.scorer_help, name="scorer_help"),
    # Connections
    path("teams/<slug:slug>/connections/", connections.connections, name="connections"),
    path("teams/<slug:slug>/connections/new/", connections.new_connection, name="new_connection"),
    path("teams/<slug:slug>/connections/<uuid:uid>/", connections.connection, name="connection"),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/test/",
        connections.test_connection,
        name="test_connection",
    ),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/default/",
        connections.default_connection,
        name="default_connection",
    ),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/remove/",
        connections.remove_connection,
        name="remove_connection",
    ),
]
