"""Verdicts of people: one a person, changed and taken back on record, blind until one's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.models import AuditEntry, Output, Review, ReviewVerdict, Role, Run, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.scored import queued_run

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
    """Those that the person reads along with the output."""
    reviews = Review.objects.open_to(person, role).gathered()
    found = Output.objects.annotate(column=reviews).get(pk=output.pk)
    return Review.read(found.column)


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
    first = Review.objects.say(run, output, PASS, by=alice, note="fine")
    again = Review.objects.say(run, output, PASS, by=alice, note="fine")
    assert again.changed_at == first.changed_at
    assert len(audited()) == 1
    Review.objects.say(run, output, PASS, by=alice, note="very fine")
    assert [entry[0] for entry in audited()] == ["review.said", "review.said"]


def test_a_verdict_taken_back_is_gone_and_on_record(run: Run, output: Output, alice: User) -> None:
    Review.objects.say(run, output, FAIL, by=alice, note="rude")
    taken = Review.objects.take_back(run, output, by=alice)
    assert taken is not None
    assert not Review.objects.exists()
    assert audited()[0] == ("review.taken_back", {"verdict": "fail", "note": "rude"}, {})
    assert Review.objects.take_back(run, output, by=alice) is None
    assert len(audited()) == 2


def test_one_person_takes_back_nothing_of_another(
    run: Run, output: Output, alice: User, bob: User
) -> None:
    theirs = Review.objects.say(run, output, FAIL, by=bob)
    Review.objects.say(run, output, PASS, by=alice)
    Review.objects.take_back(run, output, by=alice)
    assert list(Review.objects.all()) == [theirs]


def test_reviewers_are_blind_until_their_own_verdict(
    run: Run, output: Output, alice: User, bob: User
) -> None:
    theirs = Review.objects.say(run, output, FAIL, by=bob)
    other = Output.objects.get(case__position=2)
    own = Review.objects.say(run, other, PASS, by=alice)
    for role in (Role.REVIEWER, Role.EDITOR, Role.ADMIN):
        assert list(Review.objects.open_to(alice, role)) == [own]
        assert seen(output, alice, role) == []
    assert list(Review.objects.open_to(alice, Role.VIEWER).order_by("pk")) == [theirs, own]
    mine = Review.objects.say(run, output, PASS, by=alice)
    assert seen(output, alice, Role.REVIEWER) == [theirs, mine]
    Review.objects.take_back(run, output, by=alice)
    assert seen(output, alice, Role.REVIEWER) == []


def test_a_column_of_reviews_reads_like_the_rows(
    run: Run, output: Output, alice: User, bob: User
) -> None:
    User.objects.filter(pk=bob.pk).update(name='Bob "B" O\'Neil')
    note = 'two\nlines, "quoted" \\ \N{ZERO WIDTH SPACE}\N{GRINNING FACE}'
    Review.objects.say(run, output, FAIL, by=bob, note=note)
    Review.objects.say(run, output, PASS, by=alice)
    with CaptureQueriesContext(connection) as captured:
        read = seen(output, alice, Role.REVIEWER)
        names = [str(each.reviewer) for each in read]
    assert len(captured) == 1
    assert names == ['Bob "B" O\'Neil', "alice@example.org"]
    for one, row in zip(read, Review.objects.order_by("pk"), strict=True):
        same = ("pk", "uuid", "verdict", "note", "changed_at", "reviewer_id")
        assert [str(getattr(one, name)) for name in same] == [
            str(getattr(row, name)) for name in same
        ]
        assert timezone.is_aware(one.changed_at)


def test_nothing_said_reads_as_nothing(run: Run, output: Output, alice: User) -> None:
    assert seen(output, alice, Role.VIEWER) == []


@pytest.mark.django_db(transaction=True)
def test_many_presses_at_once_leave_one_review(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, team: Team, alice: User
) -> None:
    run = queued_run(make_outputs(make_dataset([{"input": "a"}]), ["a"]))
    output = Output.objects.get()

    def press(verdict: ReviewVerdict) -> None:
        Review.objects.say(run, output, verdict, by=alice)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(press, list(ReviewVerdict) * 3))
    last = audited()[0]
    assert Review.objects.get().told == last[2]
