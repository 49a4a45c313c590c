"""Judge quality: a judge of a run beside people's labels, in both orders, and beside itself."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.forms.judges import NoiseForm, QualityForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import posting, reading
from evalsite.pages.underway import Underway, underway_of
from scoring.core.agreement import Agreement, PlaceBias
from scoring.core.stats import Estimate, rate_estimate
from scoring.engine import noise
from scoring.engine.estimate import Estimate as Foreseen
from scoring.engine.judge_quality import METADATA, Judge, JudgeQuality, is_judge
from scoring.models import Errand, JudgeNoise, Role, RunScorer

MAX_SIDE: Final = 12  # labels of a matrix that is still read
NAMES: Final = ("first", "second")


class Cell(NamedTuple):
    label: str  # the person's
    number: int
    is_agreed: bool


class Row(NamedTuple):
    label: str  # the judge's
    cells: Sequence[Cell]
    total: int


class Pull(NamedTuple):
    """In how many pairs a place was chosen in both orders; `name` is "" where no two places are."""

    label: str
    name: str
    number: int


class Quality:
    """A judge beside people, ready to be set."""

    def __init__(self, judge: Judge, form: QualityForm) -> None:
        self._judge, self.form = judge, form

    @cached_property
    def found(self) -> JudgeQuality | None:
        return self.form.quality()

    @property
    def is_metadata(self) -> bool:
        return str(self.form["label"].value()).startswith(METADATA)

    @property
    def is_swap_unclear(self) -> bool:
        """Whether another run was chosen that says nothing, as the choices are no places."""
        return bool(self.form["swapped"].value()) and not self._judge.turned

    @property
    def labels(self) -> list[str]:
        """Those that occur, the judge's choices first and in its own order."""
        occurring = self.found.agreement.labels if self.found else ()
        own = [label for label in self._judge.choices if label in occurring]
        return own + [label for label in occurring if label not in own]

    def matrix(self) -> list[Row]:
        """What the judge said, by what people said; empty where it would be too large."""
        labels = self.labels
        if self.found is None or len(labels) > MAX_SIDE:
            return []
        return [_row(label, labels, self.found.agreement) for label in labels]

    def pulls(self) -> Iterator[Pull]:
        """Each choice that stands for a place, with how often it was chosen in both orders."""
        other = self.found.in_other_order if self.found else None
        bias = other.bias if other else PlaceBias({}, 0)
        places = [label for label, turned in self._judge.turned.items() if turned != label]
        names = NAMES if len(places) == len(NAMES) else [""] * len(places)
        for label, name in zip(places, names, strict=True):
            yield Pull(label, name, bias.same_place.get(label, 0))


@dataclass(frozen=True)
class Noise:
    """A judge beside itself: its last A/A check, one under way, and the form for the next."""

    scorer: RunScorer
    may_edit: bool

    @cached_property
    def errand(self) -> Errand | None:
        """What was asked of the worker last, within a day."""
        return noise.latest_errand(self.scorer)

    @cached_property
    def underway(self) -> Underway | None:
        """None where nothing is waited for."""
        return underway_of(self.errand)

    @cached_property
    def check(self) -> JudgeNoise | None:
        """The newest check of this version, of whatever run."""
        return JudgeNoise.objects.latest_for(self.scorer.version)

    @property
    def band_here(self) -> float | None:
        """The band for two runs over as many outputs as this run has scored."""
        return self.check.band_for(self.scored) if self.check else None

    @property
    def flips(self) -> Estimate | None:
        return rate_estimate(self.check.flips, self.check.n) if self.check else None

    @cached_property
    def scored(self) -> int:
        return noise.scored_count(self.scorer)

    @property
    def is_possible(self) -> bool:
        return not self.scorer.run.is_unfinished and self.scored >= noise.MIN_SAMPLE

    @cached_property
    def form(self) -> NoiseForm | None:
        """With what each choice will cost; None where nothing can be asked now."""
        if not self.may_edit or self.underway or not self.is_possible:
            return None
        return NoiseForm(scorer=self.scorer, scored=self.scored, estimate=self.estimate)

    @cached_property
    def estimate(self) -> Foreseen:
        """Of a check of the usual size; its `problems` say why there can be none."""
        return noise.estimate_check(self.scorer)


@reading
def judge(request: SignedInRequest, uid: uuid.UUID, place: int) -> HttpResponse:
    """A judge's agreement with people, its pull towards a place, and its noise."""
    scorer = access.run_scorer_for(request.user, uid, place)
    context: dict[str, Any] = {"team": scorer.run.team, "run": scorer.run, "scorer": scorer}
    if not is_judge(scorer):
        return show(request, "judge/none.html", context)
    may_edit = access.may(request.user, scorer.run.team, Role.EDITOR)
    context |= {"noise": Noise(scorer, may_edit), "quality": _quality(scorer, request.GET)}
    return show(request, "judge/page.html", context, parts=["noise"])


@posting
def check_noise(request: SignedInRequest, uid: uuid.UUID, place: int) -> HttpResponse:
    """Ask the worker to judge some of the outputs again."""
    scorer = access.run_scorer_for(request.user, uid, place, Role.EDITOR)
    panel = Noise(scorer, may_edit=True)
    if not is_judge(scorer) or not panel.is_possible:
        messages.info(request, "There is nothing a judge could be asked about again.")
    elif panel.underway:
        messages.info(request, "A check of this judge is under way already.")
    else:
        form = NoiseForm(request.POST, scorer=scorer, scored=panel.scored)
        if form.is_valid():
            form.save(request.user)
        else:
            messages.error(request, "Not checked: choose one of the sample sizes.")
    return redirect("run_judge", uid, place)


def _quality(scorer: RunScorer, query: QueryDict) -> Quality:
    is_asked = "label" in query or "swapped" in query
    return Quality(Judge(scorer), QualityForm(query if is_asked else None, scorer=scorer))


def _row(label: str, labels: Sequence[str], found: Agreement) -> Row:
    counts: Any = found.counts
    cells = [Cell(other, counts[label, other], label == other) for other in labels]
    return Row(label, cells, sum(cell.number for cell in cells))
