"""The texts and scores that a list of pairs shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db.models.functions import Left

from scoring.models.case_paging import OPENING_LENGTH, opening_text
from scoring.models.pairs.rows import Pair, RunSide
from scoring.models.runs.run import Output, Run
from scoring.models.runs.score import Score

OUTPUT_LENGTH: Final = 600  # characters of an output, among which two answers are likely to differ


class OutputOpening(NamedTuple):
    """One run's answer: the opening of its text, None where there is none because of `error`."""

    output: str | None
    error: str
    scores: Mapping[str, float]  # by the scorer's name; those without a score are left out


class PairRow(NamedTuple):
    """A pair with its texts; None for a run without the case."""

    pair: Pair
    input: str
    before: OutputOpening | None
    after: OutputOpening | None


def read_pair_rows(pairs: Sequence[Pair], baseline: Run, candidate: Run) -> list[PairRow]:
    """The pairs' texts and scores, in two queries whatever their number."""
    halves = [half for pair in pairs for half in (pair.baseline, pair.candidate) if half]
    outputs = [half.output for half in halves]
    texts = {values["pk"]: values for values in _texts_of(outputs)}
    scores = _scores_of(outputs, (baseline, candidate))
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


def _texts_of(outputs: Sequence[int]) -> Iterable[Mapping[str, Any]]:
    return Output.objects.filter(pk__in=outputs).values(
        "pk",
        "error",
        output=Left("text", OUTPUT_LENGTH),
        input=Left("case__input_json", OPENING_LENGTH),
    )


def _scores_of(outputs: Sequence[int], runs: Iterable[Run]) -> _Scores:
    # Without the status, SQLite would walk the index over all of a run's scores.
    rows = Score.objects.filter(scorer__run__in=runs, output__in=outputs).values_list(
        "scorer__run", "output", "scorer__name", "score", "status"
    )
    scores: dict[tuple[int, int], dict[str, float]] = {}
    for run, output, name, score, _ in rows:
        if score is not None:
            scores.setdefault((run, output), {})[name] = score
    return scores
