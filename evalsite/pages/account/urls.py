"""The address at which the first person sets the site up."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.account import setup

urlpatterns = [
    path("setup/<str:token>/", setup.setup, name="setup"),
]
