"""What the people of a queue have said before they are asked for it there."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from scoring.models import Preference, Review, ReviewQueue, User


def is_given(queue: ReviewQueue, person: User) -> Exists:
    """Whether the person has done what a task of the queue asks for, there or elsewhere.

    That is a preference on a pair, and else a verdict, with answers to the queue's questions.
    """
    if queue.baseline is not None:
        pairs = Preference.objects.between(queue.run, queue.baseline).filter(reviewer=person)
        return Exists(pairs.filter(candidate=OuterRef("output")))
    reviews = Review.objects.filter(output=OuterRef("output"), reviewer=person)
    if queue.question_set is not None:
        reviews = reviews.filter(answers__has_key=queue.question_set.label)
    return Exists(reviews)


def mark_given(queue: ReviewQueue) -> None:
    """A task whose person has done before what it asks for is done; in a pool anybody's."""
    if queue.is_pooled:
        people = list(queue.pool.order_by("pk"))
    else:
        people = list(User.objects.filter(review_tasks__queue=queue).distinct())
    for person in people:
        queue.tasks.filter(is_given(queue, person)).finish(person)
