"""Calibration: scorers against people's reviews, and what else there is to know of judges."""

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
from evalsite.pages.calibration.figures import calibration_figures, left_out_counts
from evalsite.pages.calibration.forms import QualityForm, StampForm, VarianceForm
from evalsite.pages.thresholds.run_thresholds import RunThresholds
from evalsite.pages.web.decorators import get_page, post_action
from evalsite.pages.web.job_status import JobStatus, open_job_status
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.stats.agreement import PositionBias
from scoring.core.stats.descriptive import Estimate, rate_estimate
from scoring.engine.calibration.gate_fitness import find_stamps, give_stamp, measure_fitness
from scoring.engine.calibration.people import people_agreement
from scoring.engine.calibration.scorers import calibrate_run
from scoring.engine.estimates.scoring_estimate import CostEstimate
from scoring.engine.judges import variance
from scoring.engine.judges.quality import METADATA, Judge, JudgeQuality, is_judge
from scoring.models import Job, JudgeVariance, Review, Role, RunScorer

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


class BiasFigure(NamedTuple):
    """In how many pairs a position was chosen in both orders; `name` is "" unless there are two."""

    label: str
    name: str
    number: int


class QualityPanel:
    """The agreement of a judge with people's labels."""

    def __init__(self, judge: Judge, form: QualityForm) -> None:
        self._judge, self.form = judge, form

    @cached_property
    def figures(self) -> JudgeQuality | None:
        return self.form.quality()

    @property
    def is_metadata(self) -> bool:
        return str(self.form["label"].value()).startswith(METADATA)

    @property
    def is_swap_unclear(self) -> bool:
        """Whether the chosen run cannot be used: the labels do not stand for positions."""
        return bool(self.form["swapped"].value()) and not self._judge.turned

    @property
    def labels(self) -> list[str]:
        """The labels that occur, the judge's choices first and in its own order."""
        occurring = self.figures.agreement.labels if self.figures else ()
        own = [label for label in self._judge.choices if label in occurring]
        return list(dict.fromkeys([*own, *occurring]))

    def matrix(self) -> list[Row]:
        """The judge's labels by people's labels; empty if too large."""
        labels = self.labels
        if self.figures is None or len(labels) > MAX_SIDE:
            return []
        counts: Any = self.figures.agreement.counts
        return [
            Row(
                label,
                [Cell(other, counts[label, other], label == other) for other in labels],
                sum(counts[label, other] for other in labels),
            )
            for label in labels
        ]

    def order_biases(self) -> Iterator[BiasFigure]:
        """Each choice that stands for a position, with how often it was chosen in both orders."""
        other = self.figures.in_other_order if self.figures else None
        bias = other.bias if other else PositionBias({}, 0)
        places = [label for label, turned in self._judge.turned.items() if turned != label]
        names = NAMES if len(places) == len(NAMES) else [""] * len(places)
        for label, name in zip(places, names, strict=True):
            yield BiasFigure(label, name, bias.same_place.get(label, 0))


@dataclass(frozen=True)
class VariancePanel:
    """The noise of a judge: the last A/A check, an open one, and the form for the next."""

    scorer: RunScorer
    may_edit: bool

    @cached_property
    def job(self) -> Job | None:
        """The latest check within a day."""
        return variance.latest_job(self.scorer)

    @cached_property
    def job_status(self) -> JobStatus | None:
        """The progress of the latest check; None unless it is open."""
        return open_job_status(self.job)

    @cached_property
    def check(self) -> JudgeVariance | None:
        """The newest check of this version of the judge, on any run."""
        return JudgeVariance.objects.latest_for(self.scorer.version)

    @property
    def band_here(self) -> float | None:
        """The band for two runs over as many outputs as this run has scored."""
        return self.check.band_for(self.scored) if self.check else None

    @property
    def flips(self) -> Estimate | None:
        return rate_estimate(self.check.flips, self.check.n) if self.check else None

    @cached_property
    def scored(self) -> int:
        return variance.scored_count(self.scorer)

    @property
    def is_possible(self) -> bool:
        return not self.scorer.run.is_unfinished and self.scored >= variance.MIN_SAMPLE

    @cached_property
    def form(self) -> VarianceForm | None:
        """The sample sizes with their estimated costs; None if no check can be started."""
        if not self.may_edit or self.job_status or not self.is_possible:
            return None
        return VarianceForm(scorer=self.scorer, scored=self.scored, estimate=self.estimate)

    @cached_property
    def estimate(self) -> CostEstimate:
        """The estimate of a check of the usual size; its `problems` say why it would fail."""
        return variance.estimate_variance(self.scorer)


@get_page
def run_calibration(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The scorers of a run against people's reviews, and people against each other."""
    opened = access.run_access_for(request.user, uid)
    run = opened.run
    scorers = run.read_scorers()
    calibration = calibrate_run(run, scorers)
    reviews = Review.objects.of_run(run).exclude(output__in=opened.blind_outputs)
    context = {
        "team": run.team,
        "run": run,
        "calibration": calibration,
        "figures": calibration_figures(calibration),
        "stamps": {each.scorer.pk: each for each in find_stamps(run, scorers)},
        "left_out": left_out_counts(calibration),
        "agreement": people_agreement(reviews),
        **opened.permissions,
    }
    return render_page(request, "calibration/run.html", context)


@get_page
def scorer_calibration(request: SignedInRequest, uid: uuid.UUID, place: int) -> HttpResponse:
    """A scorer of a run against people; of a judge also its order bias and its noise."""
    scorer = access.run_scorer_for(request.user, uid, place)
    run = scorer.run
    calibration = calibrate_run(run, [scorer])
    context: dict[str, Any] = {
        "team": run.team,
        "run": run,
        "scorer": scorer,
        "calibration": calibration,
        "figure": calibration_figures(calibration)[0],
        "left_out": left_out_counts(calibration),
        "fitness": measure_fitness(calibration.scorers[0]),
        "stamped": find_stamps(run, [scorer])[0],
        "stamp_form": StampForm(),
        # Queried only where the template shows it.
        "threshold_url": lambda: RunThresholds(run).url_of(scorer),
        **access.permissions(request.user, run.team),
    }
    if is_judge(scorer):
        panel = VariancePanel(scorer, context["may_edit"])
        context |= {"noise": panel, "quality": _quality(scorer, request.GET)}
    return render_page(request, "calibration/scorer.html", context, parts=["noise"])


@post_action
def stamp_scorer(request: SignedInRequest, uid: uuid.UUID, place: int) -> HttpResponse:
    """Stamp a scorer as fit for what its figures of this run allow."""
    scorer = access.run_scorer_for(request.user, uid, place, Role.EDITOR)
    form = StampForm(request.POST)
    run = access.run_access_for(request.user, uid).run
    if run.is_unfinished:
        messages.error(request, "Not stamped: the run has not ended.")
    elif not form.is_valid():
        messages.error(request, "Not stamped: enter a kappa from 0 to 1.")
    else:
        (calibration,) = calibrate_run(run, run.scorers.with_summary().filter(pk=scorer.pk)).scorers
        stamp = give_stamp(calibration, form.cleaned_data["limit"], by=request.user)
        messages.success(request, f"{scorer.name} is stamped: {stamp.fitness}.")
    return redirect("run_scorer_calibration", uid, place)


@post_action
def check_variance(request: SignedInRequest, uid: uuid.UUID, place: int) -> HttpResponse:
    """Ask the worker to judge some of the outputs again."""
    scorer = access.run_scorer_for(request.user, uid, place, Role.EDITOR)
    panel = VariancePanel(scorer, may_edit=True)
    if not is_judge(scorer) or not panel.is_possible:
        messages.info(request, "There is nothing a judge could be asked about again.")
    elif panel.job_status:
        messages.info(request, "A check of this judge is under way already.")
    else:
        form = VarianceForm(request.POST, scorer=scorer, scored=panel.scored)
        if form.is_valid():
            form.save(request.user)
        else:
            messages.error(request, "Not checked: choose one of the sample sizes.")
    return redirect("run_scorer_calibration", uid, place)


def _quality(scorer: RunScorer, query: QueryDict) -> QualityPanel:
    is_sent = "label" in query or "swapped" in query
    return QualityPanel(Judge(scorer), QualityForm(query if is_sent else None, scorer=scorer))
