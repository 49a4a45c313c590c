"""Reviews from files and from JSON bodies: matched to a run's outputs, and stored or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from scoring.core import json_text
from scoring.core.contract import CaseProblem, Json
from scoring.core.files import FileProblem, Notes, Row, RowProblem
from scoring.core.questions import AnswerError, Questions
from scoring.engine.imports.json_body import BodyError, BodyProblem
from scoring.engine.imports.report import MAX_LISTED
from scoring.engine.review.review_file import COLUMNS, ReviewRow, read_review, read_reviews
from scoring.models import (
    AuditEntry,
    Output,
    OutputSet,
    QuestionSet,
    Review,
    ReviewTask,
    Run,
    User,
)

MAX_REVIEWS: Final = 10_000  # reviews in one call
_BATCH: Final = 900  # rows a query names; SQLite may be built for 999 parameters
_WRITTEN: Final = ("verdict", "score", "note", "failure_tags", "answers", "changed_at", "revision")


class NamedReview(NamedTuple):
    """A review of the file that was not stored, by its line and what it names."""

    line: int
    key: str
    trial: int
    reviewer: str


@dataclass
class ReviewReport:
    """What an import found. Of `kept`, `unmatched` and `problems` the first hundred are listed.

    `kept` are reviews that members gave here by hand and that differ from the file's; `unmatched`
    name no output of the run. `withheld` rows are about outputs that the importer is yet to review:
    whether they were new or changed anything is not told.
    """

    row_count: int = 0
    created: int = 0
    changed: int = 0
    unchanged: int = 0
    withheld: int = 0
    kept_count: int = 0
    kept: list[NamedReview] = field(default_factory=list)
    unmatched_count: int = 0
    unmatched: list[NamedReview] = field(default_factory=list)
    problem_count: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name, as the audit log, the API and the command show them."""
        return {
            "rows": self.row_count,
            "created": self.created,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "kept": self.kept_count,
            "unmatched": self.unmatched_count,
            "withheld": self.withheld,
        }

    def add_problem(self, problem: RowProblem) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_LISTED:
            self.problems.append(problem)

    def add_kept(self, row: ReviewRow) -> None:
        self.kept_count += 1
        if len(self.kept) < MAX_LISTED:
            self.kept.append(_name(row))

    def add_unmatched(self, row: ReviewRow) -> None:
        self.unmatched_count += 1
        if len(self.unmatched) < MAX_LISTED:
            self.unmatched.append(_name(row))


class ReviewsRefusedError(Exception):
    """Rows of the file have problems, and nothing of it was stored."""

    def __init__(self, report: ReviewReport) -> None:
        self.report = report
        super().__init__(f"{report.problem_count:,} problems")


def import_review_file(
    run: Run,
    stream: BinaryIO,
    name: str,
    *,
    by: User | None,
    reviewer: str = "",
    is_dry_run: bool = False,
    blind: frozenset[int] = frozenset(),
) -> ReviewReport:
    """Store the reviews of a file on the run's outputs, all of them or none.

    `name` tells the file's format; `reviewer` is whose reviews they are where a row does not say
    so. A dry run stores nothing. The report does not tell what became of rows about `blind`
    outputs. Raises ReviewsRefusedError.
    """
    report = ReviewReport()
    rows: list[ReviewRow] = []
    try:
        read = read_reviews(stream, name, report.notes, reviewer)
        for row in _unrepeated(_with_answers(run, read)):
            report.row_count += 1
            if isinstance(row, ReviewRow):
                rows.append(row)
            else:
                report.add_problem(row)
    except FileProblem as fault:
        report.add_problem(RowProblem(fault.line or 0, fault.column or "", fault.code, fault.text))
    if report.problem_count:
        raise ReviewsRefusedError(report)
    _store(run, rows, report, by, blind, is_dry_run=is_dry_run)
    return report


def import_reviews(
    run: Run,
    reviews: Sequence[Mapping[str, Json]],
    *,
    by: User | None,
    blind: frozenset[int] = frozenset(),
) -> ReviewReport:
    """Store up to MAX_REVIEWS reviews of a JSON body, all of them or none.

    A review is {key, trial, reviewer, verdict, score, note, failure_tags, answers, date}, as
    exports write it. `blind` as in `import_review_file`. Raises BodyError.
    """
    if len(reviews) > MAX_REVIEWS:
        text = f"These are {len(reviews):,}; {MAX_REVIEWS:,} are possible in one call."
        raise BodyError([BodyProblem("reviews", "too_many_rows", text)], 1)
    rows: list[ReviewRow] = []
    problems: list[BodyProblem] = []
    read = (_read_object(index, values) for index, values in enumerate(reviews))
    for index, row in enumerate(_unrepeated(_with_answers(run, read))):
        if isinstance(row, ReviewRow):
            rows.append(row)
        else:
            column = row.column.removeprefix("$")
            path = f"reviews[{index}]" + (f".{column}" if column else "")
            problems.append(BodyProblem(path, row.code, row.short_message))
    if problems:
        raise BodyError(problems[:MAX_LISTED], len(problems))
    report = ReviewReport(row_count=len(rows))
    _store(run, rows, report, by, blind)
    return report


def _name(row: ReviewRow) -> NamedReview:
    return NamedReview(row.line, row.key, row.trial, row.reviewer)


def _read_object(index: int, values: Json | Mapping[str, Json]) -> ReviewRow | RowProblem:
    if not isinstance(values, Mapping):
        return RowProblem(index + 1, "", "wrong_shape", "This is not an object.")
    unknown = next((name for name in values if name not in COLUMNS), None)
    if unknown is not None:
        return RowProblem(index + 1, unknown, "unknown_field", f"Known are {', '.join(COLUMNS)}.")
    try:
        json_text.check_value(dict(values), refuse_nul=True)
    except CaseProblem as fault:
        return RowProblem(index + 1, fault.where, fault.code, fault.text)
    return read_review(Row(index + 1, dict(values)))


def _with_answers(
    run: Run, rows: Iterable[ReviewRow | RowProblem]
) -> Iterator[ReviewRow | RowProblem]:
    """The rows, where answers to questions that the team asks are what those may be answered by."""
    asked: dict[str, Questions | None] = {}
    for row in rows:
        yield _read_answers(run, row, asked) if isinstance(row, ReviewRow) and row.answers else row


def _read_answers(
    run: Run, row: ReviewRow, asked: dict[str, Questions | None]
) -> ReviewRow | RowProblem:
    """The row, or what is wrong with an answer; `asked` keeps the team's questions by label."""
    read = dict(row.answers)
    for label, answers in row.answers.items():
        if label not in asked:
            known = QuestionSet.objects.filter(team=run.team_id, label=label).first()
            asked[label] = known.questions if known else None
        if (questions := asked[label]) is None:
            continue
        try:
            read[label] = questions.read(answers)
        except AnswerError as fault:
            message = f"Line {row.line:,}, column answers: {label}: {fault}"
            return RowProblem(row.line, "answers", "invalid_answer", message)
    return row._replace(answers=read)


def _unrepeated(
    rows: Iterable[ReviewRow | RowProblem],
) -> Iterator[ReviewRow | RowProblem]:
    """The rows, where a second review of the same person for the same output is a problem."""
    lines: dict[tuple[str, int, str], int] = {}
    for row in rows:
        if not isinstance(row, ReviewRow):
            yield row
            continue
        first = lines.setdefault((row.key, row.trial, row.reviewer.casefold()), row.line)
        if first == row.line:
            yield row
            continue
        text = f"{row.reviewer} reviewed this output in row {first:,} already. Leave one out."
        message = f"Line {row.line:,}, column key: {text}"
        yield RowProblem(row.line, "key", "duplicate_review", message)


def _store(
    run: Run,
    rows: Sequence[ReviewRow],
    report: ReviewReport,
    by: User | None,
    blind: frozenset[int],
    *,
    is_dry_run: bool = False,
) -> None:
    with transaction.atomic():
        # One import at a time, whichever of its runs: reviews belong to the outputs.
        OutputSet.objects.select_for_update().get(pk=run.output_set_id)
        created, changed = _sort_out(run, rows, report, blind)
        if is_dry_run:
            return
        inserted = _insert(run, created, report, blind)
        if not (inserted or changed):
            return
        Review.objects.bulk_update(changed, _WRITTEN, batch_size=_BATCH // len(_WRITTEN))
        _mark_tasks([*inserted, *changed])
        AuditEntry.objects.record(run.team, by, "reviews.imported", run, new=report.counts)


def _insert(
    run: Run,
    created: Sequence[tuple[ReviewRow, Review]],
    report: ReviewReport,
    blind: frozenset[int],
) -> list[Review]:
    """Those of the new reviews that are stored now.

    Where a member has given a first review of their own since the others were read, that one stays.
    """
    reviews = [review for _, review in created]
    Review.objects.bulk_create(reviews, batch_size=_BATCH, ignore_conflicts=True)
    stored: set[UUID] = set()
    for start in range(0, len(reviews), _BATCH):
        batch = [review.uuid for review in reviews[start : start + _BATCH]]
        stored |= set(Review.objects.filter(uuid__in=batch).values_list("uuid", flat=True))
    if len(stored) < len(reviews):
        present = _known_reviews(run)
        for row, review in created:
            if review.uuid in stored or review.output_id in blind:
                continue
            report.created -= 1
            if _differs(row, present[_identity(review)]):
                report.add_kept(row)
            else:
                report.unchanged += 1
    return [review for review in reviews if review.uuid in stored]


def _known_reviews(run: Run) -> dict[tuple[int, int | str], Review]:
    """Those of the run by output and reviewer, locked until the transaction ends."""
    return {_identity(review): review for review in Review.objects.of_run(run).select_for_update()}


def _identity(review: Review) -> tuple[int, int | str]:
    return review.output_id, review.reviewer_id or review.reviewer_name


def _sort_out(
    run: Run, rows: Sequence[ReviewRow], report: ReviewReport, blind: frozenset[int]
) -> tuple[list[tuple[ReviewRow, Review]], list[Review]]:
    """The new reviews, each with its row, and the changed ones; the report counts all.

    What became of rows about `blind` outputs it leaves open.
    """
    outputs = _outputs_of(run, {row.key for row in rows})
    members = _members_of(run)
    known = _known_reviews(run)
    created: list[tuple[ReviewRow, Review]] = []
    changed: list[Review] = []
    for row in rows:
        output = outputs.get((row.key, row.trial))
        if output is None:
            report.add_unmatched(row)
            continue
        member = members.get(row.reviewer.casefold())
        named = known.get((output, row.reviewer))  # perhaps from before they were a member
        review = (known.get((output, member.pk)) or named) if member else named
        if review is None:
            created.append((row, _new_review(run, row, output, member)))
        elif not _differs(row, review):
            report.unchanged += output not in blind
        elif not review.is_imported:
            if output not in blind:
                report.add_kept(row)
        else:
            _change(review, row)
            changed.append(review)
        report.withheld += output in blind
    report.created = sum(review.output_id not in blind for _, review in created)
    report.changed = sum(review.output_id not in blind for review in changed)
    return created, changed


def _outputs_of(run: Run, keys: Collection[str]) -> dict[tuple[str, int], int]:
    """The ids of the run's outputs for these keys, by key and trial."""
    listed = sorted(keys)
    found: dict[tuple[str, int], int] = {}
    outputs = Output.objects.filter(
        output_set=run.output_set_id, case__version=run.output_set.version_id
    )
    for start in range(0, len(listed), _BATCH):
        batch = outputs.filter(case__key__in=listed[start : start + _BATCH])
        for key, trial, pk in batch.values_list("case__key", "trial", "pk"):
            found[key, trial] = pk
    return found


def _members_of(run: Run) -> dict[str, User]:
    """The members of the run's team by e-mail address, without its case."""
    members = User.objects.filter(memberships__team=run.team_id)
    return {member.email.casefold(): member for member in members}


def _new_review(run: Run, row: ReviewRow, output: int, member: User | None) -> Review:
    review = Review(output_id=output, output_set_id=run.output_set_id, reviewer=member)
    review.is_imported = True
    if member is None:
        review.reviewer_name = row.reviewer
    _fill(review, row)
    return review


def _differs(row: ReviewRow, review: Review) -> bool:
    """Whether the row says anything else; a row without a date leaves that of the review."""
    said = (review.verdict, review.score, review.note, review.failure_tags, review.answers)
    is_same = said == (row.verdict, row.score, row.note, row.failure_tags, row.answers)
    return not is_same or row.date not in (None, review.changed_at)


def _change(review: Review, row: ReviewRow) -> None:
    _fill(review, row)
    review.revision += 1


def _fill(review: Review, row: ReviewRow) -> None:
    review.verdict, review.score, review.note = row.verdict, row.score, row.note
    review.failure_tags, review.answers = row.failure_tags, row.answers
    review.changed_at = row.date or timezone.now()


def _mark_tasks(reviews: Iterable[Review]) -> None:
    """The open review tasks of members whose reviews came in are done."""
    outputs: dict[tuple[int, frozenset[str]], list[int]] = {}
    for review in reviews:
        if review.reviewer_id is not None:
            answered = review.reviewer_id, frozenset(review.answers)
            outputs.setdefault(answered, []).append(review.output_id)
    people = User.objects.in_bulk({reviewer for reviewer, _ in outputs})
    for (reviewer, labels), ids in outputs.items():
        for start in range(0, len(ids), _BATCH):
            of_outputs = ReviewTask.objects.filter(output__in=ids[start : start + _BATCH])
            of_outputs.answered_by(labels).finish(people[reviewer])
