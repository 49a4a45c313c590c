"""What people say of outputs, reviews and comments: what is sent and what is shown."""

from __future__ import annotations

from rest_framework import serializers

from evalsite.api.bodies import Body, Text, Whole
from evalsite.api.paging import PageQuery
from evalsite.api.serializers.runs import LARGEST_TRIAL
from scoring.models import Comment, Review, ReviewVerdict
from scoring.models.comment import MAX_TEXT
from scoring.models.dataset import KEY_LENGTH
from scoring.models.review import MAX_NOTE

VERDICTS = [verdict.code for verdict in ReviewVerdict]


class SaidQuery(PageQuery):
    """Of which run's outputs, or of which of its cases, something was said."""

    run = serializers.UUIDField()
    key = Text(required=False, max_length=KEY_LENGTH, help_text="Only of this case.")


class NewSaid(Body):
    """Names an output by its run, its case and its trial."""

    run = serializers.UUIDField()
    key = Text(allow_blank=False, max_length=KEY_LENGTH, help_text="The case's key.")
    trial = Whole(required=False, default=0, min_value=0, max_value=LARGEST_TRIAL)


class NewReview(NewSaid):
    verdict = serializers.ChoiceField(VERDICTS)
    note = Text(required=False, default="", max_length=MAX_NOTE)


class NewComment(NewSaid):
    text = Text(allow_blank=False, max_length=MAX_TEXT)

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("There is no text.", "blank")
        return text


class ReviewShape(serializers.ModelSerializer[Review]):
    id = serializers.UUIDField(source="uuid")
    key = serializers.CharField(source="output.case.key")
    trial = serializers.IntegerField(source="output.trial", min_value=0)
    reviewer = serializers.EmailField(source="reviewer.email")
    verdict = serializers.ChoiceField(VERDICTS, source="code")

    class Meta:
        model = Review
        fields = ["id", "key", "trial", "reviewer", "verdict", "note", "changed_at"]
        read_only_fields = fields


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
