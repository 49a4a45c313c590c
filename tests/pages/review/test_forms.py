"""What the forms of review refuse, and who is offered."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evalsite.pages.review.forms import FailureTagForm, QueueForm, ReassignForm, TaskForm
from scoring.models import FailureTag, ReviewQueue, Run, Team, User
from scoring.models.case_list.filters import NO_FILTERS

pytestmark = pytest.mark.django_db


def queue_form(run: Run, person: User, people: list[User], **sent: object) -> QueueForm:
    values = {"name": "w46", "order": "value", "case_count": "2", **sent}
    return QueueForm(values, run=run, person=person, people=people, filters=NO_FILTERS, query="")


def test_one_person_alone_is_not_asked_who_reviews(run: Run, rita: User, alice: User) -> None:
    form = queue_form(run, rita, [rita])
    assert not {"reviewers", "reviewers_per_case", "assignment"} & set(form.fields)
    assert form.is_valid()
    queue = form.save()
    assert queue is not None
    assert set(queue.tasks.values_list("reviewer", flat=True)) == {rita.pk}
    several = queue_form(run, rita, [alice, rita])
    assert several.errors.keys() == {"reviewers", "reviewers_per_case"}


def test_more_reviews_a_case_than_reviewers_are_refused(run: Run, rita: User, alice: User) -> None:
    form = queue_form(run, rita, [alice, rita], reviewers=[str(rita.pk)], reviewers_per_case="2")
    assert form.is_valid()
    assert form.save() is None
    assert form.non_field_errors() == [
        "1 reviewer can give each case from 1 to 1 independent reviews."
    ]


def test_a_date_in_the_past_is_refused_and_today_is_not(run: Run, rita: User) -> None:
    today = timezone.localdate()
    assert queue_form(run, rita, [rita], due_on=str(today)).is_valid()
    past = queue_form(run, rita, [rita], due_on=str(today - timedelta(days=1)))
    assert past.errors == {"due_on": ["This date is in the past."]}


def test_a_verdict_names_its_fault(team: Team) -> None:
    FailureTag.objects.create(team=team, name="tone")
    form = TaskForm({"verdict": "fail", "seen": "0", "failure_tags": ["tone"]}, team=team)
    assert form.is_valid()
    wrong = TaskForm({"verdict": "good", "seen": "0"}, team=team)
    assert wrong.fault.startswith("Your verdict is not saved: verdict: ")
    unknown = TaskForm({"verdict": "fail", "seen": "0", "failure_tags": ["x"]}, team=team)
    assert unknown.errors.keys() == {"failure_tags"}


def test_tasks_go_to_another_person(rita: User, alice: User) -> None:
    sent = {"old": str(rita.pk), "new": str(rita.pk)}
    queue = ReviewQueue()
    form = ReassignForm(sent, queue=queue, reviewers=[rita], people=[alice, rita])
    assert form.errors == {"new": ["This is the same person."]}
    assert form.is_possible
    assert not ReassignForm(queue=queue, reviewers=[rita], people=[rita]).is_possible
    assert not ReassignForm(queue=queue, reviewers=[], people=[rita, alice]).is_possible


def test_a_team_has_a_tag_once_whatever_the_case(team: Team) -> None:
    FailureTag.objects.create(team=team, name="Tone")
    assert FailureTagForm({"name": "tone"}, team=team).errors == {
        "name": ["The team has this tag already."]
    }
