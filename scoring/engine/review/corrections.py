"""Corrections of expected values: proposed by reviewers, approved as a new dataset version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from django.db import transaction

from scoring.core.contract import Json
from scoring.core.files import MISSING, Missing
from scoring.engine.drafts.case_content import TypedCase
from scoring.engine.drafts.publishing import publish_contents
from scoring.engine.jobs.progress import ReportShare, ignore_share
from scoring.models import (
    AuditEntry,
    Case,
    Correction,
    CorrectionState,
    Dataset,
    DatasetVersion,
    Notice,
    Output,
    Run,
    User,
)

_PER_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters
NOTICE: Final = 300  # characters of a notice
_NAMED: Final = 5  # cases that a message names

Content = tuple[str | None, ...]  # the columns of CONTENT


class CorrectionError(Exception):
    """The correction cannot be proposed or decided; the text says why."""


class CorrectionRow(NamedTuple):
    """A correction beside the case as its author saw it, and as the latest version has it."""

    correction: Correction
    seen: Case | None
    latest: Case | None

    @property
    def is_outdated(self) -> bool:
        """Whether the case changed since in any way, or is gone."""
        if self.latest is None or self.seen is None:
            return True
        return self.latest.content != self.seen.content

    @property
    def proposed(self) -> Case | None:
        """The case that the author saw with the proposed value, not stored."""
        if self.seen is None:
            return None
        expected = self.correction.expected_json
        return Case(key=self.seen.key, input_json=self.seen.input_json, expected_json=expected)


@dataclass(frozen=True)
class CorrectionList:
    """Corrections of a dataset with their cases; a few queries for all."""

    dataset: Dataset
    corrections: Sequence[Correction]

    def rows(self) -> list[CorrectionRow]:
        """In the order of the corrections."""
        latest = self.dataset.latest
        wanted: dict[int, set[str]] = {}
        for each in self.corrections:
            wanted.setdefault(each.base_id, set()).add(each.key)
            if latest:
                wanted.setdefault(latest.pk, set()).add(each.key)
        cases = {version: _cases(version, keys) for version, keys in wanted.items()}
        of_latest = cases.get(latest.pk, {}) if latest else {}
        return [
            CorrectionRow(each, cases[each.base_id].get(each.key), of_latest.get(each.key))
            for each in self.corrections
        ]


def propose(
    run: Run, output: Output, expected: Json | Missing, *, by: User, note: str = ""
) -> Correction:
    """Another expected value for the output's case; for MISSING and None nothing is expected.

    Raises ContentError for a value that no case can hold, and CorrectionError where it is the
    expected value already, or where the latest version has another case than the run.
    """
    version = run.output_set.version
    dataset, case = version.dataset, output.case
    value = MISSING if expected is None else expected
    expected_json = replace(TypedCase.of(case), expected=value).columns()[1]
    if expected_json == case.expected_json:
        raise CorrectionError("This is the expected value already.")
    latest = _cases(dataset.latest_id, [case.key]).get(case.key) if dataset.latest_id else None
    if latest is None or latest.expected_json != case.expected_json:
        raise CorrectionError(
            "The latest version of the dataset no longer has the expected value that this run was "
            "scored with. Propose one on a run of that version."
        )
    if latest.content != case.content:
        raise CorrectionError(
            "The case changed in the latest version of the dataset. Propose another expected value "
            "on a run of that version."
        )
    with transaction.atomic():
        correction = Correction.objects.create(
            dataset=dataset,
            base=version,
            run=run,
            output=output,
            key=case.key,
            expected_json=expected_json,
            note=note.strip(),
            author=by,
        )
        old, new = {"expected": case.expected_json}, {"expected": expected_json}
        AuditEntry.objects.record(
            run.team, by, "correction.proposed", correction, old=old, new={"case": case.key, **new}
        )
    return correction


def withdraw(correction: Correction, *, by: User) -> None:
    """Take back one's own open correction. Raises CorrectionError, and DecidedError."""
    if correction.author_id != by.pk:
        raise CorrectionError("Only its author may withdraw a correction.")
    Correction.objects.decide([correction], CorrectionState.WITHDRAWN, by=by)


def reject(corrections: Sequence[Correction], reason: str, *, by: User) -> None:
    """Reject these for a reason. Raises CorrectionError, and DecidedError."""
    _check_decision(corrections, by)
    if not reason.strip():
        raise CorrectionError("Enter a reason.")
    with transaction.atomic():
        Correction.objects.decide(
            corrections, CorrectionState.REJECTED, by=by, reason=reason.strip()
        )
        notify_authors(corrections, f"rejected: {reason.strip()}", by=by)


def approve(
    dataset: Dataset,
    corrections: Sequence[Correction],
    *,
    by: User,
    report: ReportShare = ignore_share,
) -> DatasetVersion:
    """The latest version with these expected values as the dataset's next one: all or none.

    `report` takes the share that is done. Raises CorrectionError, DecidedError where somebody
    decided on one of them meanwhile, and DraftError where another version was published meanwhile.
    """
    base, contents = plan_approval(dataset, corrections, by)
    message = f"Corrected expected values: {_listed(sorted(contents))}"

    def finish(version: DatasetVersion) -> None:
        Correction.objects.decide(corrections, CorrectionState.APPROVED, by=by, version=version)
        notify_authors(corrections, f"approved: version {version.number}", by=by)

    source = source_name(base)
    return publish_contents(base, contents, message, by, finish, source=source, report=report)


def source_name(base: DatasetVersion) -> str:
    """Where the cases of a version that corrects this one come from, in words."""
    return f"corrections of version {base.number}"


def plan_approval(
    dataset: Dataset, corrections: Sequence[Correction], by: User
) -> tuple[DatasetVersion, Mapping[str, Content]]:
    """The version that is corrected, and the columns of the corrected cases by key.

    Raises CorrectionError where these cannot be approved together, or not by this person.
    """
    _check_decision(corrections, by)
    base = dataset.latest
    if base is None:
        raise CorrectionError("The dataset has no version.")
    rows = CorrectionList(dataset, corrections).rows()
    if outdated := [row.correction.key for row in rows if row.is_outdated]:
        raise CorrectionError(
            f"The case changed since this was proposed: {_listed(outdated)}. Reject it, "
            "or propose it again on a run of the latest version."
        )
    twice = [key for key, count in Counter(each.key for each in corrections).items() if count > 1]
    if twice:
        raise CorrectionError(f"Choose one correction for a case: {_listed(twice)}.")
    contents = {
        row.latest.key: _corrected(row.latest, row.correction.expected_json)
        for row in rows
        if row.latest
    }
    return base, contents


def notify_authors(corrections: Sequence[Correction], outcome: str, *, by: User) -> None:
    """A notice of what was decided to each author, but for those who decided themselves.

    A notice belongs to a run, so there is none where the runs are gone.
    """
    by_author: dict[User, list[Correction]] = {}
    for each in corrections:
        if each.author and each.author != by and each.run_id:
            by_author.setdefault(each.author, []).append(each)
    for author, own in by_author.items():
        keys = _listed([each.key for each in own])
        noun = "correction" if len(own) == 1 else "corrections"
        text = f"Your {noun} of {keys} {'was' if len(own) == 1 else 'were'} {outcome}"
        path = f"/datasets/{own[0].dataset.uuid}/corrections/"
        if len(text) > NOTICE:
            text = f"{text[: NOTICE - 1]}…"
        Notice.objects.create(user=author, run=own[0].run, text=text, path=path)


def _corrected(case: Case, expected_json: str | None) -> Content:
    """The case's columns, in the order of CONTENT, with another expected value."""
    input_json, _, *rest = case.content
    return (input_json, expected_json, *rest)


def _check_decision(corrections: Sequence[Correction], by: User) -> None:
    if not corrections:
        raise CorrectionError("Select at least one correction.")
    if own := [each.key for each in corrections if each.author_id == by.pk]:
        raise CorrectionError(f"You cannot decide on your own corrections: {_listed(own)}.")


def _cases(version: int, keys: Iterable[str]) -> dict[str, Case]:
    """The version's cases of these keys, by key."""
    wanted, found = sorted(keys), {}
    for start in range(0, len(wanted), _PER_QUERY):
        part = Case.objects.filter(version=version, key__in=wanted[start : start + _PER_QUERY])
        found.update({case.key: case for case in part.order_by()})
    return found


def _listed(keys: Sequence[str]) -> str:
    """A few of the keys, and how many more there are."""
    more = len(keys) - _NAMED
    return ", ".join(keys[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
