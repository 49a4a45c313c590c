"""A scorer's config on some cases of a past run, before it is saved.

What computes goes through the helper process of `tryout`; what asks a model or needs vectors is an
errand of the worker. Nothing of it is stored with the run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce, Left, Length

from scoring.core.bound import bind, settled
from scoring.core.contract import ConfigError, Json, Result, ServiceError
from scoring.core.services import using
from scoring.engine import estimate, tryout
from scoring.engine.execute import cases_of
from scoring.engine.probe import ErrandProblem
from scoring.models import (
    AuditEntry,
    CallPurpose,
    Connection,
    Errand,
    ErrandKind,
    Output,
    Run,
    RunScorer,
    Score,
    Scorer,
    Status,
    Team,
    User,
)
from scoring.models.case_table import OPENING

SIZE: Final = 50
NEAR: Final = 25  # of them at most are chosen for lying near the threshold
MAX_CHARS: Final = 200_000  # of one case's texts together
FEW: Final = 2_000  # outputs whose ids are simply all read


class Config(NamedTuple):
    """A scorer that need not be saved."""

    type: str
    config: Mapping[str, Json]
    threshold: float


class Told(NamedTuple):
    """What a preview says of an output but its scores."""

    position: int
    trial: int
    key: str
    opening: str


_TOLD: Final = ("case__position", "trial", "case__key", "opening")


class Sample(NamedTuple):
    """Output ids in the dataset's order; `near` of them lie nearest to the threshold.

    `left_out` were chosen and are too long to be scored while one waits. `told` is None where it
    has yet to be read.
    """

    outputs: Sequence[int]
    near: int = 0
    left_out: int = 0
    told: Mapping[int, Told] | None = None


class Row(NamedTuple):
    """One case, before and after; `before` is None where there is nothing to compare with."""

    position: int
    trial: int
    key: str
    output: str  # its opening
    before: Result | None
    after: Result

    @property
    def is_flipped(self) -> bool:
        return self.before is not None and _word(self.before) != _word(self.after)

    @property
    def is_changed(self) -> bool:
        return self.before is not None and self.before.score != self.after.score

    @property
    def words(self) -> tuple[str, str]:
        """The verdicts, or the statuses where there is none."""
        return _word(self.before) if self.before else "", _word(self.after)


def _word(result: Result) -> str:
    return result.verdict or result.status


def held_in(run: Run, scorer: Scorer | None) -> RunScorer | None:
    """What the run has of this scorer, in whichever version."""
    if scorer is None:
        return None
    mine = run.scorers.filter(version__scorer=scorer)
    return mine.select_related("version").order_by("-version__number").first()


def sample_of(run: Run, held: RunScorer | None) -> Sample:
    """Up to SIZE cases of the run, always the same: some near the threshold, others at random."""
    near = _nearest(held) if held else []
    wanted = list(dict.fromkeys([*near, *_at_random(run, SIZE + NEAR)]))[:SIZE]
    known = _looked_at(wanted)
    kept = {output: told for output, (chars, told) in known.items() if chars <= MAX_CHARS}
    return Sample(list(kept), len(kept.keys() & set(near)), len(known) - len(kept), kept)


def _nearest(held: RunScorer) -> list[int]:
    """Outputs whose scores are next to the threshold, as many from either side as there are."""
    scores = Score.objects.filter(scorer=held, status=Status.SCORED, code="")
    above = scores.filter(score__gte=held.threshold).order_by("score", "output")
    below = scores.filter(score__lt=held.threshold).order_by("-score", "output")
    left, right = (list(side.values_list("output", flat=True)[:NEAR]) for side in (above, below))
    half = NEAR // 2
    return [*left[: NEAR - min(half, len(right))], *right[: max(half, NEAR - len(left))]]


def _at_random(run: Run, count: int) -> list[int]:
    """Outputs of the run that hold a text, in a random order that stays the same."""
    mine = Output.objects.filter(output_set=run.output_set_id)
    dice = random.Random(run.pk)  # noqa: S311  a sample, not a secret
    if run.output_set.output_count <= FEW:
        ids = list(mine.exclude(text=None).order_by("pk").values_list("pk", flat=True)[:FEW])
        return dice.sample(ids, min(count, len(ids)))
    version = run.output_set.version
    drawn = dice.sample(range(1, version.case_count + 1), min(2 * count, version.case_count))
    # Not joined, lest a database joins the whole set to its cases first.
    cases = version.cases.filter(position__in=drawn).order_by().values("pk")
    there = mine.filter(case__in=cases).exclude(text=None).order_by("pk")
    ids = list(there.values_list("pk", flat=True))
    return dice.sample(ids, min(count, len(ids)))


def _looked_at(outputs: Sequence[int]) -> dict[int, tuple[int, Told]]:
    """How long each output is with its case, and what is told of it, in the dataset's order."""
    case = ("input", "expected", "references", "metadata")
    chars: Any = Coalesce(Length("text"), 0)
    for name in case:
        chars += Coalesce(Length(f"case__{name}_json"), 0)
    found = Output.objects.filter(pk__in=outputs).order_by("case__position", "trial")
    found = found.annotate(chars=chars, opening=Left("text", OPENING))
    rows = found.values_list("pk", "chars", *_TOLD)
    return {pk: (length, Told(*told)) for pk, length, *told in rows}


def scored_now(wanted: Config, outputs: Sequence[int]) -> list[Result]:
    """Scored by the helper process. Raises ConfigError, ServiceError."""
    return tryout.score(wanted.type, wanted.config, wanted.threshold, cases_of(outputs))


def scored_then(held: RunScorer, outputs: Sequence[int]) -> list[Result | None]:
    """What the run says of them."""
    found = {row.output_id: row.result for row in held.scores.filter(output__in=outputs)}
    return [found.get(output) for output in outputs]


def rows(sample: Sample, before: Sequence[Result | None], after: Sequence[Result]) -> list[Row]:
    """Those that flip first, then those whose score changes, each in the dataset's order."""
    told = sample.told
    if told is None:
        told = {output: each for output, (_, each) in _looked_at(sample.outputs).items()}
    made = [
        Row(*told[output], old, new)
        for output, old, new in zip(sample.outputs, before, after, strict=True)
        if output in told
    ]
    return sorted(made, key=lambda row: (not row.is_flipped, not row.is_changed))


def foreseen(team: Team, wanted: Config, outputs: Sequence[int]) -> estimate.Estimate:
    """What the judges inside will ask and cost. Raises ConfigError."""
    ready = settled(bind(*wanted), Connection.objects.available_to(team))
    judges = list(estimate.judges_in(ready))
    if not judges:
        return estimate.Estimate()
    return estimate.estimate_calls(team, estimate.questions_of(judges, cases_of(outputs)))


def ask(wanted: Config, run: Run, held: RunScorer | None, sample: Sample, by: User) -> Errand:
    """Leave it to the worker; it may cost money, so it is written down who wanted it."""
    from scoring.engine import errands

    asked = wanted._asdict() | {
        "run": str(run.uuid),
        "held": held.pk if held else None,
        "outputs": list(sample.outputs),
        "near": sample.near,
        "left_out": sample.left_out,
    }
    with transaction.atomic():
        new = {"type": wanted.type, "config": wanted.config, "cases": len(sample.outputs)}
        AuditEntry.objects.record(run.team, by, "scorer.previewed", run, new=errands.keepable(new))
        return errands.ask(ErrandKind.PREVIEW_SCORER, run.team, by, asked)


def previewed(errand: Errand) -> dict[str, Any]:
    """From {type, config, threshold, run, outputs} to {results}, each as a Result without metadata
    but its code. Until then its answer is how far it is, the fields of `Progress`.
    """
    from scoring.engine.services import TeamServices
    from scoring.engine.telling import Telling, asks_of

    asked = errand.request
    if len(outputs_of(errand)) < len(asked["outputs"]):
        raise ErrandProblem("the run is no longer there")
    try:
        ready = bind(asked["type"], asked["config"], asked["threshold"])
        ready = settled(ready, Connection.objects.available_to(errand.team))
        cases = cases_of(asked["outputs"])
        services = TeamServices(errand.team, purpose=CallPurpose.TRY)
        with using(Telling(errand, services, asks_of(errand.team, ready, cases))):
            results = ready.score(cases)
    except ConfigError as fault:
        raise ErrandProblem(str(fault)) from None
    except ServiceError as fault:
        raise ErrandProblem(fault.text) from None
    return {"results": [[*result[:4], result.code] for result in results]}


def outputs_of(errand: Errand) -> set[int]:
    """The errand's outputs that are still there, in a run of its own team."""
    run = UUID(errand.request["run"])
    mine = Output.objects.filter(output_set__runs__uuid=run, output_set__runs__team=errand.team)
    return set(mine.filter(pk__in=errand.request["outputs"]).values_list("pk", flat=True))


def answered(errand: Errand) -> list[Result]:
    """The results of an errand that is done, in the order of its outputs."""
    return [
        Result(status, score, verdict, reason, {"code": code} if code else {})
        for status, score, verdict, reason, code in errand.answer["results"]
    ]
