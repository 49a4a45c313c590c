"""Review queues: what is sent, and how a queue looks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.fields import (
    BodySerializer,
    IntegerField,
    JsonField,
    JsonObjectField,
    NameField,
    TextField,
)
from scoring.core.questions import QuestionKind
from scoring.engine.review.pairwise import CHOICES
from scoring.engine.review.queue_progress import ReviewerProgress
from scoring.models import QueueOrder, ReviewVerdict
from scoring.models.reviews.failure_tag import MAX_NAME, MAX_TAGS
from scoring.models.reviews.queue import MAX_CASES, MAX_REVIEWERS_PER_CASE
from scoring.models.reviews.review import MAX_NOTE

VERDICTS = [verdict.code for verdict in ReviewVerdict]


class NewQueue(BodySerializer):
    """Outputs of a run that people are asked to review."""

    run = serializers.UUIDField()
    baseline = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text=(
            "For a pairwise queue: the run of the same dataset whose outputs are shown next to "
            "this run's, without names."
        ),
    )
    name = NameField(required=False, help_text="Left out, made of the run's name.")
    order = serializers.ChoiceField(
        QueueOrder.choices,
        required=False,
        help_text="Left out, `value`; pairs are always drawn at random.",
    )
    cases = IntegerField(
        default=100, min_value=1, max_value=MAX_CASES, help_text="At most so many cases, or pairs."
    )
    reviewers = serializers.ListField(
        child=serializers.EmailField(),
        required=False,
        allow_empty=False,
        max_length=100,
        help_text="Addresses of members who may review. Left out, you alone.",
    )
    reviewers_per_case = IntegerField(default=1, min_value=1, max_value=MAX_REVIEWERS_PER_CASE)
    is_pooled = serializers.BooleanField(
        default=False,
        help_text="Whether reviewers take the cases one at a time instead of having them assigned.",
    )
    question_set = TextField(
        required=False,
        allow_null=True,
        default=None,
        help_text="What to ask beside the verdict: the name of questions of the team.",
    )
    due_on = serializers.DateField(required=False, allow_null=True, default=None)
    filters = JsonObjectField(
        required=False, help_text="As the address of the run's `results/` has them, by name."
    )


class ReviewerProgressShape(serializers.Serializer[object]):
    reviewer = serializers.EmailField(source="reviewer.email")
    total = serializers.IntegerField(min_value=0)
    done = serializers.IntegerField(min_value=0)
    skipped = serializers.IntegerField(min_value=0, source="figures.skipped")
    last_done = serializers.DateTimeField(allow_null=True, source="figures.last_done")
    seconds_per_case = serializers.SerializerMethodField(
        help_text="The median, without breaks; null for too few."
    )

    def get_seconds_per_case(self, progress: ReviewerProgress) -> float | None:
        return progress.pace.total_seconds() if progress.pace else None


class QueueCountsShape(serializers.Serializer[object]):
    """The cases of a queue, each counted once."""

    waiting = serializers.IntegerField(min_value=0)
    reserved = serializers.IntegerField(
        min_value=0, help_text="Without a review, and taken by somebody at this moment."
    )
    reviewed = serializers.ListField(
        child=serializers.IntegerField(min_value=0),
        help_text="With one review in this queue, with two, and so on up to all it asks for.",
    )
    is_complete = serializers.BooleanField(help_text="Whether every case has all its reviews.")


class QueueShape(serializers.Serializer[object]):
    id = serializers.UUIDField(source="uuid")
    run = serializers.UUIDField(source="run.uuid")
    baseline = serializers.UUIDField(
        source="baseline.uuid",
        default=None,
        allow_null=True,
        help_text="Of a pairwise queue; otherwise null.",
    )
    name = serializers.CharField()
    order = serializers.ChoiceField(QueueOrder.choices)
    filters = serializers.CharField(help_text="Of the run's page; empty for the whole run.")
    cases = serializers.IntegerField(source="case_count", min_value=0)
    reviewers_per_case = serializers.IntegerField(min_value=1)
    is_pooled = serializers.BooleanField()
    question_set = serializers.CharField(
        source="question_set.label",
        default=None,
        allow_null=True,
        help_text="What is asked beside the verdict, by name and version.",
    )
    due_on = serializers.DateField(allow_null=True)
    is_open = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class QueueProgressShape(QueueShape):
    """A queue with what is done of it, and everybody's progress, by e-mail address."""

    counts = QueueCountsShape()
    in_adjudication = serializers.IntegerField(
        min_value=0,
        help_text="Cases on which reviewers disagree, without those that you are yet to review.",
    )
    progress = ReviewerProgressShape(many=True)


class NewAnswer(BodySerializer):
    """What a task asks for: a verdict or, of a pair, a choice."""

    verdict = serializers.ChoiceField(VERDICTS, required=False, help_text="Of an output.")
    choice = serializers.ChoiceField(
        [(choice, choice) for choice in CHOICES], required=False, help_text="The better of a pair."
    )
    note = TextField(required=False, default="", max_length=MAX_NOTE)
    failure_tags = serializers.ListField(
        child=NameField(max_length=MAX_NAME),
        required=False,
        max_length=MAX_TAGS,
        help_text="New ones are on the team's list from now on. Left out, those of before stay.",
    )
    answers = JsonObjectField(
        required=False, help_text="To the queue's questions, by the text of the question."
    )


class QuestionShape(serializers.Serializer[object]):
    """What a queue asks beside the verdict; without what is not set."""

    text = serializers.CharField()
    kind = serializers.ChoiceField([(kind.value, kind.value) for kind in QuestionKind])
    choices = serializers.ListField(child=serializers.CharField(), required=False)
    minimum = serializers.FloatField(required=False)
    maximum = serializers.FloatField(required=False)
    is_required = serializers.BooleanField(required=False)
    condition = JsonField(
        required=False, help_text="Asked where this earlier `question` has this `answer`."
    )


class TaskShape(serializers.Serializer[object]):
    number = serializers.IntegerField(source="position", min_value=1)
    key = serializers.CharField(source="output.case.key")
    trial = serializers.IntegerField(source="output.trial", min_value=0)
    is_done = serializers.SerializerMethodField()

    def get_is_done(self, task: Any) -> bool:
        return task.done_at is not None


class OpenedTaskShape(TaskShape):
    """A task with its case. `output` and `verdict` are those of a review, `left`, `right` and
    `choice` those of a pair.
    """

    input = JsonField()
    expected = JsonField(help_text="Null where nothing is expected.")
    output = JsonField(required=False)
    left = JsonField(required=False)
    right = JsonField(required=False)
    verdict = serializers.ChoiceField(
        VERDICTS, required=False, allow_null=True, help_text="Yours, if you have given one."
    )
    choice = serializers.ChoiceField(
        [(choice, choice) for choice in CHOICES], required=False, allow_null=True
    )
    note = serializers.CharField(allow_blank=True)
    failure_tags = serializers.ListField(child=serializers.CharField(), required=False)
    questions = QuestionShape(many=True, required=False)
    answers = JsonField(required=False, help_text="Yours, by the text of the question.")
