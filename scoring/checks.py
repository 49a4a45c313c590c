"""System checks that tell an administrator what is wrong before anybody meets it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.checks import Warning as CheckWarning


@register()
def installed_scorers_load(**_: Any) -> list[CheckMessage]:
    """A package's scorer that cannot be loaded would otherwise just be missing from the list."""
    from scoring.core.custom import load_installed

    hint = "Mend or uninstall the package; its scorers are left out until then."
    return [CheckWarning(text, hint=hint, id="evalsite.W001") for text in load_installed()]


@register()
def listed_hosts_are_hosts(**_: Any) -> list[CheckMessage]:
    """A misspelt entry would otherwise only show as a connection or webhook that is refused."""
    from scoring.core.judge.guard import read_entry

    messages: list[CheckMessage] = []
    for name in ("EVALSITE_MODEL_HOSTS", "EVALSITE_WEBHOOK_HOSTS"):
        for text in getattr(settings, name):
            try:
                read_entry(text)
            except ValueError as fault:
                hint = (
                    "Name hosts like localhost:11434, models.lan or 10.1.0.0/16, without http://."
                )
                messages.append(Error(f"{name}: {fault}", hint=hint, id="evalsite.E001"))
    return messages
