"""Comments on outputs: added, edited, deleted and brought back, all of it on record."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.imports import cleanup as import_cleanup
from scoring.models import (
    AuditEntry,
    Comment,
    Output,
    OutputSet,
    OutputSetState,
    Review,
    ReviewVerdict,
    Run,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

HOSTILE = "<b>\"'&\\ \n\N{RIGHT-TO-LEFT OVERRIDE}txt\N{ZERO WIDTH SPACE}"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return queued_run(make_outputs(make_dataset([{"input": "a"}, {"input": "b"}]), ["a", "b"]))


@pytest.fixture
def output(run: Run) -> Output:
    return Output.objects.get(case__position=1)


@pytest.fixture
def comment(run: Run, output: Output, alice: User) -> Comment:
    return Comment.objects.add(run, output, "first", by=alice)


def audited() -> list[tuple[str, Any, Any]]:
    """The newest first."""
    entries = AuditEntry.objects.filter(target_type="comment")
    return [(entry.action, entry.old, entry.new) for entry in entries]


def seen(output: Output) -> list[Comment]:
    return list(output.comments.order_by("pk"))


def test_a_comment_is_added_and_edited(run: Run, comment: Comment, alice: User) -> None:
    assert comment.edited_at is None
    comment.edit(run, "second", by=alice)
    found = Comment.objects.get()
    assert (found.text, found.edited_at is not None) == ("second", True)
    assert audited() == [
        ("comment.edited", {"text": "first"}, {"text": "second"}),
        ("comment.added", {}, {"text": "first"}),
    ]


def test_the_same_text_again_is_no_edit(run: Run, comment: Comment, alice: User) -> None:
    comment.edit(run, "first", by=alice)
    assert Comment.objects.get().edited_at is None
    assert len(audited()) == 1


def test_a_deleted_comment_is_gone_until_it_is_restored(
    run: Run, output: Output, comment: Comment, alice: User, bob: User
) -> None:
    comment.remove(run, by=bob)
    comment.remove(run, by=bob)  # in another tab: said once
    assert not Comment.objects.exists()
    assert seen(output) == []
    assert Comment.with_deleted.get() == comment
    comment.restore(run, by=alice)
    assert seen(output) == [comment]
    assert [entry[:2] for entry in audited()[:2]] == [
        ("comment.restored", {"text": "first"}),
        ("comment.deleted", {"text": "first"}),
    ]
    assert [entry.actor for entry in AuditEntry.objects.all()[:2]] == [alice, bob]


def test_a_thread_is_that_of_its_output_oldest_first(
    run: Run, output: Output, comment: Comment, alice: User, bob: User
) -> None:
    Comment.objects.add(run, output, HOSTILE, by=bob)
    Comment.objects.add(run, Output.objects.get(case__position=2), "elsewhere", by=bob)
    comment.edit(run, "changed", by=alice)
    found = [(each.text, str(each.author)) for each in seen(output)]
    assert found == [("changed", "alice@example.org"), (HOSTILE, "bob@example.org")]


def test_a_comment_outlives_its_author(output: Output, comment: Comment, alice: User) -> None:
    alice.delete()
    (read,) = seen(output)
    assert (read.author, read.text, str(read)) == (None, "first", "A former member: first")


def test_runs_of_the_same_outputs_share_their_comments(run: Run, comment: Comment) -> None:
    again = queued_run(run.output_set, name="again")
    assert list(Comment.objects.of_run(again)) == [comment]


def test_comments_of_other_outputs_are_not_the_runs(
    run: Run, comment: Comment, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    other = queued_run(make_outputs(make_dataset([{"input": "a"}]), ["a"]))
    assert list(Comment.objects.of_run(other)) == []


def test_outputs_that_are_removed_take_along_what_people_said(
    run: Run, output: Output, comment: Comment, alice: User, make_outputs: MakeOutputs
) -> None:
    Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    kept = make_outputs(run.output_set.version, ["c", "d"])
    other = Output.objects.filter(output_set=kept)[0]
    left = Comment.objects.add(run, other, "stays", by=alice)
    comment.remove(run, by=alice)
    loading = OutputSet.objects.get(pk=run.output_set_id)
    run.delete()
    loading.state = OutputSetState.LOADING
    loading.save()
    import_cleanup.remove_output_set(loading)
    assert list(Comment.with_deleted.all()) == [left]
    assert not Review.objects.exists()
