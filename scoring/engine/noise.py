"""A/A checks: a judge asked again about unchanged outputs, to learn how much it wavers.

Both answers are about the same output, so all that differs between them is the judge. The second
ones are new replies of the model, never kept ones; the run's own scores stay as they are.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from scoring.core.contract import Result, ServiceError
from scoring.core.services import Answer, Provider, Question, Services, Vectors, using
from scoring.core.stats import t_quantile
from scoring.engine.estimate import Estimate, Listener, estimate_calls
from scoring.engine.execute import cases_of, ready
from scoring.engine.probe import ErrandProblem
from scoring.engine.services import TeamServices
from scoring.engine.telling import Telling, ask_for
from scoring.models import (
    CallPurpose,
    Errand,
    ErrandKind,
    JudgeNoise,
    RunScorer,
    Score,
    User,
    Verdict,
)

SAMPLE: Final = 50
MIN_SAMPLE: Final = 2  # one difference has no deviation
MAX_SAMPLE: Final = 500


class TooFewError(Exception):
    """Fewer than MIN_SAMPLE outputs were scored both times; the text says why."""


@dataclass(frozen=True)
class Fresh:
    """Services that answer every question of one check with a reply of its own.

    A check that was broken off goes on with the replies it has paid for.
    """

    services: Services
    check: str

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return self.services.ask([replace(each, scope=self.check) for each in questions])

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        return self.services.embed(texts, provider=provider, model=model, connection=connection)


class Pair(NamedTuple):
    """The first and the second score of one output."""

    first: float
    second: float
    is_flipped: bool  # the verdict is another one


def check_noise(
    scorer: RunScorer, services: Services, *, sample: int = SAMPLE, by: User | None = None
) -> JudgeNoise:
    """Score a seeded sample of the run's scored outputs again and keep the differences.

    Each check of a judge takes another sample. Raises TooFewError when too few of the
    outputs have two scores, and ServiceError; then nothing is kept but the paid replies.
    """
    check = _next_check(scorer)
    first = _sampled(scorer, sample, check)
    with using(Fresh(services, check)):
        second = ready(scorer).score(cases_of(list(first)))
    pairs = _pairs(first, second)
    if len(pairs) < MIN_SAMPLE:
        raise TooFewError(_too_few(len(pairs), second))
    return JudgeNoise.objects.create(
        run=scorer.run,
        version=scorer.version,
        asked_by=by,
        errors=len(second) - len(pairs),
        pairs=[[pair.first, pair.second] for pair in pairs],
        **figures(pairs),
    )


def estimate_check(scorer: RunScorer, sample: int = SAMPLE) -> Estimate:
    """What the next check of so many outputs asks and costs."""
    check, listener = _next_check(scorer), Listener()
    with using(Fresh(listener, check)):
        ready(scorer).score(cases_of(list(_sampled(scorer, sample, check))))
    return estimate_calls(scorer.run.team, listener.questions)


def checked_noise(errand: Errand) -> dict[str, Any]:
    """The errand's way to it: from {run: uuid, place, sample} to {check: uuid}.

    Until then its answer is how far it is, the fields of `Progress`.
    """
    asked = errand.request
    scorers = RunScorer.objects.filter(run__team=errand.team, run__uuid=UUID(asked["run"]))
    found = scorers.filter(position=asked["place"]).select_related("run__team", "version").first()
    if found is None:
        raise ErrandProblem("the run is no longer there")
    foreseen = ask_for(estimate_check(found, asked["sample"]))
    services = Telling(errand, TeamServices(errand.team, purpose=CallPurpose.TRY), [foreseen])
    try:
        check = check_noise(found, services, sample=asked["sample"], by=errand.asked_by)
    except TooFewError as fault:
        raise ErrandProblem(str(fault)) from None
    except ServiceError as fault:
        raise ErrandProblem(fault.text) from None
    return {"check": str(check.uuid)}


def latest_errand(scorer: RunScorer) -> Errand | None:
    """The last check that was asked for of this judge, while it is remembered."""
    asked = Errand.objects.filter(team=scorer.run.team_id, kind=ErrandKind.CHECK_NOISE)
    mine = asked.filter(request__run=str(scorer.run.uuid), request__place=scorer.position)
    return mine.order_by("pk").last()


def scored_count(scorer: RunScorer) -> int:
    """How many outputs of the run a check can choose from."""
    return _scored(scorer).count()


def figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The fields of JudgeNoise that follow from at least two pairs."""
    differences = [pair.second - pair.first for pair in pairs]
    n = len(differences)
    deviation = stdev(differences)
    return {
        "n": n,
        "flips": sum(pair.is_flipped for pair in pairs),
        "mean_difference": fmean(differences),
        "deviation": deviation,
        "band": t_quantile(n - 1) * deviation / sqrt(n),
    }


def _next_check(scorer: RunScorer) -> str:
    """A name that no other check has: checks are deleted with their run alone."""
    earlier = JudgeNoise.objects.filter(run=scorer.run_id, version=scorer.version_id).count()
    return f"check {earlier + 1} of {scorer.run.uuid} by {scorer.version_id}"


def _scored(scorer: RunScorer) -> QuerySet[Score]:
    return Score.objects.filter(scorer=scorer, score__isnull=False, code="")


def _sampled(scorer: RunScorer, size: int, seed: str) -> dict[int, tuple[float, int]]:
    """Score and verdict by output id, in the order of the ids."""
    scored = _scored(scorer)
    ids = list(scored.order_by("output").values_list("output", flat=True))
    chosen = random.Random(seed).sample(ids, min(size, MAX_SAMPLE, len(ids)))  # noqa: S311
    rows = scored.filter(output__in=chosen).order_by("output")
    return {row.output_id: (row.score or 0.0, row.verdict or 0) for row in rows}


def _pairs(first: dict[int, tuple[float, int]], second: Sequence[Result]) -> list[Pair]:
    return [
        Pair(score, again.score, Verdict(verdict).label != again.verdict)
        for (score, verdict), again in zip(first.values(), second, strict=True)
        if again.score is not None
    ]


def _too_few(scored: int, second: Sequence[Result]) -> str:
    causes = Counter(result.code for result in second if result.score is None)
    told = ", ".join(f"{code} {number}" for code, number in causes.most_common())
    text = f"{scored} of {len(second)} outputs could be scored again, and it takes {MIN_SAMPLE}"
    return f"{text}: {told}" if told else text
