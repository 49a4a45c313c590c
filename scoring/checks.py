"""System checks that tell an administrator what is wrong before anybody meets it."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, register
from django.core.checks import Warning as CheckWarning


@register()
def installed_scorers_load(**_: Any) -> list[CheckMessage]:
    """A package's scorer that cannot be loaded would otherwise just be missing from the list."""
    from scoring.core.custom import load_installed

    hint = "Mend or uninstall the package; its scorers are left out until then."
    return [CheckWarning(text, hint=hint, id="evalsite.W001") for text in load_installed()]
