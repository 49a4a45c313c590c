"""Scores copied from another run of the same outputs instead of computed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.db.models import Q

from scoring.core.configured import apply_threshold
from scoring.core.contract import EMPTY, Result
from scoring.engine.runs import requirements
from scoring.models import (
    Case,
    Output,
    OutputSet,
    Run,
    RunScorer,
    RunState,
    Score,
    Shard,
    Status,
    Verdict,
)
from scoring.models.data.dataset import CONTENT
from scoring.models.runs.result_rows import ScoreRow

KEYS_A_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters
_COLUMNS: Final = ("output", "status", "score", "verdict", "code", "reason", "metadata_json")


def reusable_scorers(run: Run, scorers: Iterable[RunScorer]) -> dict[int, RunScorer]:
    """By the id of a scorer of the run, the equal scorer of a finished run of the same outputs.

    A run of the outputs that these were carried over from counts, where no other has the scorer.
    Scorers that call services have none: the endpoint behind a connection's name may have changed,
    and only the caches of replies and vectors know what decided their scores.
    """
    fingerprints = {
        scorer.pk: scorer.version.fingerprint
        for scorer in scorers
        if not requirements.calls_models(scorer.version)
    }
    source = OutputSet.objects.filter(copies=run.output_set_id)
    equal = RunScorer.objects.filter(
        Q(run__output_set=run.output_set_id) | Q(run__output_set__in=source.values("pk")),
        run__state=RunState.FINISHED,
        version__fingerprint__in=fingerprints.values(),
    )
    others = equal.exclude(run=run).select_related("version", "run").order_by("pk")
    own_last = sorted(others, key=lambda donor: donor.run.output_set_id == run.output_set_id)
    by_fingerprint = {donor.version.fingerprint: donor for donor in own_last}
    return {
        pk: by_fingerprint[fingerprint]
        for pk, fingerprint in fingerprints.items()
        if fingerprint in by_fingerprint
    }


@dataclass
class ShardReuse:
    """What a shard of a run can copy from earlier runs, for each of its scorers."""

    shard: Shard
    scorers: Sequence[RunScorer]

    def copy_scores(self, scorer: RunScorer) -> dict[int, ScoreRow]:
        """The earlier rows for the shard's outputs, as rows of `scorer`, by output id.

        Errors are left out, to be tried again. Verdicts are those of the new threshold.
        """
        donor = self._donors.get(scorer.pk)
        if donor is None:
            return {}
        rows = {row[1]: row for row in self._rows_of(donor, scorer.pk)}
        if donor.threshold == scorer.threshold:
            return rows
        return {output: _judge_anew(row, scorer.threshold) for output, row in rows.items()}

    def _rows_of(self, donor: RunScorer, scorer: int) -> Iterator[ScoreRow]:
        """The donor's scores of the shard's outputs, as rows of the scorer with this id."""
        scores = Score.objects.filter(scorer=donor).exclude(status=Status.ERROR)
        if donor.run.output_set_id == self.shard.attempt.run.output_set_id:
            first, last = self.shard.first_output, self.shard.last_output
            rows = scores.filter(output__gte=first, output__lte=last).values_list(*_COLUMNS)
            yield from ((scorer, *row) for row in rows)
            return
        earlier = list(self._carried)
        for start in range(0, len(earlier), KEYS_A_QUERY):
            rows = scores.filter(output__in=earlier[start : start + KEYS_A_QUERY])
            for output, *values in rows.values_list(*_COLUMNS):
                yield scorer, self._carried[output], *values

    @cached_property
    def _donors(self) -> dict[int, RunScorer]:
        return reusable_scorers(self.shard.attempt.run, self.scorers)

    @cached_property
    def _carried(self) -> dict[int, int]:
        """The shard's outputs by the ids of those they were carried over from, where the case has
        not changed.
        """
        source = self.shard.attempt.run.output_set.copied_from
        assert source is not None  # noqa: S101  a donor has its outputs
        within = (self.shard.first_output, self.shard.last_output)
        own = Output.objects.filter(
            pk__range=within, output_set=self.shard.attempt.run.output_set_id
        )
        columns = ("case__key", "trial", "pk", *(f"case__{name}" for name in CONTENT))
        present = {
            (key, trial): (pk, content) for key, trial, pk, *content in own.values_list(*columns)
        }
        return dict(_pair(source.pk, source.version_id, present))


def _pair(
    outputs: int, version: int, present: dict[tuple[str, int], tuple[int, Sequence[object]]]
) -> Iterable[tuple[int, int]]:
    """Earlier and present output of each case with the same content."""
    keys = list(dict.fromkeys(key for key, _ in present))
    for start in range(0, len(keys), KEYS_A_QUERY):
        cases = Case.objects.filter(version=version, key__in=keys[start : start + KEYS_A_QUERY])
        rows = cases.order_by().values_list("pk", "key", *CONTENT)
        before = {pk: (key, content) for pk, key, *content in rows}
        earlier = Output.objects.filter(output_set=outputs, case__in=list(before))
        for pk, case, trial in earlier.values_list("pk", "case", "trial"):
            key, content = before[case]
            now = present.get((key, trial))
            if now is not None and now[1] == content:
                yield pk, now[0]


def _judge_anew(row: ScoreRow, threshold: float) -> ScoreRow:
    scorer, output, status, score, _, code, reason, metadata = row
    if status != Status.SCORED or code:  # a code: failed whatever the threshold
        return row
    judged = apply_threshold(Result("scored", score, None, reason, EMPTY), threshold)
    verdict = Verdict.PASS if judged.verdict == "pass" else Verdict.FAIL
    return scorer, output, status, score, verdict.value, code, judged.reason, metadata
