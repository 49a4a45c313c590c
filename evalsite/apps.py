"""The Django app of the pages and the API."""

from __future__ import annotations

import django_stubs_ext
from django.apps import AppConfig

django_stubs_ext.monkeypatch()  # lets forms and admin classes name their model's type


class SiteConfig(AppConfig):
    name = "evalsite"
    verbose_name = "Evalsite's pages"
