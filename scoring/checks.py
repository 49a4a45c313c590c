"""System checks that tell an administrator what is wrong before anybody meets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import connection


@register()
def installed_scorers_load(**_: Any) -> list[CheckMessage]:
    """A package's scorer that cannot be loaded would otherwise just be missing from the list."""
    from scoring.core.custom import load_installed

    hint = "Mend or uninstall the package; its scorers are left out until then."
    return [CheckWarning(text, hint=hint, id="evalsite.W001") for text in load_installed()]


@register()
def listed_hosts_are_hosts(**_: Any) -> list[CheckMessage]:
    """A misspelt entry would otherwise only show as a connection or webhook that is refused."""
    from scoring.core.llm.ssrf_guard import read_allowed_host

    messages: list[CheckMessage] = []
    for name in ("EVALSITE_MODEL_HOSTS", "EVALSITE_WEBHOOK_HOSTS"):
        for text in getattr(settings, name):
            try:
                read_allowed_host(text)
            except ValueError as fault:
                hint = (
                    "Name hosts like localhost:11434, models.lan or 10.1.0.0/16, without http://."
                )
                messages.append(Error(f"{name}: {fault}", hint=hint, id="evalsite.E001"))
    return messages


@register()
def proxies_are_counted(**_: Any) -> list[CheckMessage]:
    """Behind a proxy that is not counted all people have one address, and one limit of guesses."""
    if not settings.SECURE_PROXY_SSL_HEADER or settings.EVALSITE_TRUSTED_PROXIES:
        return []
    text = "EVALSITE_HTTPS is set, but EVALSITE_TRUSTED_PROXIES is 0."
    hint = (
        "Set it to the number of proxies in front of the site, each of which has to set "
        "X-Forwarded-For. Until then all people share one limit of sign-in attempts."
    )
    return [CheckWarning(text, hint=hint, id="evalsite.W002")]


@register(Tags.database)
def audit_triggers_exist(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A table that was rebuilt on SQLite has lost its triggers."""
    from scoring.models.team import audit_triggers

    if "default" not in (databases or ()):
        return []
    if audit_triggers.CHECKPOINT not in connection.introspection.table_names():
        return []  # not set up yet
    names = ", ".join(sorted(audit_triggers.missing_triggers(connection)))
    hint = "manage.py verify_audit --restore-triggers makes them again."
    text = f"Triggers that keep the audit log append-only are missing: {names}."
    return [CheckWarning(text, hint=hint, id="evalsite.W003")] if names else []
