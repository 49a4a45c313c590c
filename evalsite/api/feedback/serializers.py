"""What people say of outputs, reviews and comments: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.fields import (
    BodySerializer,
    IntegerField,
    JsonField,
    JsonObjectField,
    ManyField,
    TextField,
)
from evalsite.api.pagination import PageQuery
from evalsite.api.runs.serializers import MAX_TRIAL
from scoring.engine.review.review_import import MAX_REVIEWS
from scoring.models import Adjudication, Comment, Review, ReviewVerdict
from scoring.models.data.dataset import KEY_LENGTH
from scoring.models.reviews.comment import MAX_TEXT
from scoring.models.reviews.review import MAX_NOTE

VERDICTS = [verdict.code for verdict in ReviewVerdict]


class FeedbackQuery(PageQuery):
    """Of which run's outputs, or of which of its cases, something was said."""

    run = serializers.UUIDField()
    key = TextField(required=False, max_length=KEY_LENGTH, help_text="Only of this case.")


class NewFeedback(BodySerializer):
    """Names an output by its run, its case and its trial."""

    run = serializers.UUIDField()
    key = TextField(allow_blank=False, max_length=KEY_LENGTH, help_text="The case's key.")
    trial = IntegerField(required=False, default=0, min_value=0, max_value=MAX_TRIAL)


class NewReview(NewFeedback):
    verdict = serializers.ChoiceField(VERDICTS)
    note = TextField(required=False, default="", max_length=MAX_NOTE)


class NewAdjudication(NewReview):
    seen = IntegerField(
        required=False,
        default=0,
        min_value=0,
        help_text="The revision of the final verdict that you saw, 0 for none.",
    )


class NewComment(NewFeedback):
    text = TextField(allow_blank=False, max_length=MAX_TEXT)

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("There is no text.", "blank")
        return text


class ReviewShape(serializers.ModelSerializer[Review]):
    id = serializers.UUIDField(source="uuid")
    key = serializers.CharField(source="output.case.key")
    trial = serializers.IntegerField(source="output.trial", min_value=0)
    reviewer = serializers.SerializerMethodField()
    verdict = serializers.ChoiceField(VERDICTS, source="code")

    class Meta:
        model = Review
        fields = [
            *("id", "key", "trial", "reviewer", "verdict", "score", "note", "failure_tags"),
            *("answers", "changed_at"),
        ]
        read_only_fields = fields

    def get_reviewer(self, review: Review) -> str:
        """The e-mail address; of an imported review perhaps no more than a name."""
        return review.reviewer.email if review.reviewer else review.reviewer_name


class AdjudicationShape(serializers.ModelSerializer[Adjudication]):
    id = serializers.UUIDField(source="uuid")
    key = serializers.CharField(source="output.case.key")
    trial = serializers.IntegerField(source="output.trial", min_value=0)
    decided_by = serializers.SerializerMethodField()
    verdict = serializers.ChoiceField(VERDICTS, source="code")

    class Meta:
        model = Adjudication
        fields = [
            *("id", "key", "trial", "decided_by", "verdict", "note", "revision", "changed_at")
        ]
        read_only_fields = fields

    def get_decided_by(self, adjudication: Adjudication) -> str | None:
        """Null once they are gone from the site."""
        return adjudication.decided_by.email if adjudication.decided_by else None


class CommentShape(serializers.ModelSerializer[Comment]):
    id = serializers.UUIDField(source="uuid")
    key = serializers.CharField(source="output.case.key")
    trial = serializers.IntegerField(source="output.trial", min_value=0)
    author = serializers.SerializerMethodField()

    class Meta:
        model = Comment
        fields = ["id", "key", "trial", "author", "text", "created_at", "edited_at"]
        read_only_fields = fields

    def get_author(self, comment: Comment) -> str | None:
        """Null once they are gone from the site."""
        return comment.author.email if comment.author else None


class NewReviews(BodySerializer):
    """Reviews of people, of this site or not, on the outputs of one run."""

    reviews = ManyField(
        child=JsonObjectField(),
        most=MAX_REVIEWS,
        beyond="Send them in several calls.",
        allow_empty=False,
        help_text=(
            "Each with `key`, `verdict` (`pass`, `fail`, `unsure`, `bad_case`, or true, false, 1, "
            "0) and `reviewer`; `trial`, `score` from 0 to 1, `note`, `failure_tags`, `answers` "
            "(by question, or by the label of the questions and question) and `date` may be left "
            "out."
        ),
    )


class NamedReviewShape(serializers.Serializer[object]):
    """A review that was sent and not stored."""

    key = serializers.CharField()
    trial = serializers.IntegerField(min_value=0)
    reviewer = serializers.CharField()


class ImportedReviewsShape(serializers.Serializer[object]):
    """What became of the reviews; the first hundred kept and unmatched ones are listed."""

    rows = serializers.IntegerField(min_value=0)
    created = serializers.IntegerField(min_value=0)
    changed = serializers.IntegerField(min_value=0)
    unchanged = serializers.IntegerField(min_value=0)
    kept = serializers.IntegerField(
        min_value=0, help_text="Not stored: the member gave another review here."
    )
    unmatched = serializers.IntegerField(min_value=0, help_text="The run has no such output.")
    withheld = serializers.IntegerField(
        min_value=0,
        help_text="About outputs that you are yet to review: not told which of these they are.",
    )
    kept_reviews = NamedReviewShape(many=True)
    unmatched_reviews = NamedReviewShape(many=True)


class ExportedReviewShape(serializers.Serializer[object]):
    """A review as `POST` takes it."""

    key = serializers.CharField()
    trial = serializers.IntegerField(min_value=0)
    reviewer = serializers.CharField(help_text="The e-mail address of a person, or a name.")
    verdict = serializers.ChoiceField(VERDICTS)
    score = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    note = serializers.CharField(allow_blank=True)
    failure_tags = serializers.ListField(child=serializers.CharField())
    answers = JsonField(help_text="By the label of the questions and by question.")
    date = serializers.DateTimeField()
