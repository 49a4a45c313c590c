"""What a command shows of rows that it could export: the figures of a run and the first cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scoring.core.files.writers import JsonText, cell_text
from scoring.core.number_text import number_text
from scoring.engine import report
from scoring.engine.report import Report, one_line
from scoring.management.console import counted, table
from scoring.models import Case, DatasetVersion, Score, Status
from scoring.models.case_table import CaseRow, CaseTable

FIRST: Final = 20  # cases
WIDTH: Final = 60  # characters of a text
_SIGNS: Final = re.compile(r"[&<>|\[\]*_`#@~\\]")  # what Markdown or a site's comments act on
_UNSCORED: Final = {status.value: status.label for status in Status}


class Glance(NamedTuple):
    """Lines, then a table of the first cases, then what else there is."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    foot: str


def as_table(source: CaseTable | DatasetVersion) -> str:
    """For a terminal: a line per scorer and the verdicts of a run, then the first cases."""
    if isinstance(source, DatasetVersion):
        return f"{_described(source)}\n\n{_aligned(_of_version(source))}"
    told = Report(source.run, None, None, ())
    return f"{_title(source)}\n\n{report.table(told)}\n{_aligned(_of_run(source))}"


def as_markdown(source: CaseTable | DatasetVersion) -> str:
    """The same, for a pull request."""
    if isinstance(source, DatasetVersion):
        return f"### {_escaped(_described(source))}\n\n{_piped(_of_version(source))}"
    told = Report(source.run, None, None, ())
    return f"{report.markdown(told)}\n{_piped(_of_run(source))}"


def _title(cases: CaseTable) -> str:
    run = cases.run
    return one_line(f"{run.output_set.version.dataset}: {run.name}, {run.state}")


def _described(version: DatasetVersion) -> str:
    source = f", from {version.source_name}" if version.source_name else ""
    return one_line(f"{version}: {counted(version.case_count, 'case')}{source}")


def _of_run(cases: CaseTable) -> Glance:
    page = cases.page(size=FIRST)
    head = ("case", "verdict", *(scorer.name for scorer in cases.scorers), "output")
    if not page.rows:
        return Glance(head, [], "no case passes the filters")
    total = "" if cases.count is None else f" of {cases.count:,}"
    foot = f"the first {len(page.rows)}{total}" if page.has_next else "no more cases"
    return Glance(head, [list(_cells(row)) for row in page.rows], foot)


def _cells(row: CaseRow) -> Iterator[str]:
    yield _cut(f"{row.key} (trial {row.place.trial})" if row.place.trial else row.key)
    yield row.verdict
    yield from map(_score, row.scores)
    yield _cut(f"no output: {row.error}" if row.output is None else row.output)


def _score(score: Score | None) -> str:
    if score is None:
        return "-"
    return _UNSCORED[score.status] if score.score is None else number_text(score.score, 3)


def _of_version(version: DatasetVersion) -> Glance:
    cases = list(version.cases.order_by("position")[:FIRST])
    rows = [[str(case.position), *map(_cut, _texts(case))] for case in cases]
    more = version.case_count - len(cases)
    foot = f"the first {len(cases)} of {version.case_count:,}" if more else "no more cases"
    return Glance(("no.", "case", "input", "expected", "tags"), rows, foot)


def _texts(case: Case) -> Iterator[str]:
    yield case.key
    yield cell_text(JsonText(case.input_json))
    yield "-" if case.expected_json is None else cell_text(JsonText(case.expected_json))
    yield ", ".join(case.tags)


def _cut(text: str) -> str:
    line = one_line(text[: 4 * WIDTH])
    return line if len(line) <= WIDTH and len(text) <= 4 * WIDTH else f"{line[: WIDTH - 1]}…"


def _aligned(glance: Glance) -> str:
    return "\n".join([*table(glance.head, glance.rows), "", glance.foot]) + "\n"


def _piped(glance: Glance) -> str:
    rows = [glance.head, ("---",) * len(glance.head), *glance.rows]
    rows[2:] = [[_escaped(cell) for cell in row] for row in rows[2:]]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", glance.foot]) + "\n"


def _escaped(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"&#{ord(sign[0])};", text)
