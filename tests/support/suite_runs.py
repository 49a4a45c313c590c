"""A run of a suite whose scores a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.models import DatasetVersion, Run, Scorer, Suite, SuiteEntry
from tests.support.finished_runs import THRESHOLD, Given, run_with


def suite_run(
    version: DatasetVersion,
    scores: Mapping[str, Sequence[Given]],
    *,
    name: str = "w46",
    trials: int = 1,
    leaves_out: Sequence[int] = (),
    thresholds: Mapping[str, float] | None = None,
) -> Run:
    """A finished run of the suite `release`, which has the scorers of the first such run."""
    run = run_with(
        version, scores, name=name, trials=trials, leaves_out=leaves_out, thresholds=thresholds
    )
    suite = Suite.objects.filter(team=run.team, name="release").first()
    if suite is None:
        scorers = Scorer.objects.filter(name__in=scores).order_by("pk")
        suite = Suite.objects.define(run.team, "release", [(s, THRESHOLD) for s in scorers])
    names = {"suite_name": suite.name, "suite_revision": suite.revision}
    Run.objects.filter(pk=run.pk).update(suite=suite, **names)
    run.refresh_from_db()
    return run


def entry_of(name: str = "close") -> SuiteEntry:
    """The scorer of that name in the suite `release`."""
    entries = SuiteEntry.objects.select_related("suite__team", "scorer")
    return entries.get(suite__name="release", scorer__name=name)
