"""Cases, scores and tags of two runs as columns of a few bytes a case.

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
from scoring.models import Case, CaseVerdict, Run, RunScorer, Score, Verdict
from scoring.models.pairs.pairs import CHUNK, Pairs
from scoring.models.pairs.sql import SCORE_DIGITS

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
_TRIAL: Final = {"output": "i8", "position": "i4", "verdict": "i1"}
_SCORE: Final = {"output": "i8", "score": "f8", "verdict": "i1"}


class RunOutputs(NamedTuple):
    """The outputs of the matched cases in one run, as columns; where cases have several trials
    there are more of them than cases. `verdicts` are theirs.

    `cases` are the places of their cases, which rise, among those that were matched; None where
    each case has one output, and the places are the same.
    """

    ids: np.ndarray
    verdicts: np.ndarray
    cases: np.ndarray | None = None

    def trials(self, cases: int) -> float:
        """How many trials a case has on average."""
        return len(self.ids) / cases if cases else 0.0

    def mean_by_case(self, values: np.ndarray, cases: int) -> np.ndarray:
        """The mean of the values of each of so many cases; NaN stands for no value, and for the
        mean of none.
        """
        import numpy as np

        if self.cases is None:
            return np.asarray(values, float)
        given = ~np.isnan(values)
        own = self.cases[given]
        sums = np.bincount(own, values[given], cases)
        counts = np.bincount(own, minlength=cases)
        means: np.ndarray = np.full(cases, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means


class MatchedCases(NamedTuple):
    """The cases of both runs as columns of equal length, in the candidate's order.

    `verdicts` are those of the cases, `numbers` the trials that stand for them in lists.
    """

    outputs: tuple[RunOutputs, RunOutputs]
    verdicts: tuple[np.ndarray, np.ndarray]
    positions: np.ndarray
    numbers: np.ndarray

    @property
    def has_trials(self) -> bool:
        """Whether cases of either run have several trials."""
        return any(side.cases is not None for side in self.outputs)

    @property
    def trials(self) -> float:
        """How many trials a case has: of two runs with other numbers the harmonic mean, by which
        the difference of their means varies.
        """
        before, after = (side.trials(len(self.positions)) for side in self.outputs)
        return 2 * before * after / (before + after) if before and after else 0.0


def match_cases(pairs: Pairs, report: ReportShare = ignore_share) -> MatchedCases:
    """The cases of both runs; `report` takes the share of cases that are read."""
    import numpy as np

    last = pairs.candidate.output_set.version.case_count
    parts: dict[str, list[np.ndarray]] = {name: [np.empty(0, of)] for name, of in _MATCH.items()}
    for part in _chunks(pairs.matches(), _MATCH):
        for name in _MATCH:
            parts[name].append(part[name].copy())
        report(part["position"][-1] / last)
    columns = {name: np.concatenate(parts.pop(name)) for name in _MATCH}
    verdicts = columns["baseline_verdict"], columns["verdict"]
    firsts = columns["baseline_output"], columns["output"]
    sides = zip((pairs.baseline, pairs.candidate), firsts, verdicts, strict=True)
    before, after = (
        _all_trials(run, ids) if run.has_trials else RunOutputs(ids, own) for run, ids, own in sides
    )
    return MatchedCases((before, after), verdicts, columns["position"], columns["trial"])


def _all_trials(run: Run, firsts: np.ndarray) -> RunOutputs:
    """The outputs of the cases whose first trials are `firsts`, in the order of these."""
    import numpy as np

    rows = CaseVerdict.objects.filter(run=run).order_by("position", "trial")
    columns = rows.values_list(*_TRIAL).iterator(chunk_size=CHUNK)
    every = np.concatenate([np.empty(0, list(_TRIAL.items())), *_chunks(columns, _TRIAL)])
    is_first = np.diff(every["position"], prepend=-1) != 0
    first_of = every["output"][is_first][np.cumsum(is_first) - 1]
    is_matched = np.isin(first_of, firsts)
    outputs, order = every[is_matched], np.argsort(firsts)
    cases = order[np.searchsorted(firsts, first_of[is_matched], sorter=order)]
    rising = np.argsort(cases, kind="stable")
    return RunOutputs(outputs["output"][rising], outputs["verdict"][rising], cases[rising])


class CaseScores(NamedTuple):
    """What a scorer says of cases: the mean score of the trials, NaN where none has one, whether
    the case passes, and which share of its trials does.
    """

    scores: np.ndarray
    passed: np.ndarray
    shares: np.ndarray


def read_scores(
    scorer: RunScorer, outputs: RunOutputs, cases: int, report: ReportShare
) -> CaseScores:
    """Of so many cases, in their order. Where cases have one trial each, verdicts are the stored
    ones; else the mean is judged, and fails where no trial passes.
    """
    import numpy as np

    scores, passed = _output_scores(scorer, outputs.ids, report)
    if outputs.cases is None:
        return CaseScores(scores, passed, passed.astype(float))
    means = outputs.mean_by_case(scores, cases)
    shares = outputs.mean_by_case(np.where(np.isnan(scores), np.nan, passed), cases)
    with np.errstate(invalid="ignore"):  # of cases without a score
        passes = (np.round(means, SCORE_DIGITS) >= scorer.threshold) & (shares > 0)
    return CaseScores(means, passes, shares)


def _output_scores(
    scorer: RunScorer, outputs: np.ndarray, report: ReportShare
) -> tuple[np.ndarray, np.ndarray]:
    """The scores of these outputs, none of which occurs twice, in their order, and whether each
    passed.
    """
    import numpy as np

    scores, passed = np.full(len(outputs), np.nan), np.zeros(len(outputs), bool)
    if not len(outputs):
        return scores, passed
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
    return scores, passed


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
