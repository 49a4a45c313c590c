"""The texts and scores that a list of pairs shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db.models import QuerySet
from django.db.models.functions import Left

from scoring.core.stats.trials import reduce_scores
from scoring.models.case_paging import OPENING_LENGTH, opening_text
from scoring.models.pairs.rows import Pair, RunSide
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.case_scores import find_trials
from scoring.models.runs.run import Output, Run
from scoring.models.runs.score import Score

OUTPUT_LENGTH: Final = 600  # characters of an output, among which two answers are likely to differ


class OutputOpening(NamedTuple):
    """One run's answer: the opening of its text, None where there is none because of `error`."""

    output: str | None
    error: str
    #: By the scorer's name, of several trials their mean; those without a score are left out.
    scores: Mapping[str, float]


class PairRow(NamedTuple):
    """A pair with its texts; None for a run without the case."""

    pair: Pair
    input: str
    before: OutputOpening | None
    after: OutputOpening | None


def read_pair_rows(pairs: Sequence[Pair], baseline: Run, candidate: Run) -> list[PairRow]:
    """The pairs' texts and scores, in two queries whatever their number, and two more for each run
    whose cases have several trials.
    """
    halves = [
        (run, [half.output for half in halves if half])
        for run, halves in (
            (baseline, [pair.baseline for pair in pairs]),
            (candidate, [pair.candidate for pair in pairs]),
        )
    ]
    texts = {values["pk"]: values for values in _texts_of([pk for _, own in halves for pk in own])}
    trials = {pk: named for run, own in halves for pk, named in find_trials(run, own).items()}
    scores = _scores_of(trials, (baseline, candidate))
    return [_row(pair, texts, scores, (baseline, candidate)) for pair in pairs]


_Scores = Mapping[tuple[int, int], Mapping[str, float]]  # by run and output


def _row(
    pair: Pair, texts: Mapping[int, Mapping[str, Any]], scores: _Scores, runs: tuple[Run, Run]
) -> PairRow:
    def opening(half: RunSide | None, run: Run) -> OutputOpening | None:
        if half is None:
            return None
        values = texts[half.output]
        score_of = scores.get((run.pk, half.output), {})
        return OutputOpening(values["output"], values["error"], score_of)

    half = pair.candidate or pair.baseline
    case_input = opening_text(texts[half.output]["input"]) if half else ""
    return PairRow(
        pair, case_input, opening(pair.baseline, runs[0]), opening(pair.candidate, runs[1])
    )


@prepared_query
def _texts_of(outputs: Sequence[int]) -> QuerySet[Output, Any]:
    return Output.objects.filter(pk__in=outputs).values(
        "pk",
        "error",
        output=Left("text", OUTPUT_LENGTH),
        input=Left("case__input_json", OPENING_LENGTH),
    )


def _scores_of(trials: Mapping[int, int], runs: Iterable[Run]) -> _Scores:
    """The mean scores of the `trials` of each case, by the output that names it."""
    rows = _named_scores([run.pk for run in runs], list(trials))
    scores: dict[tuple[int, int], dict[str, list[float]]] = {}
    for run, output, name, score, _ in rows:
        if score is not None:
            of_case = scores.setdefault((run, trials[output]), {})
            of_case.setdefault(name, []).append(score)
    return {
        case: {name: reduce_scores(given, "mean") for name, given in of_case.items()}
        for case, of_case in scores.items()
    }


@prepared_query
def _named_scores(runs: Sequence[int], outputs: Sequence[int]) -> QuerySet[Score, Any]:
    """With the status, which keeps SQLite from walking the index over all of a run's scores."""
    scores = Score.objects.filter(scorer__run__pk__in=runs, output__pk__in=outputs)
    return scores.values_list("scorer__run", "output", "scorer__name", "score", "status")
