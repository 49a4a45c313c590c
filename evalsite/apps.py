"""The Django app of the pages and the API."""

from __future__ import annotations

import django_stubs_ext
from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import post_delete, post_save

django_stubs_ext.monkeypatch()  # lets forms and admin classes name their model's type


class SiteConfig(AppConfig):
    name = "evalsite"
    verbose_name = "Evalsite's pages"

    def ready(self) -> None:
        """Audit the ways to sign in, and list every session that begins."""
        from allauth.mfa.models import Authenticator
        from allauth.socialaccount.models import SocialAccount

        from evalsite.pages.account.signals import (
            record_added,
            record_disconnected,
            record_removed,
            remember_session,
        )

        post_save.connect(record_added, sender=Authenticator)
        post_delete.connect(record_removed, sender=Authenticator)
        post_delete.connect(record_disconnected, sender=SocialAccount)
        user_logged_in.connect(remember_session)
