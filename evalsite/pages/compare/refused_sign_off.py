"""A sign-off that was refused, as the page shows it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from evalsite.pages.compare.waiver_form import WaiverForm
from evalsite.pages.web.responses import SignedInRequest


@dataclass(frozen=True)
class RefusedSignOff:
    """What was sent: the waiver, the places of the ticked cases, and the note."""

    waiver: WaiverForm
    status: int
    places: frozenset[str] = frozenset()
    note: str = ""

    @classmethod
    def of(cls, request: SignedInRequest, waiver: WaiverForm, status: int) -> Self:
        places = frozenset(request.POST.getlist("place"))
        return cls(waiver, status, places, request.POST.get("note", ""))
