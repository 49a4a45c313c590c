"""A case that only the first of two compared runs has, on its page in that run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from django.http import QueryDict

from evalsite.pages.case.beside import Beside, partner_run
from scoring.engine.absence import absence
from scoring.models import Output, Run, User
from scoring.models.pair_rows import PairKind


@dataclass
class Absent(Beside):
    """Where the case stands among those that `run`, the candidate, lacks, and why it does."""

    NAMED: ClassVar[str] = "absent"

    @property
    def _page(self) -> Run:
        return self.baseline

    @cached_property
    def text(self) -> str:
        assert self.output is not None  # noqa: S101  whose page it is
        return absence(self.run, self.output.case.key, self.output.trial)


def absent_from(user: User, run: Run, output: Output, query: QueryDict) -> Absent | None:
    """What `absent` in the address asks for; None where it asks for nothing."""
    named = query.get("absent")
    if not named:
        return None
    asked = query.copy()
    asked["kind"] = PairKind.ONLY_BASELINE.value
    return Absent(run, partner_run(user, run, str(named)), output, asked)
