"""Corrections: proposed, approved whole by somebody else as a version, rejected, withdrawn."""

from __future__ import annotations

import pytest

from scoring.core.contract import Json
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError, TypedCase, open_draft, save_case
from scoring.engine.review import corrections
from scoring.engine.review.corrections import CorrectionError, CorrectionList
from scoring.models import (
    AuditEntry,
    Case,
    Correction,
    CorrectionState,
    Dataset,
    DatasetVersion,
    Draft,
    Notice,
    Output,
    Run,
    User,
)
from scoring.models.reviews.correction import DecidedError
from tests.support.concurrency import locked_tables

pytestmark = pytest.mark.django_db


def propose(run: Run, by: User, position: int, value: Json) -> Correction:
    output = Output.objects.get(output_set=run.output_set, case__position=position)
    return corrections.propose(run, output, value, by=by, note="typo")


def dataset_of(run: Run) -> Dataset:
    return Dataset.objects.get(pk=run.output_set.version.dataset_id)


def expected_of(version: DatasetVersion) -> list[object]:
    return [case.expected for case in Case.objects.filter(version=version).order_by("position")]


def test_several_are_approved_as_one_version_and_nothing_else_changes(
    run: Run, rita: User, erin: User
) -> None:
    made = [propose(run, rita, 2, "new"), propose(run, rita, 5, {"b": 1, "a": None})]
    version = corrections.approve(dataset_of(run), made, by=erin)
    assert (version.number, version.created_by) == (2, erin)
    same = "abcdefghij"
    assert expected_of(version) == [same, "new", same, same, {"b": 1, "a": None}, same]
    assert version.message == "Corrected expected values: case-2, case-5"
    old = Case.objects.filter(version=run.output_set.version).order_by("position")
    new = Case.objects.filter(version=version).order_by("position")
    untouched = [(a.content, b.content) for a, b in zip(old, new, strict=True) if a.key != "case-2"]
    assert sum(a != b for a, b in untouched) == 1
    assert {each.state for each in Correction.objects.all()} == {CorrectionState.APPROVED}
    assert set(Correction.objects.values_list("version", "decided_by")) == {(version.pk, erin.pk)}
    entry = AuditEntry.objects.get(action="correction.approved")
    assert entry.new == {"cases": ["case-2", "case-5"], "count": 2, "version": 2}
    assert AuditEntry.objects.filter(action="version.created").count() == 1


def test_nobody_decides_on_their_own(run: Run, erin: User) -> None:
    made = propose(run, erin, 1, "x")
    for decide in (
        lambda: corrections.approve(dataset_of(run), [made], by=erin),
        lambda: corrections.reject([made], "no", by=erin),
    ):
        with pytest.raises(CorrectionError, match="You cannot decide on your own"):
            decide()
    corrections.withdraw(made, by=erin)
    assert Correction.objects.get().state == CorrectionState.WITHDRAWN
    with pytest.raises(DecidedError):
        corrections.withdraw(made, by=erin)


def test_a_rejection_needs_a_reason_and_only_the_author_withdraws(
    run: Run, rita: User, erin: User
) -> None:
    made = propose(run, rita, 1, "x")
    with pytest.raises(CorrectionError, match="Enter a reason"):
        corrections.reject([made], " ", by=erin)
    with pytest.raises(CorrectionError, match="Only its author"):
        corrections.withdraw(made, by=erin)
    with pytest.raises(CorrectionError, match="Select at least one"):
        corrections.reject([], "no", by=erin)
    corrections.reject([made], " It is right. ", by=erin)
    assert Correction.objects.get().reason == "It is right."
    assert dataset_of(run).versions.count() == 1


def test_the_second_of_two_approvals_changes_nothing(run: Run, rita: User, erin: User) -> None:
    made = [propose(run, rita, 1, "x"), propose(run, rita, 2, "y")]
    stale = dataset_of(run)
    assert stale.latest  # read before the first approval
    corrections.approve(dataset_of(run), made[:1], by=erin)
    with pytest.raises(DraftError, match="published meanwhile"):
        corrections.approve(stale, made[1:], by=erin)
    with pytest.raises(CorrectionError, match="changed since this was proposed: case-1"):
        corrections.approve(dataset_of(run), made, by=erin)
    corrections.reject(made[1:], "no", by=erin)
    with pytest.raises(DecidedError, match="case-2 rejected"):
        corrections.approve(dataset_of(run), made[1:], by=erin)
    assert DatasetVersion.with_loading.count() == 2
    assert Case.objects.count() == 12


def test_two_for_one_case_are_not_approved_together(run: Run, rita: User, erin: User) -> None:
    made = [propose(run, rita, 1, "x"), propose(run, rita, 1, "y")]
    with pytest.raises(CorrectionError, match="Choose one correction for a case: case-1"):
        corrections.approve(dataset_of(run), made, by=erin)


def test_an_open_draft_stays_and_moves_by_its_own_rules(run: Run, rita: User, erin: User) -> None:
    draft = open_draft(dataset_of(run), erin)
    for key in ("case-1", "case-2"):
        texts = TypedCase(input="q", expected="drafted")
        save_case(draft, key, texts, erin, 0)
    made = propose(run, rita, 1, "corrected")
    version = corrections.approve(dataset_of(run), [made], by=erin)
    assert expected_of(version)[:2] == ["corrected", "abcdefghij"]
    draft = Draft.objects.get()
    assert draft.is_open
    assert draft.is_behind
    assert drafts.rebase_draft(draft, erin) == 1  # case-1 changed in both
    assert draft.edits.get(is_conflict=True).key == "case-1"


def test_what_cannot_be_expected_or_is_expected_already_is_refused(run: Run, rita: User) -> None:
    with pytest.raises(CorrectionError, match="the expected value already"):
        propose(run, rita, 1, "abcdefghij")
    with pytest.raises(ContentError):
        propose(run, rita, 1, "a\x00b")
    assert not Correction.objects.exists()


def test_an_old_run_proposes_nothing_where_the_latest_version_expects_another_value(
    run: Run, rita: User, erin: User
) -> None:
    corrections.approve(dataset_of(run), [propose(run, rita, 1, "x")], by=erin)
    run = Run.objects.get()
    with pytest.raises(CorrectionError, match="no longer has the expected value"):
        propose(run, rita, 1, "y")
    made = propose(run, rita, 2, "y")  # this case is still the same
    (row,) = CorrectionList(dataset_of(run), [made]).rows()
    assert not row.is_outdated
    assert row.proposed is not None
    assert row.proposed.expected == "y"


def test_nothing_may_be_expected(run: Run, rita: User, erin: User) -> None:
    made = propose(run, rita, 1, None)
    assert (made.expected_json, made.expected) == (None, None)
    (row,) = CorrectionList(dataset_of(run), [made]).rows()
    assert row.proposed is not None
    assert not row.proposed.has_expected
    version = corrections.approve(dataset_of(run), [made], by=erin)
    assert not Case.objects.get(version=version, key="case-1").has_expected
    assert AuditEntry.objects.get(action="correction.proposed").new["expected"] is None


def test_where_nothing_is_expected_that_is_no_correction(run: Run, rita: User) -> None:
    Case.objects.filter(key="case-1").update(expected_json=None)
    with pytest.raises(CorrectionError, match="the expected value already"):
        propose(run, rita, 1, None)
    assert propose(run, rita, 1, "x").expected == "x"


def test_the_author_is_told_of_an_approval(run: Run, rita: User, sam: User, erin: User) -> None:
    ritas = [propose(run, rita, 1, "x"), propose(run, rita, 2, "x")]
    corrections.approve(dataset_of(run), [*ritas, propose(run, sam, 3, "x")], by=erin)
    told = dict(Notice.objects.values_list("user", "text"))
    assert told == {
        rita.pk: "Your corrections of case-1, case-2 were approved: version 2",
        sam.pk: "Your correction of case-3 was approved: version 2",
    }
    notice = Notice.objects.unread_by(rita).get()
    assert notice.path == f"/datasets/{dataset_of(run).uuid}/corrections/"


def test_the_author_is_told_of_a_rejection_and_why(run: Run, rita: User, erin: User) -> None:
    corrections.reject([propose(run, rita, 1, "x")], "It is right. " * 50, by=erin)
    notice = Notice.objects.get(user=rita)
    assert notice.text.startswith("Your correction of case-1 was rejected: It is right. It")
    assert len(notice.text) == 300
    assert notice.text.endswith("…")


def test_nobody_is_told_of_what_they_withdraw_or_once_the_run_is_gone(
    run: Run, rita: User, erin: User
) -> None:
    corrections.withdraw(propose(run, rita, 1, "x"), by=rita)
    made = propose(run, rita, 1, "x")
    Correction.objects.filter(pk=made.pk).update(run=None)
    made.refresh_from_db()
    corrections.reject([made], "no", by=erin)
    assert not Notice.objects.exists()


@pytest.mark.parametrize("field", ["input_json", "metadata_json", "tags_json"])
def test_a_case_that_changed_otherwise_is_not_corrected(
    run: Run, rita: User, erin: User, field: str
) -> None:
    made = propose(run, rita, 1, "x")
    corrections.approve(dataset_of(run), [propose(run, rita, 2, "y")], by=erin)
    run, dataset = Run.objects.get(), dataset_of(run)
    made = Correction.objects.get(pk=made.pk)
    changed = {"input_json": '"another question"', "metadata_json": '{"a":1}', "tags_json": '["t"]'}
    Case.objects.filter(version=dataset.latest, key="case-1").update(**{field: changed[field]})
    (row,) = CorrectionList(dataset, [made]).rows()
    assert row.is_outdated
    with pytest.raises(CorrectionError, match="The case changed since this was proposed: case-1"):
        corrections.approve(dataset, [made], by=erin)
    with pytest.raises(CorrectionError, match="The case changed in the latest version"):
        propose(run, rita, 1, "z")


def test_deciding_locks_the_corrections(
    run: Run, rita: User, erin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [propose(run, rita, 1, "x"), propose(run, rita, 2, "y")]
    locked = locked_tables(monkeypatch, lambda: corrections.reject(made, "no", by=erin))
    assert locked[0] == "scoring_correction"
