"""What the demo team has decided and still has to: a correction that waits for an editor, and the
invoices that broke in the last week, of which a few are waived, accepted or rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.utils import timezone

from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.people import INES, MARA, DemoPerson
from scoring.engine.demo.story import WEEKS
from scoring.engine.review import corrections
from scoring.models import CaseDecision, CaseDecisionState, Output, Run, User, Waiver
from scoring.models.reviews.waiver import Terms, WaivedScorer

CORRECTED: Final = "upload-limit"
_RAISED: Final = (
    "A file may be up to 10 GB. Larger files can be split with the desktop app.",
    "The limit was raised from 5 GB this month; the price list has it already.",
)
_WAIVED: Final = "Invoices of several pages; the next prompt is to mend them."
_ACCEPTED: Final = "This supplier has gone; the case leaves with the next version."
_REJECTED: Final = "Items after the second one are lost. No release before that is mended."
WAIVED_DAYS: Final = 21

Users = Mapping[DemoPerson, User]


def propose_correction(runs: Sequence[Run], users: Users) -> None:
    """One expected value of the support answers that is out of date."""
    run = runs[-1]
    outputs = Output.objects.filter(output_set=run.output_set_id, case__key=CORRECTED)
    output = outputs.select_related("case").get()
    expected, note = _RAISED
    corrections.propose(run, output, expected, by=users[MARA], note=note)


def decide_broken(runs: Sequence[Run], users: Users) -> None:
    """Of the invoices that broke in the last week two are waived, two rejected, one accepted."""
    candidate, editor = runs[-1], users[INES]
    first, second, third, fourth, fifth = broken_invoices()[:5]
    outputs = Output.objects.filter(output_set=candidate.output_set_id)
    ids = dict(outputs.values_list("case__key", "pk"))
    pair = (runs[-2], candidate)
    for state, keys, reason in (
        (CaseDecisionState.REJECTED, (third, fourth), _REJECTED),
        (CaseDecisionState.ACCEPTED, (fifth,), _ACCEPTED),
    ):
        decided = [ids[key] for key in keys]
        CaseDecision.objects.decide(pair, decided, state, by=editor, reason=reason)
    scorers = candidate.scorers.values_list("version__scorer", flat=True)
    about = [WaivedScorer(key, scorer) for key in (first, second) for scorer in scorers]
    until = timezone.localdate() + timedelta(days=WAIVED_DAYS)
    dataset = candidate.output_set.version.dataset
    Waiver.objects.waive(dataset, about, Terms(until, _WAIVED, editor), by=editor)


def broken_invoices() -> list[str]:
    """The keys of those that were read correctly a week before, and have a total in words now."""
    last = WEEKS - 1
    return [
        case.key
        for case in EXTRACTION.cases
        if json.loads(EXTRACTION.answer(case, last - 1)) == case.expected
        and not isinstance(json.loads(EXTRACTION.answer(case, last))["total"], float)
    ]
