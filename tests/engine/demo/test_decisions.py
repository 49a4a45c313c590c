"""What the demo team decided of broken invoices holds beside the scores, and a correction waits."""

from __future__ import annotations

from scoring.engine.demo.decisions import CORRECTED, broken_invoices
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.people import MARA
from scoring.engine.demo.support import SUPPORT
from scoring.engine.review.corrections import CorrectionList
from scoring.models import CaseDecision, Correction, Run, Team, User, Waiver
from scoring.models.reviews.broken_cases import BrokenCases, StateCounts


def test_one_correction_waits_for_an_editor(loaded: Team, alice: User) -> None:
    (correction,) = Correction.objects.waiting_for(alice, loaded)
    assert (correction.key, correction.dataset.name) == (CORRECTED, SUPPORT.name)
    assert correction.author is not None
    assert correction.author.name == MARA.name
    assert "10 GB" in correction.expected
    (row,) = CorrectionList(correction.dataset, [correction]).rows()
    assert not row.is_outdated


def test_five_broken_invoices_are_decided(loaded: Team) -> None:
    runs = Run.objects.filter(output_set__series=EXTRACTION.series)
    baseline, candidate = runs.order_by("output_set__dated")[10:]
    broken = BrokenCases(baseline, candidate)
    assert broken.counts(len(broken_invoices())) == StateCounts(
        open=len(broken_invoices()) - 5, accepted=1, rejected=2, waived=2
    )
    assert not broken.expired


def test_the_decisions_are_about_cases_that_broke(loaded: Team) -> None:
    """The texts say so before any scorer does: each passed a week before and fails now."""
    for decision in CaseDecision.objects.select_related("baseline", "candidate", "output__case"):
        key = decision.output.case.key
        assert key in broken_invoices()
        now = decision.candidate.verdicts.get(output=decision.output_id)
        before = decision.baseline.verdicts.get(output__case__key=key)
        assert (before.verdict, now.verdict) == (0, 1)


def test_waivers_have_an_owner_and_a_reason(loaded: Team) -> None:
    waivers = Waiver.objects.active().select_related("owner")
    assert {waiver.case_key for waiver in waivers} == set(broken_invoices()[:2])
    assert all(waiver.owner and waiver.reason for waiver in waivers)
