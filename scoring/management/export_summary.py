"""The table and Markdown forms of `export`: the figures of a run and the first cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scoring.core.files.writers import JsonText, cell_text
from scoring.core.wording.numbers import number_text
from scoring.engine.reports import run_summary
from scoring.engine.reports.run_summary import Report, one_line
from scoring.management.console import count_text, text_table
from scoring.models import Case, DatasetVersion, Status
from scoring.models.case_list.table import CaseRow, CaseTable
from scoring.models.runs.score import ScoreRow

MAX_CASES: Final = 20  # cases
WIDTH: Final = 60  # characters of a text
_SIGNS: Final = re.compile(r"[&<>|\[\]*_`#@~\\]")  # what Markdown or a site's comments act on
_UNSCORED: Final = {status.value: status.label for status in Status}


#: The header and the rows of a table of the first cases, and a line on the others.
Summary = tuple[Sequence[str], Sequence[Sequence[str]], str]


def as_table(source: CaseTable | DatasetVersion) -> str:
    """For a terminal: a line per scorer and the verdicts of a run, then the first cases."""
    if isinstance(source, DatasetVersion):
        start, (head, rows, foot) = f"{_describe(source)}\n", _of_version(source)
    else:
        run = source.run
        title = one_line(f"{run.output_set.version.dataset}: {run.name}, {run.state}")
        start = f"{title}\n\n{run_summary.as_table(Report(run, None, None, ()))}"
        head, rows, foot = _of_run(source)
    return "\n".join([start, *text_table(head, rows), "", foot]) + "\n"


def as_markdown(source: CaseTable | DatasetVersion) -> str:
    """The same, for a pull request."""
    if isinstance(source, DatasetVersion):
        return f"### {_escape(_describe(source))}\n\n{_markdown_table(_of_version(source))}"
    figures = run_summary.as_markdown(Report(source.run, None, None, ()))
    return f"{figures}\n{_markdown_table(_of_run(source))}"


def _describe(version: DatasetVersion) -> str:
    source = f", from {version.source_name}" if version.source_name else ""
    return one_line(f"{version}: {count_text(version.case_count, 'case')}{source}")


def _of_run(cases: CaseTable) -> Summary:
    page = cases.page(size=MAX_CASES)
    head = ("case", "verdict", *(scorer.name for scorer in cases.scorers), "output")
    if not page.rows:
        return head, [], "no case passes the filters"
    total = "" if cases.count is None else f" of {cases.count:,}"
    foot = f"the first {len(page.rows)}{total}" if page.has_next else "no more cases"
    return head, [list(_cells(row)) for row in page.rows], foot


def _cells(row: CaseRow) -> Iterator[str]:
    yield _cut(f"{row.key} (trial {row.place.trial})" if row.place.trial else row.key)
    yield row.verdict
    yield from map(_score, row.scores)
    yield _cut(f"no output: {row.error}" if row.output is None else row.output)


def _score(score: ScoreRow | None) -> str:
    if score is None:
        return "-"
    return _UNSCORED[score.status] if score.score is None else number_text(score.score, 3)


def _of_version(version: DatasetVersion) -> Summary:
    cases = list(version.cases.order_by("position")[:MAX_CASES])
    rows = [[str(case.position), *map(_cut, _texts(case))] for case in cases]
    more = version.case_count - len(cases)
    foot = f"the first {len(cases)} of {version.case_count:,}" if more else "no more cases"
    return ("no.", "case", "input", "expected", "tags"), rows, foot


def _texts(case: Case) -> Iterator[str]:
    yield case.key
    yield cell_text(JsonText(case.input_json))
    yield "-" if case.expected_json is None else cell_text(JsonText(case.expected_json))
    yield ", ".join(case.tags)


def _cut(text: str) -> str:
    line = one_line(text[: 4 * WIDTH])
    return line if len(line) <= WIDTH and len(text) <= 4 * WIDTH else f"{line[: WIDTH - 1]}…"


def _markdown_table(summary: Summary) -> str:
    head, rows, foot = summary
    cells = [head, ("---",) * len(head), *([_escape(cell) for cell in row] for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([*lines, "", foot]) + "\n"


def _escape(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"&#{ord(sign[0])};", text)
