"""An errand that scores through models says how far it is, and stops once nobody wants it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db import OperationalError

from scoring.core.bound import BoundScorer
from scoring.core.contract import Case
from scoring.core.services import Answer, Heard, Provider, Question, Vectors, using
from scoring.engine.estimate import Estimate, Listener, asking_in, estimate_calls
from scoring.engine.services import TeamServices
from scoring.engine.stages import Progress, Stage, Stages
from scoring.models import Errand, Team

log = logging.getLogger(__name__)

TEXT_SECONDS: Final = 0.02  # to embed a text, at a guess
KEPT_SECONDS: Final = 0.001  # to look a kept reply up


class Ask(NamedTuple):
    """One call of the services that is to come: of how many replies or vectors."""

    doing: str
    total: int
    seconds: float


def ask_for(found: Estimate) -> Ask:
    """The call that asks what is estimated."""
    total = found.calls + found.cached
    return Ask("replies", total, found.seconds + total * KEPT_SECONDS)


class Rehearsal(Listener):
    """Services that note what they would be asked, and how long that takes."""

    def __init__(self, team: Team) -> None:
        super().__init__()
        self._team = team
        self.asks: list[Ask] = []

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.asks.append(ask_for(estimate_calls(self._team, questions)))
        return super().ask(questions)

    def embed(self, texts: Sequence[str], **_: object) -> Vectors:
        self.asks.append(Ask("texts embedded", len(texts), len(texts) * TEXT_SECONDS))
        return super().embed(texts)


def asks_of(team: Team, scorer: BoundScorer, cases: Sequence[Case]) -> list[Ask]:
    """What the scorer will ask for these cases, in its order; nobody is asked."""
    rehearsal = Rehearsal(team)
    with using(rehearsal):
        for part in asking_in(scorer):
            part.score(cases)
    return rehearsal.asks


class Telling:
    """The services of an errand's team. They tell the errand how far they are with the asks that
    were foreseen; one that was not is answered, too.
    """

    def __init__(self, errand: Errand, services: TeamServices, asks: Sequence[Ask]) -> None:
        self._errand, self._services = errand, services
        self._ahead = list(asks)
        stages = [Stage(each.doing, max(each.seconds, KEPT_SECONDS)) for each in asks]
        self._stages = Stages(iter(stages), self._tell, are_seconds=True)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return self._services.ask(questions, self._begun())

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        heard = self._begun()
        return self._services.embed(
            texts, provider=provider, model=model, connection=connection, heard=heard
        )

    def _begun(self) -> Heard | None:
        return self._stages.begin(self._ahead.pop(0).total) if self._ahead else None

    def _tell(self, progress: Progress) -> None:
        """That it cannot be written is no reason to give up what is paid for."""
        try:
            is_wanted = self._errand.tell(progress._asdict())
        except OperationalError as fault:
            log.warning("errand %s tells nothing: %s", self._errand.uuid, fault)
            return
        if not is_wanted:
            self._services.stop()
