"""What follows a change of a series of runs. Runs know these functions by name only.

Each takes runs of one series of a dataset, in the order of time, and runs in the transaction of the
change. It enqueues what takes long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from django.utils.module_loading import import_string

from scoring.models import Run

#: After runs have ended.
RUNS_ENDED: Final = (
    "scoring.engine.thresholds.relabelling.recount_labels",
    "scoring.engine.alerts.evaluation.schedule_evaluations",
    "scoring.engine.judges.automatic_checks.enqueue_checks",  # before comparisons
    "scoring.engine.drift.jobs.enqueue_measuring",
    "scoring.engine.compare.jobs.enqueue_comparisons",
    "scoring.engine.demo.reviews.draw_queue_after_run",
)
#: After a run has been deleted or restored.
SERIES_CHANGED: Final = (
    "scoring.engine.drift.jobs.enqueue_measuring",
    "scoring.engine.alerts.evaluation.schedule_evaluations",
)


def call_hooks(names: Sequence[str], series: Sequence[Run]) -> None:
    for name in names:
        hook: Callable[[Sequence[Run]], None] = import_string(name)
        hook(series)
