"""Forms over what several people edit: nobody overwrites what they have not seen."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from django import forms

from scoring.models import AuditEntry, User
from scoring.models.audit import AuditQuerySet

SEEN: Final = "seen"
_AGAIN: Final = "What you typed is kept here. Save again to put it in place of that."


class SharedForm(forms.Form):
    """A form over a row that others may change while it is open.

    It sends along as `seen` up to which entry of the row's audit its person knows. What came later
    stops it once, and is told.
    """

    _is_told = False

    def audited(self) -> AuditQuerySet:
        """What was done to the row; nothing where there is none yet."""
        return AuditEntry.objects.none()

    @cached_property
    def _latest(self) -> AuditEntry | None:
        return self.audited().select_related("actor").first()

    @property
    def seen(self) -> str:
        """What is sent along: as it came, until what happened since is told."""
        sent = None if self._is_told else self.data.get(SEEN) or self.initial.get(SEEN)
        return str(sent or (self._latest.pk if self._latest else 0))

    def is_overtaken(self, by: User) -> bool:
        """Whether the row was changed after the form was opened, which is then told in it."""
        seen = str(self.data.get(SEEN, ""))
        is_read = seen.isascii() and seen.isdecimal() and len(seen) < 19
        if not is_read or self._latest is None or self._latest.pk <= int(seen):
            return False
        self._is_told = True
        self.add_error(None, f"{_told(self._latest, by)} {_AGAIN}")
        return True


def _told(entry: AuditEntry, by: User) -> str:
    who = "You" if entry.actor == by else entry.actor or "Somebody"
    where = " in another window" if entry.actor == by else ""
    return f"{who} changed {entry.target_name}{where} after this form was opened."
