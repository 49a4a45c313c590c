"""The pieces of SQL that join two runs; `b` is the baseline's row, `c` the candidate's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scoring.models.case_paging import CasePosition
from scoring.models.data.dataset import Case
from scoring.models.pairs.rows import Pair, PairKind, RunSide
from scoring.models.runs.run import RunScorer
from scoring.models.runs.score import CaseVerdict, Score, Verdict

_SCORERS, _SCORES, _VERDICTS = (each._meta.db_table for each in (RunScorer, Score, CaseVerdict))

KIND_CONDITIONS: Final[dict[PairKind, str]] = {
    PairKind.BROKE: "{b} = 0 AND {c} = 1",
    PairKind.FIXED: "{b} = 1 AND {c} = 0",
    # With a plus no index on verdicts is taken: walked by it, rows would have to be sorted.
    PairKind.UNCHANGED: "{b} = {c} AND +{c} < 2",
    PairKind.UNCLEAR: "({b} > 1) <> ({c} > 1)",
    PairKind.NEITHER: "{b} > 1 AND {c} > 1",
    PairKind.PAIRS: "1 = 1",
}
EDITED: Final = """(ck.input_json <> bk.input_json
    OR (ck.expected_json IS NULL) <> (bk.expected_json IS NULL)
    OR ck.expected_json <> bk.expected_json)"""
SCORER_OF: Final = f"SELECT id FROM {_SCORERS} WHERE name = %(scorer)s AND run_id = "  # noqa: S608
SCORE_DIGITS: Final = 9  # as reported; means over trials are rounded alike
#: The kinds of cases that only one of the runs has.
UNPAIRED_KINDS: Final = (PairKind.ONLY_BASELINE, PairKind.ONLY_CANDIDATE)
#: Those that take an error or a skip.
UNJUDGED: Final = (PairKind.UNCLEAR, PairKind.NEITHER)


def columns(side: str, verdict: str) -> str:
    return f"{side}.output_id, {side}.position, {side}.trial, {verdict}"


def is_one_of_trials(side: str, output: str) -> str:
    """That an output is one of the case's, whichever trial."""
    here = f"t.run_id = %({side}_run)s AND t.position = {side}.position"
    return f"{output} IN (SELECT t.output_id FROM {_VERDICTS} t WHERE {here})"  # noqa: S608


def over_trials(side: str, value: str) -> str:
    """A value over the rows `s` in which the scorer judged the trials of the case."""
    return (
        f"(SELECT {value} FROM {_VERDICTS} t, {_SCORES} s "  # noqa: S608
        f"WHERE t.run_id = %({side}_run)s AND t.position = {side}.position "
        f"AND s.scorer_id = ({SCORER_OF}%({side}_run)s) AND s.output_id = t.output_id)"
    )


def verdict_over_trials(side: str) -> str:
    """The scorer's verdict on a case, as Verdict numbers them: the mean of its trials passes at the
    threshold, unless no trial does; an error where there is no score.
    """
    threshold = SCORER_OF.replace("id", "threshold", 1) + f"%({side}_run)s"
    passes = f"{rounded('AVG(s.score)', SCORE_DIGITS)} >= ({threshold}) AND MIN(s.verdict) = 0"
    judged = f"CASE WHEN {passes} THEN 0 ELSE 1 END"
    return over_trials(
        side, f"CASE WHEN COUNT(s.score) > 0 THEN {judged} ELSE MIN(s.status) + 1 END"
    )


def rounded(value: str, digits: int) -> str:
    """PostgreSQL rounds decimals only."""
    return f"ROUND(CAST({value} AS NUMERIC), {digits})"


def read_side(row: Sequence[Any]) -> RunSide | None:
    output, position, trial, verdict = row
    return (
        None if output is None else RunSide(output, CasePosition(position, trial), Verdict(verdict))
    )


def key_column(side: str) -> str:
    """The case's key, as a column that is read only of the rows that are given back."""
    here = f"version_id = %({side}_version)s AND position = {side}.position"
    return f"(SELECT key FROM {Case._meta.db_table} WHERE {here})"  # noqa: S608


def read_pair(row: Sequence[Any]) -> Pair:
    """From the columns of both sides, whether it is edited, and its key."""
    return Pair(row[9], read_side(row[:4]), read_side(row[4:8]), bool(row[8]))
