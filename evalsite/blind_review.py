"""What blind review hides: outputs that a user was asked to review and has not reviewed yet.

Pages and API hide the scores, verdicts and reviews of these outputs from the user, whatever their
role. The objects themselves come from `evalsite.access`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from django.db import models

from scoring.engine.review.blind_outputs import (
    BlindCases,
    CaseTrial,
    blinding_tasks,
    blinding_tasks_over,
    find_blind_cases,
    find_outputs,
    find_related_sets,
    list_outputs,
)
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import AuditEntry, Output, ReviewTask, Run, Team, User
from scoring.models.case_list.filters import CaseFilters
from scoring.models.reviews.queue import may_have_tasks
from scoring.models.reviews.waiver import WaiverQuerySet

#: How actions begin whose audit entries tell what somebody said of an output.
TELLING_ACTIONS: Final = (
    *("review.", "reviews.", "preference.", "comment.", "correction."),
    *("case.", "waiver."),
)


class BlindPairs(NamedTuple):
    """The ids of outputs of two runs that are left out of their comparison, see `blind_pairs`.

    `own` are those of the candidate's that the user is yet to review.
    """

    baseline: frozenset[int]
    candidate: frozenset[int]
    own: frozenset[int]

    @property
    def outputs(self) -> frozenset[int]:
        """Those of both runs."""
        return self.baseline | self.candidate


def has_blind_outputs(user: User, run: Run) -> bool:
    """Whether the user has an open task over the run's dataset."""
    dataset = run.output_set.version.dataset_id
    return may_have_tasks(user) and blinding_tasks_over(user, dataset).exists()


def blind_outputs(user: User, run: Run) -> frozenset[int]:
    """The ids of the run's outputs that the user was asked to review and has not reviewed yet.

    Scores, verdicts and reviews of these are hidden from the user, whatever their role and
    whichever run scored them.
    """
    blind = find_blind_cases(user, run.output_set.version.dataset_id)
    return list_outputs({run.output_set_id: blind.get(run.output_set_id, {})})


def blind_outputs_in_queue(user: User, run: Run, filters: CaseFilters) -> frozenset[int]:
    """The run's outputs of which a queue with these filters may tell the user no verdict.

    The most informative cases are those that changed since the baseline of the run, too.
    """
    if not has_blind_outputs(user, run):
        return frozenset()
    change = filters.change and filters.change.baseline
    baselines = {other for other in (change, run_baseline(run)) if other}
    pairs = [blind_pairs(user, baseline, run).candidate for baseline in baselines]
    return blind_outputs(user, run).union(*pairs)


def blind_pairs(user: User, baseline: Run, candidate: Run) -> BlindPairs:
    """The outputs of two runs of which nothing may be told to the user in a comparison.

    A pair is blind where either of its outputs is: what became of the case would tell its verdict.
    """
    blind = find_blind_cases(user, candidate.output_set.version.dataset_id)
    return blind_pairs_among(blind, baseline, candidate)


def blind_pairs_among(blind: BlindCases, baseline: Run, candidate: Run) -> BlindPairs:
    """As `blind_pairs`, where the blind cases of the dataset are known."""
    sides = [blind.get(run.output_set_id, {}) for run in (baseline, candidate)]
    before, own = (
        list_outputs({run.output_set_id: side})
        for run, side in zip((baseline, candidate), sides, strict=True)
    )
    if baseline.has_trials or candidate.has_trials:  # each trial is part of the case's verdict
        keys = {key for side in sides for key, _ in side}
        return BlindPairs(_every_trial(baseline, keys), _every_trial(candidate, keys), own)
    return BlindPairs(
        before | _same_cases(baseline, sides[1].keys() - sides[0].keys()),
        own | _same_cases(candidate, sides[0].keys() - sides[1].keys()),
        own,
    )


def _same_cases(run: Run, cases: Collection[CaseTrial]) -> frozenset[int]:
    """The ids of the run's outputs for these cases; no query without any."""
    return find_outputs({run.output_set_id: cases} if cases else {})


def _every_trial(run: Run, keys: Collection[str]) -> frozenset[int]:
    """The ids of the run's outputs for the cases with these keys; no query without any."""
    outputs = Output.objects.filter(output_set=run.output_set_id, case__key__in=keys)
    return frozenset(outputs.values_list("pk", flat=True)) if keys else frozenset()


def readable_waivers(user: User, waivers: WaiverQuerySet) -> WaiverQuerySet:
    """Without those of cases that the user is yet to review: a waiver says that a scorer fails it.

    Cases are told by their key, whichever run of the dataset the user was asked to review.
    """
    asked = blinding_tasks(user).filter(
        queue__run__output_set__version__dataset=models.OuterRef("dataset"),
        output__case__key=models.OuterRef("case_key"),
    )
    return waivers.filter(~models.Exists(asked))


class HiddenAuditValues:
    """Tells the audit entries of a team whose values a user may not see.

    They are what others said of outputs, while the user is still asked to review any.
    """

    def __init__(self, user: User, team: Team) -> None:
        self._user = user
        tasks = ReviewTask.objects.open().asked_of(user).filter(queue__team=team)
        self.hides_any = may_have_tasks(user) and tasks.exists()

    def __call__(self, entry: AuditEntry) -> bool:
        is_others = entry.actor_id != str(self._user.pk)
        return self.hides_any and is_others and entry.action.startswith(TELLING_ACTIONS)


def blind_task_for(user: User, outputs: Sequence[Output]) -> ReviewTask | None:
    """The user's first open task, with its queue, for one of these outputs or for copies of them.

    The outputs are of one dataset and have their case joined.
    """
    tasks = blinding_tasks(user).select_related("queue").order_by("pk")
    if task := tasks.filter(output__in=outputs).first():
        return task
    related = find_related_sets(outputs[0].output_set.version.dataset_id)
    copies = [
        models.Q(
            queue__run__output_set__in=related[output.output_set_id],
            output__case__key=output.case.key,
            output__trial=output.trial,
        )
        for output in outputs
        if output.output_set_id in related
    ]
    return tasks.filter(reduce(or_, copies)).first() if copies else None
