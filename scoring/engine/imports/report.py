"""The report on reading a file: counts, problems, and whether it may be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scoring.core.contract import Json
from scoring.core.files import (
    MISSING,
    BlankCells,
    FileProblem,
    Missing,
    Notes,
    PythonCells,
    RowProblem,
)
from scoring.core.files.columns.blank_cells import describe_blanks
from scoring.core.files.columns.slots import Slot
from scoring.core.registry import built_in_types
from scoring.core.scorers.selection import ReferenceConfig

NO_EXPECTED: Final = "No case has an expected output: {types} cannot score."
MAX_NAMED: Final = 5  # unmatched keys in a sentence
MAX_LISTED: Final = 100  # problems and unmatched ids; more are only counted
MARKED: Final = 1_000  # repeats and near duplicates; more are only counted


@dataclass
class ImportReport:
    """Filled while a file is read. `outputs` counts outputs by label.

    `identical_to` is the number of the version that already has exactly these cases, None where
    there is none; `identical_outputs` names, by label, output sets with exactly these outputs, and
    `output_sets` are the UUIDs of the imported ones. `repeats` pairs the positions of cases with
    that of the first of equal input, `near` of similar input, with the similarity; only a dry run
    looks for similar ones.
    """

    row_count: int = 0
    share_read: float = 0.0  # of the file's bytes, now and then
    case_count: int = 0
    outputs: dict[str, int] = field(default_factory=dict)
    problem_count: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    blanks: BlankCells | None = None  # of a table
    literals: PythonCells | None = None  # of a table
    unlabelled: int = 0  # cases without an expected output and references
    empty_expected: int = 0  # cases that expect an empty text
    answer_lists: int = 0  # cases that expect a list of texts
    with_references: int = 0  # cases
    most_references: int = 0  # of one case
    duplicate_inputs: int = 0
    repeats: list[tuple[int, int]] = field(default_factory=list)
    near_count: int = 0
    near: list[tuple[int, int, float]] = field(default_factory=list)
    is_near_known: bool = False  # else nobody has looked yet
    identical_outputs: dict[str, str] = field(default_factory=dict)
    output_sets: list[str] = field(default_factory=list)
    unmatched_count: int = 0
    unmatched: list[str] = field(default_factory=list)
    near_keys: dict[str, str] = field(default_factory=dict)  # of cases, by unmatched key
    content_hash: str = ""
    identical_to: int | None = None
    skips_bad_rows: bool = False
    notes: Notes = field(default_factory=Notes)
    slots: Sequence[Slot] = ()  # what each part of a case gets
    unused_columns: list[str] = field(default_factory=list)  # of a file of outputs
    late_columns: list[str] = field(default_factory=list)  # unused, and not in the sample's rows
    tagged: int = 0  # cases
    most_tags: int = 0  # of one case
    is_readable: bool = True  # False once nothing further could be read

    def add_case(
        self, expected: Json | Missing, references: Sequence[str], tags: Sequence[str]
    ) -> None:
        """Count what a case gives as right answers and as tags."""
        self.unlabelled += (expected is MISSING or expected is None) and not references
        self.empty_expected += expected == "" or "" in references
        if isinstance(expected, list) and expected and all(isinstance(t, str) for t in expected):
            self.answer_lists += 1
        if references:
            self.with_references += 1
            self.most_references = max(self.most_references, len(references))
        if tags:
            self.tagged += 1
            self.most_tags = max(self.most_tags, len(tags))

    @property
    def right_answers(self) -> list[str]:
        """What was understood as several right answers, in words; empty for one a case."""
        of_cases = f"of {self.case_count:,} cases" if self.case_count != 1 else "of 1 case"
        said = []
        if self.unlabelled:
            have = "has" if self.unlabelled == 1 else "have"
            said.append(f"{self.unlabelled:,} {of_cases} {have} no expected output")
        if self.empty_expected:
            what = "an empty text, which every output includes"
            said.append(f"expected: {what}, in {self.empty_expected:,} {of_cases}")
        if self.answer_lists:
            said.append(f"expected: a list of right answers in {self.answer_lists:,} {of_cases}")
        if self.with_references:
            most = f"up to {self.most_references:,} a case"
            said.append(f"references: {most}, in {self.with_references:,} {of_cases}")
        return said

    @property
    def consequences(self) -> list[str]:
        """What follows from what the file lacks, in sentences."""
        lacks_all = self.case_count and self.unlabelled == self.case_count
        return [NO_EXPECTED.format(types=types_that_compare())] if lacks_all else []

    @property
    def slot_line(self) -> str:
        """What each part of a case gets, such as `input ✓ question · expected ✗`."""
        return " · ".join(slot.text for slot in self.slots)

    @property
    def tags(self) -> str:
        """How many tags were understood, in words; "" for none."""
        if not self.tagged:
            return ""
        of_cases = f"{self.case_count:,} cases" if self.case_count != 1 else "1 case"
        most = f"up to {self.most_tags:,}" if self.most_tags > 1 else "one"
        return f"{most} a case, in {self.tagged:,} of {of_cases}"

    @property
    def sentences(self) -> list[str]:
        """All that is said of what was read, as commands and the API say it."""
        tags = self.tags and f"tags: {self.tags}"
        answers = (self.slot_line, *self.consequences, *self.right_answers)
        return [text for text in (*answers, tags, self.python_cells, self.blank_cells) if text]

    @property
    def blank_cells(self) -> str:
        """How many cells of a table are empty, and what they are read as; "" for none."""
        return describe_blanks(self.blanks) if self.blanks else ""

    @property
    def python_cells(self) -> str:
        """Which cells of a table were read as Python's lists and objects; "" for none."""
        return self.literals.sentence if self.literals else ""

    def add(self, problem: RowProblem) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_LISTED:
            self.problems.append(problem)

    def add_fatal(self, fault: FileProblem) -> None:
        """Nothing of the file may be stored, not even with bad rows left out."""
        self.is_readable = False
        self.add(RowProblem(fault.line or 0, fault.column or "", fault.code, fault.text))

    def add_unmatched(self, key: str) -> None:
        self.unmatched_count += 1
        if len(self.unmatched) < MAX_LISTED:
            self.unmatched.append(key)

    def name_unmatched(self) -> str:
        """The first unmatched keys, each with the case that was probably meant."""
        named = [
            f"{key} (did you mean {near}?)" if (near := self.near_keys.get(key)) else key
            for key in sorted(self.unmatched, key=lambda key: key not in self.near_keys)
        ]
        more = self.unmatched_count - MAX_NAMED
        return ", ".join(named[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")

    @property
    def is_storable(self) -> bool:
        return self.is_readable and (self.skips_bad_rows or not self.problem_count)

    def listed_problems(self) -> list[dict[str, Any]]:
        """The first problems as JSON; line and column are None where unknown."""
        return [
            {
                "line": problem.line or None,
                "column": problem.column or None,
                "code": problem.code,
                "message": problem.short_message,
            }
            for problem in self.problems
        ]

    def as_json(self) -> dict[str, Any]:
        """The report without its problems, which are another field of an upload."""
        return {
            "rows": self.row_count,
            "cases": self.case_count,
            "outputs": self.outputs,
            "sentences": self.sentences,
            "slots": self.slot_line,
            "consequences": self.consequences,
            "right_answers": self.right_answers,
            "tags": self.tags,
            "blank_cells": self.blank_cells,
            "python_cells": self.python_cells,
            "duplicate_inputs": self.duplicate_inputs,
            "repeats": self.repeats,
            "near_count": self.near_count,
            "near": self.near,
            "identical_outputs": self.identical_outputs,
            "output_sets": self.output_sets,
            "unmatched": self.unmatched_count,
            "unmatched_ids": self.unmatched,
            "near_ids": list(self.near_keys.items()),
            "content_hash": self.content_hash,
            "identical_to": self.identical_to,
            "notes": [
                {"code": note.code, "count": note.number, "message": note.message}
                for note in self.notes.listed
            ],
            "unused_columns": self.unused_columns,
            "is_readable": self.is_readable,
            "skips_bad_rows": self.skips_bad_rows,
        }


def types_that_compare() -> str:
    """The built-in types that score nothing without an expected output, the first of them named."""
    labels = [
        kind.label for kind in built_in_types().values() if issubclass(kind.config, ReferenceConfig)
    ]
    return f"{labels[0]}, {labels[1]} and {len(labels) - 2} more types"


class RefusedError(Exception):
    """The rows have problems and nothing of them was stored."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        first = report.problems[0].message if report.problems else ""
        more = f"{report.problem_count:,} problems; the first: " if report.problem_count > 1 else ""
        super().__init__(f"{more}{first}")


class StoppedError(Exception):
    """Somebody cancelled the work, or another process has taken it over."""
