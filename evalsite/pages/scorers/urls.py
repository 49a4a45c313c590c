"""The addresses of scorers, their previews and their help."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.scorers import help as scorer_help
from evalsite.pages.scorers import json_extraction, previews, tryouts
from evalsite.pages.scorers import views as scorers

urlpatterns = [
    path("teams/<slug:slug>/scorers/", scorers.scorers, name="scorers"),
    path("teams/<slug:slug>/scorers/new/", scorers.choose_type, name="new_scorer_type"),
    path("teams/<slug:slug>/scorers/new/<str:type_name>/", scorers.new_scorer, name="new_scorer"),
    path("scorers/<uuid:uid>/", scorers.scorer, name="scorer"),
    path("scorers/<uuid:uid>/edit/", scorers.edit_scorer, name="edit_scorer"),
    path(
        "scorers/<uuid:uid>/extract-json/",
        json_extraction.extract_scorer_json,
        name="extract_scorer_json",
    ),
    path("tries/<uuid:uid>/", tryouts.tryout_result, name="tried"),
    path("previews/<uuid:uid>/", previews.preview_result, name="previewed"),
    path("help/scorers/", scorer_help.scorer_types, name="scorer_types"),
    path("help/scorers/<str:type_name>/", scorer_help.scorer_help, name="scorer_help"),
]
