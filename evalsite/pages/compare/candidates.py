"""The runs that a page compares with a baseline, each with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalsite.pages.compare.links import compare_url
from scoring.engine.compare import comparison as comparisons
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.compare.claims import correct_claims
from scoring.engine.compare.figures import Figures
from scoring.engine.jobs.progress import JobProgress
from scoring.models import Comparison, Job, Run, User


@dataclass
class Candidate:
    """A run compared with the baseline: its figures, or why there are none yet."""

    baseline: Run
    run: Run
    comparison: Comparison | None
    problem: str = ""
    progress: JobProgress | None = None  # of a comparison that the worker has begun
    figures: Figures | None = None  # with the claims of all candidates corrected together

    @property
    def is_waiting(self) -> bool:
        return self.comparison is None and not self.problem

    @property
    def url(self) -> str:
        """The comparison of the two runs alone."""
        return compare_url(self.run.team, self.baseline, [self.run])


def load_candidates(
    baseline: Run, runs: Sequence[Run], by: User, *, is_again: bool
) -> list[Candidate]:
    """The runs as candidates with their figures; the worker computes those that take long."""
    for run in runs:
        comparisons.check_comparable(baseline, run)
    stored = comparisons.stored_comparisons(baseline, runs)
    candidates = [_load_candidate(baseline, run, stored.get(run.pk), by, is_again) for run in runs]
    compared = [candidate for candidate in candidates if candidate.comparison]
    figures = [Figures.read(c.comparison.figures) for c in compared if c.comparison]
    for candidate, corrected in zip(compared, correct_claims(figures), strict=True):
        candidate.figures = corrected
    return candidates


def _load_candidate(
    baseline: Run, run: Run, comparison: Comparison | None, by: User, is_again: bool
) -> Candidate:
    if comparison:
        return Candidate(baseline, run, comparison)
    failed: Job | None = None if is_again else compare_jobs.failed_job(baseline, run)
    if failed:
        return Candidate(baseline, run, None, failed.problem)
    return Candidate(baseline, run, compare_jobs.compare_or_enqueue(baseline, run, by))
