"""The Django app that owns every row."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Evalsite"

    def ready(self) -> None:
        """Register the checks and the site's own scorers."""
        from scoring import checks  # noqa: F401
        from scoring.core.embeddings.model_folders import allow_folders

        allow_folders(settings.EVALSITE_MODEL_FOLDERS)

        if settings.EVALSITE_SCORERS:
            from scoring.core.contract import ConfigError
            from scoring.core.custom import load_custom

            try:
                load_custom(settings.EVALSITE_SCORERS)
            except ConfigError as fault:
                raise ImproperlyConfigured(str(fault)) from None
