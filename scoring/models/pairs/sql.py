"""The pieces of SQL that join two runs; `b` is the baseline's row, `c` the candidate's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scoring.models.case_paging import CasePosition
from scoring.models.data.dataset import Case
from scoring.models.pairs.rows import Pair, PairKind, RunSide
from scoring.models.runs.score import Verdict

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
#: The kinds of cases that only one of the runs has.
UNPAIRED_KINDS: Final = (PairKind.ONLY_BASELINE, PairKind.ONLY_CANDIDATE)
#: Those that take an error or a skip.
UNJUDGED: Final = (PairKind.UNCLEAR, PairKind.NEITHER)


def columns(side: str) -> str:
    return f"{side}.output_id, {side}.position, {side}.trial, {side}.verdict"


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
