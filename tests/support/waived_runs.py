"""Waivers of cases, made as a reviewer would or with a last day that is over."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from scoring.models import Run, Scorer, User, Waiver
from scoring.models.reviews.waiver import Terms, WaivedScorer


def waive(run: Run, key: str, scorer: str, by: User, *, days: int = 7) -> Waiver:
    """A waiver of the run's dataset; with negative `days` one that has expired."""
    dataset = run.output_set.version.dataset
    about = [WaivedScorer(key, Scorer.objects.get(team=run.team, name=scorer).pk)]
    today = timezone.localdate()
    terms = Terms(today + timedelta(days=max(0, days)), "Known bug 12.", by)
    (waiver,) = Waiver.objects.waive(dataset, about, terms, by=by)
    if days < 0:
        waiver.until = today + timedelta(days=days)
        waiver.save(update_fields=["until"])
    return waiver
