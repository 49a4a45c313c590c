"""What a list of pairs shows of each: the opening of its texts and its scores in both runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db.models.functions import Left

from scoring.models.case_table import OPENING, opening
from scoring.models.pair_rows import Half, Pair
from scoring.models.run import Output, Run
from scoring.models.score import Score

SAID: Final = 600  # characters of an output, among which two answers are likely to differ


class Said(NamedTuple):
    """One run's answer: the opening of its text, None where there is none, for `error`."""

    output: str | None
    error: str
    scores: Mapping[str, float]  # by the scorer's name; those without a score are left out


class PairRow(NamedTuple):
    """A pair with what it says; a run without the case said nothing."""

    pair: Pair
    input: str
    before: Said | None
    after: Said | None


def rows_of(pairs: Sequence[Pair], baseline: Run, candidate: Run) -> list[PairRow]:
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
    def said(half: Half | None, run: Run) -> Said | None:
        if half is None:
            return None
        values = texts[half.output]
        return Said(values["said"], values["error"], scores.get((run.pk, half.output), {}))

    half = pair.candidate or pair.baseline
    told = opening(texts[half.output]["asked"]) if half else ""
    return PairRow(pair, told, said(pair.baseline, runs[0]), said(pair.candidate, runs[1]))


def _texts_of(outputs: Sequence[int]) -> Iterable[Mapping[str, Any]]:
    return Output.objects.filter(pk__in=outputs).values(
        "pk",
        "error",
        said=Left("text", SAID),
        asked=Left("case__input_json", OPENING),
    )


def _scores_of(outputs: Sequence[int], runs: Iterable[Run]) -> _Scores:
    # Asked for scores alone, without a status, SQLite walks the index over all of a run's scores.
    found = Score.objects.filter(scorer__run__in=runs, output__in=outputs).values_list(
        "scorer__run", "output", "scorer__name", "score", "status"
    )
    scores: dict[tuple[int, int], dict[str, float]] = {}
    for run, output, name, score, _ in found.order_by():
        if score is not None:
            scores.setdefault((run, output), {})[name] = score
    return scores
