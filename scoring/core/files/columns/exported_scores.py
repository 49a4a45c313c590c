"""The columns that an exported list of a run's cases has beside the cases: verdicts and scores.

A list that comes back as a dataset leaves them out. They say how one run was scored; as metadata of
the cases they would be shown to judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: Of the case, and of each scorer behind its name; `scores` holds all scorers in JSON.
CASE_COLUMNS: Final = ("verdict", "relabelled_verdict", "scores")
SCORE_COLUMNS: Final = ("status", "score", "verdict", "relabelled_verdict", "reason", "code")
_TELLING: Final = ("status", "score", "verdict", "code")  # which together only an export has


def exported_scores(columns: Sequence[str]) -> list[str]:
    """Of the columns of a file those of an exported run's verdicts and scores; [] for others."""
    present = set(columns)
    names = (column.removesuffix(" status") for column in columns if column.endswith(" status"))
    scorers = [name for name in names if present.issuperset(f"{name} {part}" for part in _TELLING)]
    if "key" not in present or not (scorers or {"verdict", "scores"} <= present):
        return []
    own = {f"{name} {part}" for name in scorers for part in SCORE_COLUMNS}.union(CASE_COLUMNS)
    return [column for column in columns if column in own]
