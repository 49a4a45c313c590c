"""Calibration: the scorers of a run against people, as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.fields import interval_field


def unit_field(**options: Any) -> serializers.FloatField:
    return serializers.FloatField(min_value=0, max_value=1, **options)


class EstimateShape(serializers.Serializer[object]):
    value = serializers.FloatField()
    interval = interval_field(help_text="With 95 % confidence; null where there is none.")


class ReviewedShape(serializers.Serializer[object]):
    """Outputs by people's verdict: the adjudicated one, else the most frequent of its reviewers."""

    reviewed = serializers.IntegerField(min_value=0)
    passed = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    unsure = serializers.IntegerField(min_value=0)
    bad_case = serializers.IntegerField(min_value=0)
    split = serializers.IntegerField(min_value=0, help_text="The most frequent verdict is tied.")


class SampleShape(serializers.Serializer[object]):
    """Outputs drawn at random from the whole run."""

    drawn = serializers.IntegerField(min_value=0)
    reviewed = serializers.IntegerField(min_value=0)
    out_of_turn = serializers.IntegerField(
        min_value=0,
        help_text="Reviewed before others that were drawn to come first; they correct no rate.",
    )


class ConfusionShape(serializers.Serializer[object]):
    """Outputs by the scorer's verdict and people's."""

    both_pass = serializers.IntegerField(min_value=0)
    scorer_passes = serializers.IntegerField(min_value=0, help_text="And people fail.")
    people_pass = serializers.IntegerField(min_value=0, help_text="And the scorer fails.")
    both_fail = serializers.IntegerField(min_value=0)


class BestThresholdShape(serializers.Serializer[object]):
    threshold = unit_field()
    kappa = serializers.FloatField()
    as_good = interval_field(
        help_text="Thresholds above the first up to the second that these reviews cannot tell "
        "from the best."
    )


class CorrectedShape(serializers.Serializer[object]):
    """The pass rate corrected by people's reviews, from the random sample alone.

    `rate` is null while labels are lacking.
    """

    rate = EstimateShape(allow_null=True)
    labels_alone = EstimateShape(allow_null=True)
    is_narrower = serializers.BooleanField(help_text="Whether `rate` is the more precise one.")
    weight = serializers.FloatField(allow_null=True, help_text="Of the scorer's verdicts, 0 to 1.")
    labels = serializers.IntegerField(min_value=0)
    lacking_labels = serializers.IntegerField(min_value=0)
    more_labels = serializers.IntegerField(
        allow_null=True, help_text="To know it within 5 points; null where no number does."
    )


class ScorerCalibrationShape(serializers.Serializer[object]):
    """Pass is the positive class. A figure that is not there is null, not 0."""

    scorer = serializers.CharField()
    n = serializers.IntegerField(min_value=0, help_text="Scored outputs that people pass or fail.")
    unscored = serializers.IntegerField(min_value=0)
    confusion = ConfusionShape()
    agreement = EstimateShape(allow_null=True)
    kappa = EstimateShape(allow_null=True)
    precision = unit_field(allow_null=True)
    recall = unit_field(allow_null=True)
    f1 = unit_field(allow_null=True)
    threshold = unit_field()
    best_threshold = BestThresholdShape(allow_null=True)
    is_best = serializers.BooleanField(help_text="The highest kappa of several scorers.")
    is_as_good = serializers.BooleanField(help_text="These reviews cannot tell it from the best.")
    pass_rate = EstimateShape(allow_null=True, help_text="The scorer's own.")
    corrected_pass_rate = CorrectedShape(allow_null=True, help_text="null without random sample.")


class RaterPairShape(serializers.Serializer[object]):
    one = serializers.CharField()
    other = serializers.CharField()
    n = serializers.IntegerField(min_value=0)
    agreement = EstimateShape(allow_null=True)
    kappa = EstimateShape(allow_null=True)


class PeopleShape(serializers.Serializer[object]):
    """People against each other, on outputs that at least two of them pass or fail."""

    people = serializers.IntegerField(min_value=0)
    outputs = serializers.IntegerField(min_value=0)
    krippendorff_alpha = serializers.FloatField(
        allow_null=True, help_text="Where people miss outputs that others have reviewed."
    )
    fleiss_kappa = serializers.FloatField(allow_null=True)
    pairs = RaterPairShape(many=True)


class CalibrationShape(serializers.Serializer[object]):
    run = serializers.UUIDField()
    outputs = ReviewedShape()
    is_random_sample = serializers.BooleanField(
        help_text="Whether all labels are of a random sample, and the figures hold for the run."
    )
    random_sample = SampleShape()
    scorers = ScorerCalibrationShape(many=True)
    people = PeopleShape()
