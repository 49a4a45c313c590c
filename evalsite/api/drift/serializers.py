"""Drift: which line is asked for, and how it looks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.errors import Problem
from evalsite.api.fields import BodySerializer, TextField, interval_field
from evalsite.api.runs.serializers import RelabelShape
from scoring.core.wording.drift_status import Status
from scoring.engine.drift import DriftLine, report


class DriftQuery(BodySerializer):
    """Names one line; scorer and series may be left out where there is only one."""

    dataset = serializers.UUIDField()
    scorer = TextField(required=False, help_text="A scorer's name.")
    series = TextField(required=False)

    def chosen(self, lines: list[DriftLine]) -> DriftLine | None:
        """The line among all of the dataset's; None where it has none at all. Raises a problem
        where the address names none or several.
        """
        for name in ("scorer", "series"):
            lines = self._filter_lines(name, lines)
        return lines[0] if lines else None

    def _filter_lines(self, name: str, lines: list[DriftLine]) -> list[DriftLine]:
        known = sorted({getattr(line, name) for line in lines})
        wanted = self.validated_data.get(name)
        if wanted is None and len(known) > 1:
            text = f"Say which {name} is meant: add {name}= and one of: {', '.join(known)}."
            raise Problem(400, f"{name}_required", text)
        if wanted is not None and known and wanted not in known:
            text = f"No line has this {name}. There are: {', '.join(known)}."
            raise serializers.ValidationError({name: [text]}, "invalid_choice")
        return [line for line in lines if wanted in (None, getattr(line, name))]


class PointShape(serializers.Serializer[object]):
    """A run. A figure that is not there is null, not 0."""

    run = serializers.UUIDField()
    dated = serializers.DateTimeField()
    n = serializers.IntegerField(min_value=0, help_text="Outputs that were scored.")
    mean = serializers.FloatField(allow_null=True)
    interval = interval_field()
    pass_rate = serializers.FloatField(allow_null=True)
    fixed = serializers.IntegerField(
        allow_null=True, help_text="Cases the scorer failed at the point before and passes here."
    )
    broke = serializers.IntegerField(
        allow_null=True, help_text="Cases the scorer passed at the point before and fails here."
    )
    cases_fixed = serializers.IntegerField(
        allow_null=True, help_text="Cases that failed over all scorers before and pass here."
    )
    cases_broke = serializers.IntegerField(
        allow_null=True, help_text="Cases that passed over all scorers before and fail here."
    )
    scorer_version = serializers.IntegerField()
    dataset_version = serializers.IntegerField()
    threshold = serializers.FloatField()
    relabel = RelabelShape(
        allow_null=True, help_text="The run's later labels; the figures use the stored verdicts."
    )
    similarity = serializers.FloatField(
        allow_null=True, help_text="Of the outputs to those of the baseline, else the first run."
    )
    distinct = serializers.FloatField(
        allow_null=True, help_text="Share of the outputs that differ from each other."
    )


class ChangePointShape(serializers.Serializer[object]):
    """The level of the means changed with this run; `p` is corrected for the lines of the page."""

    run = serializers.UUIDField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    p = serializers.FloatField()


class LimitsShape(serializers.Serializer[object]):
    centre = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField(help_text="Runs they are made from.")


class LevelShape(serializers.Serializer[object]):
    """Where the newest runs stand, as pages and alerts have it."""

    status = serializers.ChoiceField(
        choices=[status.value for status in Status],
        help_text="decreased or increased until 8 runs have made the new level the usual one; "
        "untested: there is no earlier run to test against, or the worker still counts.",
    )
    since = serializers.UUIDField(allow_null=True, help_text="The level's first run.")
    runs = serializers.IntegerField(help_text="Runs at this level.")
    p = serializers.FloatField(
        allow_null=True, help_text="Of the newest run's test, corrected for the lines of the page."
    )
    detectable_drop = serializers.FloatField(
        allow_null=True, help_text="Smallest drop that the next run's test finds with 80 % power."
    )


class DriftShape(serializers.Serializer[object]):
    scorer = serializers.CharField()
    series = serializers.CharField()
    baseline = serializers.UUIDField(allow_null=True, help_text="The pinned run.")
    points = PointShape(many=True)
    change_points = ChangePointShape(many=True)
    level = LevelShape()
    limits = LimitsShape(allow_null=True)
    limits_reason = serializers.CharField(allow_blank=True, help_text="Why there are no limits.")
    outside = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Runs at another level, after which the line came back.",
    )
    sentences = serializers.ListField(child=serializers.CharField())
    is_measured = serializers.BooleanField(
        help_text="false while the worker still counts; ask again."
    )


def drift_body(line: DriftLine | None, asked: dict[str, Any]) -> dict[str, Any]:
    """A line as DriftShape describes it; without any the empty one."""
    if line:
        return report.as_json(line, report.read_relabels([line]))
    return {
        "scorer": asked.get("scorer", ""),
        "series": asked.get("series", ""),
        "baseline": None,
        "points": [],
        "change_points": [],
        "level": {
            "status": Status.UNTESTED,
            "since": None,
            "runs": 0,
            "p": None,
            "detectable_drop": None,
        },
        "limits": None,
        "limits_reason": "The dataset has no finished run.",
        "outside": [],
        "sentences": [],
        "is_measured": True,
    }
