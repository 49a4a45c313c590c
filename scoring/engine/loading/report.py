"""What one pass through a file found: counts, problems, and whether it may be stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from scoring.core.files import FileProblem, RowProblem

LISTED: Final = 100  # problems and unmatched ids are counted beyond this, but not kept
MARKED: Final = 1_000  # as are repeats and near duplicates beyond this


@dataclass
class Report:
    """Filled while a file is read. `outputs` counts per label; None stands for what is unknown.

    `identical_to` is the number of the version that already holds exactly these cases,
    `identical_outputs` leads from labels to output sets that hold exactly these outputs. Of the
    sets that the outputs are in after an import `output_sets` are the UUIDs. `repeats` pairs the
    positions of cases with that of the first of the same input, `near` adds how alike the inputs
    are; near ones are looked for by a dry run alone.
    """

    row_count: int = 0
    share_read: float = 0.0  # of the file's bytes, now and then
    case_count: int = 0
    outputs: dict[str, int] = field(default_factory=dict)
    problem_count: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    duplicate_inputs: int = 0
    repeats: list[tuple[int, int]] = field(default_factory=list)
    near_count: int = 0
    near: list[tuple[int, int, float]] = field(default_factory=list)
    is_near_known: bool = False  # else nobody has looked yet
    identical_outputs: dict[str, str] = field(default_factory=dict)
    output_sets: list[str] = field(default_factory=list)
    unmatched_count: int = 0
    unmatched: list[str] = field(default_factory=list)
    content_hash: str = ""
    identical_to: int | None = None
    skips_bad_rows: bool = False
    is_readable: bool = True  # False once nothing further could be read

    def add(self, problem: RowProblem) -> None:
        self.problem_count += 1
        if len(self.problems) < LISTED:
            self.problems.append(problem)

    def add_fatal(self, fault: FileProblem) -> None:
        """The file ends here: nothing of it may be kept, not even with bad rows left out."""
        self.is_readable = False
        self.add(RowProblem(fault.line or 0, fault.column or "", fault.code, fault.text))

    def add_unmatched(self, key: str) -> None:
        self.unmatched_count += 1
        if len(self.unmatched) < LISTED:
            self.unmatched.append(key)

    @property
    def is_storable(self) -> bool:
        return self.is_readable and (self.skips_bad_rows or not self.problem_count)

    def listed_problems(self) -> list[dict[str, Any]]:
        """The first problems as an upload keeps them; line and column None where unknown."""
        return [
            {
                "line": problem.line or None,
                "column": problem.column or None,
                "code": problem.code,
                "message": problem.said,
            }
            for problem in self.problems
        ]

    def as_json(self) -> dict[str, Any]:
        """The report without its problems, which an upload keeps beside it."""
        return {
            "rows": self.row_count,
            "cases": self.case_count,
            "outputs": self.outputs,
            "duplicate_inputs": self.duplicate_inputs,
            "repeats": self.repeats,
            "near_count": self.near_count,
            "near": self.near,
            "identical_outputs": self.identical_outputs,
            "output_sets": self.output_sets,
            "unmatched": self.unmatched_count,
            "unmatched_ids": self.unmatched,
            "content_hash": self.content_hash,
            "identical_to": self.identical_to,
            "is_readable": self.is_readable,
            "skips_bad_rows": self.skips_bad_rows,
        }


class RefusedError(Exception):
    """The rows have problems and nothing of them was stored."""

    def __init__(self, report: Report) -> None:
        self.report = report
        first = report.problems[0].message if report.problems else ""
        more = f"{report.problem_count:,} problems; the first: " if report.problem_count > 1 else ""
        super().__init__(f"{more}{first}")


class StoppedError(Exception):
    """Somebody cancelled the work, or another process has taken it over."""
