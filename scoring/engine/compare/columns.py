"""Pairs, scores and tags of two runs as columns of a few bytes a pair.

Rows are read in chunks, so that they are never all in memory as Python objects.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.engine.jobs.progress import ReportShare, ignore_share
from scoring.models import Case, Run, RunScorer, Score, Verdict
from scoring.models.pairs.pairs import CHUNK, Pairs

if TYPE_CHECKING:
    import numpy as np

MAX_TAGS: Final = 40  # the commonest ones

#: Of `PairMatch`, in its order.
_MATCH: Final = {
    "baseline_output": "i8",
    "output": "i8",
    "position": "i4",
    "trial": "i2",
    "baseline_verdict": "i1",
    "verdict": "i1",
}
_SCORE: Final = {"output": "i8", "score": "f8", "verdict": "i1"}


class MatchedCases(NamedTuple):
    """The pairs of two runs as columns of equal length, in the candidate's order.

    `cases` numbers the cases from 0 in that order; `trials` is how many pairs a case has at most.
    """

    outputs: tuple[np.ndarray, np.ndarray]
    verdicts: tuple[np.ndarray, np.ndarray]
    positions: np.ndarray
    numbers: np.ndarray  # of the trials
    cases: np.ndarray
    trials: int


def match_cases(pairs: Pairs, report: ReportShare = ignore_share) -> MatchedCases:
    """The pairs of both runs; `report` takes the share of cases that are read."""
    import numpy as np

    last = pairs.candidate.output_set.version.case_count
    parts: dict[str, list[np.ndarray]] = {name: [np.empty(0, of)] for name, of in _MATCH.items()}
    for part in _chunks(pairs.matches(), _MATCH):
        for name in _MATCH:
            parts[name].append(part[name].copy())
        report(part["position"][-1] / last)
    columns = {name: np.concatenate(parts.pop(name)) for name in _MATCH}
    positions = columns["position"]
    is_new = np.diff(positions, prepend=0) != 0
    sizes = np.diff(np.flatnonzero(is_new), append=len(positions))
    return MatchedCases(
        outputs=(columns["baseline_output"], columns["output"]),
        verdicts=(columns["baseline_verdict"], columns["verdict"]),
        positions=positions,
        numbers=columns["trial"],
        cases=np.cumsum(is_new, dtype=np.int32) - 1,
        trials=int(sizes.max()) if len(positions) else 0,
    )


class OutputScores(NamedTuple):
    """A scorer's scores of outputs, NaN where there is none, and whether each output passed."""

    scores: np.ndarray
    passed: np.ndarray


def read_scores(scorer: RunScorer, outputs: np.ndarray, report: ReportShare) -> OutputScores:
    """The scorer's scores of these outputs, none of which occurs twice, in their order."""
    import numpy as np

    scores, passed = np.full(len(outputs), np.nan), np.zeros(len(outputs), bool)
    if not len(outputs):
        return OutputScores(scores, passed)
    # Within one dataset version outputs are often in the order of cases already.
    order = None if (outputs[1:] > outputs[:-1]).all() else np.argsort(outputs)
    for part in _chunks(_scored_outputs(scorer), _SCORE):
        indices = np.searchsorted(outputs, part["output"], sorter=order)
        indices = np.minimum(indices, len(outputs) - 1)
        report((indices[-1] + 1) / len(outputs))
        indices = indices if order is None else order[indices]
        is_found = outputs[indices] == part["output"]
        scores[indices[is_found]] = part["score"][is_found]
        passed[indices[is_found]] = part["verdict"][is_found] == Verdict.PASS
    return OutputScores(scores, passed)


def _scored_outputs(scorer: RunScorer) -> Iterator[tuple[Any, ...]]:
    """The columns of `_SCORE`, by output; between two chunks no cursor is open."""
    scored = Score.objects.filter(scorer=scorer, score__isnull=False).order_by("output")
    rows, last = scored.values_list(*_SCORE), 0
    while part := list(rows.filter(output__gt=last)[:CHUNK]):
        yield from part
        last = part[-1][0]


@dataclass(frozen=True)
class TagColumns:
    """The commonest tags of a dataset version's cases, in the order of their names.

    `codes` has a number for each position, counted from 0; `tag_sets` are the tags by that number.
    """

    names: list[str]
    codes: np.ndarray
    tag_sets: list[frozenset[str]]

    def having(self, tag: str) -> np.ndarray:
        """Whether the case at each position has the tag."""
        import numpy as np

        return np.asarray(np.array([tag in tags for tags in self.tag_sets])[self.codes])


def tag_columns(run: Run) -> TagColumns:
    """The tags of the cases of the run's dataset version."""
    import numpy as np

    version = run.output_set.version
    codes = np.zeros(version.case_count + 1, np.int32)
    numbers = {"[]": 0}
    cases = Case.objects.filter(version=version).exclude(tags_json="[]").order_by()
    for position, text in cases.values_list("position", "tags_json").iterator(chunk_size=CHUNK):
        codes[position] = numbers.setdefault(text, len(numbers))
    tag_sets = [frozenset[str](json.loads(text)) for text in numbers]
    counts: Counter[str] = Counter()
    for tags, count in zip(tag_sets, np.bincount(codes).tolist(), strict=True):
        counts.update(dict.fromkeys(tags, count))
    commonest = sorted(counts, key=lambda tag: (-counts[tag], tag))[:MAX_TAGS]
    return TagColumns(sorted(commonest), codes, tag_sets)


def _chunks(rows: Iterable[tuple[Any, ...]], columns: dict[str, str]) -> Iterator[np.ndarray]:
    import numpy as np

    rest, types = iter(rows), np.dtype(list(columns.items()))
    while len(part := np.fromiter(islice(rest, CHUNK), types)):
        yield part
