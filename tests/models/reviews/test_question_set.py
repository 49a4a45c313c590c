"""Question sets: versions that stay, a list that can be shortened, and what the audit keeps."""

from __future__ import annotations

import pytest

from scoring.core.questions import Questions
from scoring.models import AuditEntry, QuestionSet, Team, User

pytestmark = pytest.mark.django_db

FIRST = Questions.parse([{"text": "Polite?", "kind": "text"}])
SECOND = Questions.parse([{"text": "Polite?", "kind": "choice", "choices": ["yes", "no"]}])


def test_each_change_is_a_version_and_the_same_questions_are_none(team: Team, alice: User) -> None:
    first = QuestionSet.objects.publish(team, "Tone", FIRST, by=alice)
    assert QuestionSet.objects.publish(team, "Tone", FIRST, by=alice) == first
    second = QuestionSet.objects.publish(team, "Tone", SECOND, by=alice)
    QuestionSet.objects.publish(team, "Facts", FIRST, by=alice)
    assert (first.label, second.label) == ("Tone v1", "Tone v2")
    assert [each.label for each in QuestionSet.objects.newest(team)] == ["Facts v1", "Tone v2"]
    assert QuestionSet.objects.get(pk=first.pk).questions == FIRST
    assert AuditEntry.objects.filter(action="question_set.published").count() == 3


def test_a_removed_set_comes_back_as_its_next_version(team: Team, alice: User) -> None:
    QuestionSet.objects.publish(team, "Tone", FIRST, by=alice)
    assert QuestionSet.objects.remove(team, "Tone", by=alice) == 1
    assert QuestionSet.objects.remove(team, "Tone", by=alice) == 0
    assert not QuestionSet.objects.newest(team)
    again = QuestionSet.objects.publish(team, "Tone", FIRST, by=alice)
    assert again.label == "Tone v2"
    assert list(QuestionSet.objects.newest(team)) == [again]
    assert AuditEntry.objects.filter(action="question_set.removed").count() == 1
