"""Runs whose outputs people have reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.models import (
    DatasetVersion,
    Output,
    QueueOrder,
    Review,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Run,
    TaskReason,
    User,
)
from tests.support.finished_runs import Given, run_with


def scored_run(
    version: DatasetVersion, scores: Mapping[str, Sequence[Given]], name: str = "w46"
) -> Run:
    """A finished run; each scorer repeats its last score up to the version's last case."""
    count = version.cases.count()
    whole = {
        scorer: [*given, *[given[-1]] * (count - len(given))] for scorer, given in scores.items()
    }
    return run_with(version, whole, name=name)


def outputs_of(run: Run) -> list[int]:
    """The ids of its outputs, in the order of the cases."""
    outputs = Output.objects.filter(output_set=run.output_set).order_by("pk")
    return list(outputs.values_list("pk", flat=True))


def give(person: User, verdicts: Mapping[int, ReviewVerdict]) -> None:
    """The person's reviews, by the ids of outputs."""
    output_sets = dict(Output.objects.filter(pk__in=verdicts).values_list("pk", "output_set"))
    Review.objects.bulk_create(
        Review(
            output_id=output,
            output_set_id=output_sets[output],
            reviewer=person,
            verdict=verdict,
        )
        for output, verdict in verdicts.items()
    )


def give_in_turn(run: Run, person: User, verdicts: Sequence[ReviewVerdict]) -> None:
    """The person's reviews of the run's first outputs."""
    give(person, dict(zip(outputs_of(run), verdicts, strict=False)))


def ask_to_review(run: Run, person: User, key: str, *, trial: int = 0) -> ReviewTask:
    """The open task of the person to review the run's output of this case."""
    output = Output.objects.get(output_set=run.output_set, case__key=key, trial=trial)
    queue = ReviewQueue.objects.create(team=run.team, run=run, name=f"of {key}", case_count=1)
    return ReviewTask.objects.create(
        queue=queue, output=output, reviewer=person, position=1, reason=TaskReason.SAMPLED
    )


def draw_sample(outputs: Sequence[int]) -> None:
    """Makes these outputs a random sample of their run."""
    run = Run.objects.filter(output_set__outputs=outputs[0]).earliest("pk")
    queue = ReviewQueue.objects.create(
        team=run.team, run=run, name="sample", order=QueueOrder.RANDOM, case_count=len(outputs)
    )
    reviewer = User.objects.earliest("pk")
    ReviewTask.objects.bulk_create(
        ReviewTask(
            queue=queue,
            output_id=output,
            reviewer=reviewer,
            position=position,
            reason=TaskReason.SAMPLED,
        )
        for position, output in enumerate(outputs, 1)
    )
