"""The addresses of the start page, the notices and the team."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.home import notices
from evalsite.pages.home import views as home

urlpatterns = [
    path("", home.home, name="home"),
    path("demo/", home.load_demo, name="load_demo"),
    path("notices/", notices.notices, name="notices"),
    path("notices/<uuid:uid>/read/", notices.read_notice, name="read_notice"),
    path("sample.csv", home.sample_file, name="sample"),
    path("teams/<slug:slug>/", home.team_home, name="team_home"),
    path("teams/<slug:slug>/search/", home.search, name="search"),
]
