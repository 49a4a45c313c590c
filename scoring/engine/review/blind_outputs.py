"""The outputs that a person is yet to review, in every output set that holds them.

Outputs that were carried over to another version of their dataset are the same outputs: a verdict
or a score of one tells that of the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256

from django.core.cache import cache
from django.db.models import Exists, OuterRef

from scoring.models import Case, Output, OutputSet, Review, ReviewTask, User
from scoring.models.reviews.queue import ReviewTaskQuerySet, may_have_tasks

CaseTrial = tuple[str, int]  # the key of a case and a trial
#: By the ids of output sets the blind cases, each with the id of its output where that is known.
BlindCases = Mapping[int, Mapping[CaseTrial, int | None]]


def blinding_tasks(person: User) -> ReviewTaskQuerySet:
    """The open tasks for which the person is to give a verdict of their own, not a preference.

    Also those that they may still take from a pool.
    """
    own = Review.objects.filter(output=OuterRef("output"), reviewer=person)
    asked = ReviewTask.objects.open().asked_of(person).filter(queue__baseline=None)
    return asked.filter(~Exists(own))


def blinding_tasks_over(person: User, dataset: int) -> ReviewTaskQuerySet:
    """Those of the `blinding_tasks` that are about outputs over the dataset of this id."""
    return blinding_tasks(person).filter(queue__run__output_set__version__dataset=dataset)


def find_blind_cases(person: User, dataset: int) -> BlindCases:
    """The cases of the dataset that the person is yet to review; copies and originals included.

    One query where there are none, none where that is known, else two.
    """
    if not may_have_tasks(person):
        return {}
    tasks = blinding_tasks_over(person, dataset)
    columns = ("queue__run__output_set", "output", "output__case__key", "output__trial")
    rows = list(tasks.values_list(*columns).distinct())
    related = find_related_sets(dataset) if rows else {}
    blind: dict[int, dict[CaseTrial, int | None]] = {}
    for own, output, key, trial in rows:
        for each in related.get(own, ()):
            blind.setdefault(each, {}).setdefault((key, trial), None)
        blind.setdefault(own, {})[key, trial] = output
    return blind


def find_related_sets(dataset: int) -> Mapping[int, Collection[int]]:
    """By the id of each output set that was copied, or is a copy, all sets of the same outputs."""
    copies = OutputSet.objects.filter(version__dataset=dataset).exclude(copied_from=None)
    parents = {copy: parent for copy, parent in copies.values_list("pk", "copied_from") if parent}
    families: dict[int, set[int]] = {}
    for each in parents.keys() | parents.values():
        first = each
        while first in parents:
            first = parents[first]
        families.setdefault(first, set()).add(each)
    return {each: family for family in families.values() for each in family}


def list_outputs(blind: BlindCases) -> frozenset[int]:
    """The ids of the outputs of these cases; no query where all are known."""
    known = {pk for cases in blind.values() for pk in cases.values() if pk is not None}
    sought = {
        output_set: {case for case, pk in cases.items() if pk is None}
        for output_set, cases in blind.items()
    }
    return find_outputs({each: cases for each, cases in sought.items() if cases}).union(known)


def find_outputs(cases: Mapping[int, Collection[CaseTrial]]) -> frozenset[int]:
    """The ids of the outputs that these output sets, by id, have for the cases.

    One query, which is not asked again for the same cases: output sets do not change.
    """
    if not cases:
        return frozenset()
    facts = sorted((each, sorted(listed)) for each, listed in cases.items())
    key = "outputs-of-cases:" + sha256(repr(facts).encode()).hexdigest()
    outputs: frozenset[int] | None = cache.get(key)
    if outputs is None:
        outputs = _read_outputs(cases)
        cache.set(key, outputs)
    return outputs


def _read_outputs(cases: Mapping[int, Collection[CaseTrial]]) -> frozenset[int]:
    # A query of its own for the cases, lest SQLite walks all outputs of the sets.
    listed = Case.objects.filter(
        version__in=OutputSet.objects.filter(pk__in=cases.keys()).values("version"),
        key__in={key for each in cases.values() for key, _ in each},
    )
    outputs = Output.objects.filter(output_set__in=cases.keys(), case__in=listed)
    rows = outputs.values_list("output_set", "case__key", "trial", "pk")
    return frozenset(pk for each, key, trial, pk in rows if (key, trial) in cases[each])
