"""Forms that detect changes by others since they were opened."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from django import forms

from evalsite.pages.web.fields import whole_number
from scoring.models import AuditEntry, User
from scoring.models.team.audit_entry import AuditQuerySet

SEEN: Final = "seen"
_AGAIN: Final = "What you typed is kept here. Save again to put it in place of that."


class ConcurrentEditForm(forms.Form):
    """A form for a row that others may change while it is open.

    Its field `seen` is the latest audit entry of the row when the form was opened. A later entry
    makes the form invalid once, with an error that describes the change.
    """

    _is_change_shown = False

    def audited(self) -> AuditQuerySet:
        """The audit entries of the row; none for a new one."""
        return AuditEntry.objects.none()

    @cached_property
    def _latest(self) -> AuditEntry | None:
        return self.audited().first()

    @property
    def seen(self) -> str:
        """The value of the hidden field: what was sent, until a later change is shown."""
        sent = None if self._is_change_shown else self.data.get(SEEN) or self.initial.get(SEEN)
        return str(sent or (self._latest.pk if self._latest else 0))

    def is_stale(self, by: User) -> bool:
        """Whether the row changed after the form was opened; the form then says so.

        To be asked in the transaction that saves, with the row locked.
        """
        seen = whole_number(str(self.data.get(SEEN, "")), max_digits=18)
        if seen is None or self._latest is None or self._latest.pk <= seen:
            return False
        self._is_change_shown = True
        self.add_error(None, f"{_describe_change(self._latest, by)} {_AGAIN}")
        return True


def _describe_change(entry: AuditEntry, by: User) -> str:
    is_own = entry.actor_id == str(by.pk)
    who = "You" if is_own else entry.actor_name if entry.actor_id else "Somebody"
    where = " in another window" if is_own else ""
    return f"{who} changed {entry.target_name}{where} after this form was opened."
