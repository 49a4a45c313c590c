"""Reviews of a file are stored whole or not at all, and the same file twice changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.imports.json_body import BodyError
from scoring.engine.review import review_import
from scoring.engine.review.feedback import give_review
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.engine.review.review_import import (
    ReviewReport,
    ReviewsRefusedError,
    import_review_file,
    import_reviews,
)
from scoring.models import (
    AuditEntry,
    Output,
    QueueOrder,
    Review,
    ReviewTask,
    ReviewVerdict,
    Run,
    User,
)
from scoring.models.reviews.review import ReviewQuerySet, StaleReviewError
from tests.support.concurrency import locked_tables

HEAD = "key,reviewer,verdict,score,note,date\n"


def load(run: Run, *lines: str, by: User | None = None, **options: Any) -> ReviewReport:
    content = (HEAD + "".join(f"{line}\n" for line in lines)).encode()
    return import_review_file(run, BytesIO(content), "reviews.csv", by=by, **options)


def stored() -> list[tuple[Any, ...]]:
    columns = ("output__case__key", "reviewer__email", "reviewer_name", "verdict", "score", "note")
    return list(Review.objects.order_by("pk").values_list(*columns))


def entries() -> list[dict[str, Any]]:
    found = AuditEntry.objects.filter(action="reviews.imported").order_by("pk")
    return list(found.values_list("new", flat=True))


def test_members_are_found_by_address_and_others_stay_names(
    run: Run, rita: User, alice: User
) -> None:
    report = load(
        run,
        "case-1,RITA@example.org,pass,0.9,fine,2026-11-20",
        "case-1,Dr. Jones,fail,,no,",
        "case-9,Dr. Jones,fail,,no,",
        by=alice,
    )
    assert stored() == [
        ("case-1", "rita@example.org", "", ReviewVerdict.PASS, 0.9, "fine"),
        ("case-1", None, "Dr. Jones", ReviewVerdict.FAIL, None, "no"),
    ]
    first = Review.objects.get(reviewer=rita)
    assert first.is_imported
    assert first.changed_at == datetime(2026, 11, 20, tzinfo=UTC)
    counts = {"rows": 3, "created": 2, "changed": 0, "unchanged": 0, "kept": 0, "unmatched": 1}
    counts["withheld"] = 0
    assert report.counts == counts
    assert [tuple(each) for each in report.unmatched] == [(4, "case-9", 0, "Dr. Jones")]
    assert entries() == [counts]
    assert AuditEntry.objects.by(alice).filter(action="reviews.imported").exists()


def test_a_stranger_with_an_address_stays_a_name(run: Run, charlie: User) -> None:
    load(run, "case-1,charlie@example.org,pass,,,")
    assert stored()[0][1:3] == (None, "charlie@example.org")


def test_the_same_file_twice_changes_nothing(run: Run, rita: User) -> None:
    lines = ("case-1,rita@example.org,pass,0.9,fine,", "case-2,Jo,0,,,2026-11-20")
    load(run, *lines)
    before = list(Review.objects.order_by("pk").values())
    report = load(run, *lines)
    assert (report.unchanged, report.created, report.changed) == (2, 0, 0)
    assert list(Review.objects.order_by("pk").values()) == before
    assert len(entries()) == 1


def test_a_later_file_changes_what_was_imported(run: Run) -> None:
    load(run, "case-1,Jo,pass,1,,2026-11-20")
    report = load(run, "case-1,Jo,fail,0.2,worse,2026-11-21")
    assert report.changed == 1
    review = Review.objects.get()
    assert (review.verdict, review.score, review.note) == (ReviewVerdict.FAIL, 0.2, "worse")
    assert (review.revision, review.changed_at.day) == (2, 21)
    assert load(run, "case-1,Jo,fail,0.2,worse,2026-11-22").changed == 1


def test_a_review_given_by_hand_is_kept(run: Run, rita: User) -> None:
    output = Output.objects.get(output_set=run.output_set, case__key="case-1")
    give_review(run, output, ReviewVerdict.FAIL, by=rita, note="mine")
    same = load(run, "case-1,rita@example.org,fail,,mine,")
    assert (same.unchanged, same.kept_count) == (1, 0)
    report = load(run, "case-1,rita@example.org,pass,,theirs,", "case-2,rita@example.org,1,,,")
    assert [tuple(each) for each in report.kept] == [(2, "case-1", 0, "rita@example.org")]
    assert (report.kept_count, report.created) == (1, 1)
    assert stored()[0][3:] == (ReviewVerdict.FAIL, None, "mine")


def test_a_verdict_by_hand_replaces_an_imported_one_for_good(run: Run, rita: User) -> None:
    line = "case-1,rita@example.org,pass,0.9,fine,"
    load(run, line)
    output = Output.objects.get(output_set=run.output_set, case__key="case-1")
    review = give_review(run, output, ReviewVerdict.PASS, by=rita, note="fine")
    assert (review.is_imported, review.score, review.revision) == (False, None, 2)
    assert load(run, line).kept_count == 1


def test_a_name_that_became_a_member_is_no_second_review(run: Run, rita: User) -> None:
    rita.memberships.all().delete()
    line = "case-1,rita@example.org,pass,,,"
    load(run, line)
    run.team.members.create(user=rita, role=2)
    assert load(run, line).unchanged == 1
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("case-1,Jo,pass,,,", "case-2,Jo,maybe,,,"), (3, "verdict", "unknown_verdict")),
        (("case-1,Jo,pass,,,", "case-1,JO,fail,,,"), (3, "key", "duplicate_review")),
        (("case-1,Jo,pass,7,,",), (2, "score", "out_of_range")),
    ],
)
def test_a_file_with_a_bad_row_is_refused_whole(run: Run, lines: Any, problem: Any) -> None:
    with pytest.raises(ReviewsRefusedError) as caught:
        load(run, *lines)
    assert [tuple(each)[:3] for each in caught.value.report.problems] == [problem]
    assert not Review.objects.exists()
    assert not entries()


def test_a_file_that_cannot_be_read_is_a_problem(run: Run) -> None:
    with pytest.raises(ReviewsRefusedError) as caught:
        import_review_file(run, BytesIO(b""), "a.csv", by=None)
    assert [problem.code for problem in caught.value.report.problems] == ["empty_file"]


def test_a_dry_run_stores_nothing(run: Run) -> None:
    report = load(run, "case-1,Jo,pass,,,", "case-9,Jo,pass,,,", is_dry_run=True)
    assert (report.created, report.unmatched_count) == (1, 1)
    assert not Review.objects.exists()
    assert not entries()


def test_reviews_that_come_in_do_the_tasks_of_their_reviewers(
    run: Run, rita: User, sam: User
) -> None:
    create_queue(
        run, QueuePlan("w46", [rita, sam], 6, QueueOrder.RANDOM, reviewers_per_case=2), by=None
    )
    load(run, "case-1,rita@example.org,pass,,,")
    done = ReviewTask.objects.exclude(done_at=None)
    assert [(task.reviewer, task.output.case.key) for task in done] == [(rita, "case-1")]


def test_trials_are_told_apart(run: Run) -> None:
    output = Output.objects.get(output_set=run.output_set, case__key="case-1")
    other = Output.objects.create(
        output_set=run.output_set, case=output.case, trial=1, text="b", error=""
    )
    rows = [{"key": "case-1", "trial": 1, "reviewer": "Jo", "verdict": "fail"}]
    assert import_reviews(run, rows, by=None).created == 1
    assert Review.objects.get().output == other


@pytest.mark.parametrize(
    ("reviews", "problems"),
    [
        ([{"key": "case-1", "verdict": "pass"}], [("reviews[0].reviewer", "missing_reviewer")]),
        ([{"key": "case-1", "verdikt": "pass"}], [("reviews[0].verdikt", "unknown_field")]),
        ([{"key": "case-1", "reviewer": "Jo"}, 1], [
            ("reviews[0].verdict", "missing_verdict"), ("reviews[1]", "wrong_shape")]),
        ([{"key": "case-1", "reviewer": "Jo", "verdict": 1, "note": "\0"}],
         [("reviews[0].note", "nul_character")]),
    ],
)  # fmt: skip
def test_objects_with_problems_are_named_by_path(run: Run, reviews: Any, problems: Any) -> None:
    with pytest.raises(BodyError) as caught:
        import_reviews(run, reviews, by=None)
    assert [tuple(problem)[:2] for problem in caught.value.problems] == problems
    assert not Review.objects.exists()


def test_too_many_objects_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_import, "MAX_REVIEWS", 1)
    with pytest.raises(BodyError) as caught:
        import_reviews(run, [{}, {}], by=None)
    assert caught.value.problems[0].code == "too_many_rows"


def test_the_number_of_queries_does_not_follow_the_rows(run: Run, rita: User) -> None:
    def count(*lines: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            load(run, *lines)
        return len(queries)

    few = count("case-1,rita@example.org,pass,,,")
    many = count(*(f"case-{n},rita@example.org,fail,,again," for n in range(2, 7)))
    assert many == few


def test_imports_into_runs_of_the_same_outputs_wait_for_each_other(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"key": "case-1", "verdict": "pass", "reviewer": "Ann"}]
    locked = locked_tables(monkeypatch, lambda: import_reviews(run, rows, by=None))
    assert locked[0] == "scoring_outputset"


def test_a_first_review_given_by_hand_meanwhile_stays(
    run: Run, rita: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import has read that there is none, and then finds one where it wants to insert."""
    sort_out, outputs = review_import._sort_out, {o.case.key: o for o in Output.objects.all()}

    def sort_out_late(*args: Any) -> Any:
        sorted_rows = sort_out(*args)
        Review.objects.record(run, outputs["case-1"], ReviewVerdict.FAIL, by=rita, note="mine")
        Review.objects.record(run, outputs["case-2"], ReviewVerdict.PASS, by=rita)
        return sorted_rows

    monkeypatch.setattr(review_import, "_sort_out", sort_out_late)
    lines = [f"case-{n},{who},pass,,," for n in (1, 2, 3) for who in (rita.email, "Dr. Jones")]
    report = load(run, *lines, by=rita)
    assert (report.created, report.kept_count, report.unchanged, report.changed) == (4, 1, 1, 0)
    assert [(kept.key, kept.reviewer) for kept in report.kept] == [("case-1", rita.email)]
    own = {review.output.case.key: review for review in Review.objects.filter(reviewer=rita)}
    assert (own["case-1"].verdict, own["case-1"].note) == (ReviewVerdict.FAIL, "mine")
    assert [own[f"case-{n}"].is_imported for n in (1, 2, 3)] == [False, False, True]
    assert Review.objects.filter(reviewer_name="Dr. Jones").count() == 3
    assert entries() == [report.counts]


def test_what_a_blind_person_gave_meanwhile_is_not_told(
    run: Run, rita: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sort_out, output = review_import._sort_out, Output.objects.get(case__key="case-1")

    def sort_out_late(*args: Any) -> Any:
        sorted_rows = sort_out(*args)
        Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita)
        return sorted_rows

    monkeypatch.setattr(review_import, "_sort_out", sort_out_late)
    report = load(run, f"case-1,{rita.email},pass,,,", blind=frozenset([output.pk]))
    counts = (report.created, report.kept_count, report.unchanged, report.withheld)
    assert counts == (0, 0, 0, 1)
    assert entries() == []


def test_reviews_that_an_import_may_change_are_locked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(run, "case-1,Dr. Jones,pass,,,")
    locked = locked_tables(monkeypatch, lambda: load(run, "case-1,Dr. Jones,fail,,,"))
    assert locked == ["scoring_outputset", "scoring_review"]


@pytest.mark.parametrize("seen", [None, 0])
def test_a_verdict_by_hand_over_a_review_that_was_just_imported(
    run: Run, rita: User, monkeypatch: pytest.MonkeyPatch, seen: int | None
) -> None:
    """It replaces the imported one, with history, unless the person saw that there was none."""
    output, read = Output.objects.get(case__key="case-1"), ReviewQuerySet._own

    def read_early(reviews: ReviewQuerySet, *args: Any) -> Review | None:
        found = read(reviews, *args)
        load(run, f"case-1,{rita.email},pass,,theirs,")
        return found

    monkeypatch.setattr(ReviewQuerySet, "_own", read_early)
    if seen is None:
        Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita)
        entry = AuditEntry.objects.get(action="review.said")
        assert (entry.old["verdict"], entry.new["verdict"]) == ("pass", "fail")
        assert not Review.objects.get().is_imported
    else:
        with pytest.raises(StaleReviewError) as caught:
            Review.objects.record(run, output, ReviewVerdict.FAIL, by=rita, seen=seen)
        assert caught.value.current is not None
        assert caught.value.current.note == "theirs"
