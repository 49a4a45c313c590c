"""A case that only one of two compared runs has: what its page says of the other."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from evalsite.pages.case_beside import partner_run
from evalsite.pages.compare_urls import compare_url
from scoring.engine.absence import absence
from scoring.models import Output, Run, User
from scoring.models.pair_rows import PairKind


class Absent(NamedTuple):
    """The run without the case, why it has none, and the list that the case was opened from."""

    run: Run
    text: str
    list_url: str


def absent_from(user: User, run: Run, output: Output, query: QueryDict) -> Absent | None:
    """What `absent` in the address asks for; None where it asks for nothing."""
    named = query.get("absent")
    if not named:
        return None
    candidate = partner_run(user, run, str(named))
    kind = urlencode({"kind": PairKind.ONLY_BASELINE.value})
    list_url = f"{compare_url(run.team, run, [candidate])}&{kind}#cases"
    return Absent(candidate, absence(candidate, output.case.key, output.trial), list_url)
