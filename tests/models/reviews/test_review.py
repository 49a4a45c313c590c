"""Verdicts of people: one a person, changed and taken back on record, blind until one's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from scoring.models import AuditEntry, Output, Review, ReviewVerdict, Role, Run, Team, User
from scoring.models.reviews.review import ReviewQuerySet, StaleReviewError
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return queued_run(make_outputs(make_dataset([{"input": "a"}, {"input": "b"}]), ["a", "b"]))


@pytest.fixture
def output(run: Run) -> Output:
    return Output.objects.get(case__position=1)


def audited() -> list[tuple[str, Any, Any]]:
    """The newest first."""
    entries = AuditEntry.objects.filter(target_type="review")
    return [(entry.action, entry.old, entry.new) for entry in entries]


def seen(output: Output, person: User, role: Role) -> list[Review]:
    """Those of the output that the person may see."""
    return list(Review.objects.readable_by(person, role).filter(output=output).order_by("pk"))


@pytest.mark.parametrize(
    ("verdict", "word", "code"),
    [
        (ReviewVerdict.PASS, "pass", "pass"),
        (ReviewVerdict.FAIL, "fail", "fail"),
        (ReviewVerdict.UNSURE, "unsure", "unsure"),
        (ReviewVerdict.BAD_CASE, "bad case", "bad_case"),
    ],
)
def test_a_verdict_has_a_word_and_a_code(verdict: ReviewVerdict, word: str, code: str) -> None:
    assert (verdict.label, verdict.code, Review(verdict=verdict).code) == (word, code, code)


def test_the_same_again_is_no_change(run: Run, output: Output, alice: User) -> None:
    first = Review.objects.record(run, output, PASS, by=alice, note="fine")
    again = Review.objects.record(run, output, PASS, by=alice, note="fine")
    assert again.changed_at == first.changed_at
    assert len(audited()) == 1
    Review.objects.record(run, output, PASS, by=alice, note="very fine")
    assert [entry[0] for entry in audited()] == ["review.said", "review.said"]


def test_a_verdict_taken_back_is_gone_and_on_record(run: Run, output: Output, alice: User) -> None:
    Review.objects.record(run, output, FAIL, by=alice, note="rude")
    taken = Review.objects.withdraw(run, output, by=alice)
    assert taken is not None
    assert not Review.objects.exists()
    assert audited()[0] == ("review.taken_back", {"verdict": "fail", "note": "rude"}, {})
    assert Review.objects.withdraw(run, output, by=alice) is None
    assert len(audited()) == 2


def test_one_person_takes_back_nothing_of_another(
    run: Run, output: Output, alice: User, bob: User
) -> None:
    theirs = Review.objects.record(run, output, FAIL, by=bob)
    Review.objects.record(run, output, PASS, by=alice)
    Review.objects.withdraw(run, output, by=alice)
    assert list(Review.objects.all()) == [theirs]


def test_reviewers_are_blind_until_their_own_verdict(
    run: Run, output: Output, alice: User, bob: User
) -> None:
    theirs = Review.objects.record(run, output, FAIL, by=bob)
    other = Output.objects.get(case__position=2)
    own = Review.objects.record(run, other, PASS, by=alice)
    for role in (Role.REVIEWER, Role.EDITOR, Role.ADMIN):
        assert list(Review.objects.readable_by(alice, role)) == [own]
        assert seen(output, alice, role) == []
    assert list(Review.objects.readable_by(alice, Role.VIEWER).order_by("pk")) == [theirs, own]
    mine = Review.objects.record(run, output, PASS, by=alice)
    assert seen(output, alice, Role.REVIEWER) == [theirs, mine]
    Review.objects.withdraw(run, output, by=alice)
    assert seen(output, alice, Role.REVIEWER) == []


def test_nothing_said_reads_as_nothing(run: Run, output: Output, alice: User) -> None:
    assert seen(output, alice, Role.VIEWER) == []


@pytest.mark.django_db(transaction=True)
def test_many_presses_at_once_leave_one_review(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, team: Team, alice: User
) -> None:
    run = queued_run(make_outputs(make_dataset([{"input": "a"}]), ["a"]))
    output = Output.objects.get()

    def press(verdict: ReviewVerdict) -> None:
        Review.objects.record(run, output, verdict, by=alice)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(press, list(ReviewVerdict) * 3))
    last = audited()[0]
    assert Review.objects.get().audit_values == last[2]


@pytest.mark.django_db
@pytest.mark.parametrize("seen", [0, None])
def test_a_first_review_that_is_sent_twice_at_once_is_one(
    run: Run, output: Output, alice: User, monkeypatch: pytest.MonkeyPatch, seen: int | None
) -> None:
    first = Review.objects.record(run, output, PASS, by=alice, note="fine")
    monkeypatch.setattr(ReviewQuerySet, "_own", lambda *_: None)  # the other is not stored yet
    if seen is None:
        again = Review.objects.record(run, output, FAIL, by=alice, note="no")
        assert (again.pk, again.revision, len(audited())) == (first.pk, 2, 2)
        assert audited()[0][1]["note"] == "fine"
        return
    with pytest.raises(StaleReviewError) as stale:
        Review.objects.record(run, output, FAIL, by=alice, note="no", seen=seen)
    assert stale.value.current == first
    assert Review.objects.get().code == "pass"


def test_a_review_that_came_in_by_address_becomes_that_of_the_member(
    run: Run, output: Output, alice: User
) -> None:
    """Whoever joins later is one reviewer, not two."""
    imported = Review.objects.create(
        output=output,
        reviewer_name="Alice@Example.org",
        verdict=FAIL,
        score=0.2,
        is_imported=True,
        failure_tags=["tone"],
    )
    own = Review.objects.record(run, output, PASS, by=alice)
    assert own.pk == imported.pk
    own.refresh_from_db()
    assert (own.reviewer, own.reviewer_name, own.is_imported) == (alice, "", False)
    assert (own.verdict, own.score, own.failure_tags) == (PASS, None, ["tone"])
    assert Review.objects.count() == 1
