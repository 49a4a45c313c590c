"""The results of a run: which ones are asked for, and how one looks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evalsite.api.errors import Problem
from evalsite.api.fields import JsonField, JsonObjectField, TextField
from evalsite.api.pagination import PageShape, PlacesQuery
from scoring.models import RunScorer, Verdict
from scoring.models.case_list.change_filter import CHANGE_KINDS, ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder

RELABELLED_HELP = "By the thresholds of the run's later labels; null without any."
ORDERINGS = ["position", "score", "-score"]


def unit_field(help_text: str) -> serializers.FloatField:
    """A score in an address."""
    return serializers.FloatField(min_value=0, max_value=1, required=False, help_text=help_text)


class ResultsQuery(PlacesQuery):
    """What an address may ask of a run's results; a result must meet everything."""

    verdict = serializers.ChoiceField(
        [verdict.label for verdict in Verdict],
        required=False,
        help_text="The case's verdict; with `scorer`, that scorer's.",
    )
    scorer = TextField(
        required=False,
        help_text="A scorer of the run, by name. Left out, the only one if there is one.",
    )
    min = unit_field("The lowest score of `scorer` that is wanted.")
    max = unit_field("The highest score of `scorer` that is wanted.")
    tag = TextField(required=False, max_length=200)
    search = TextField(
        required=False, max_length=200, help_text="A text in output, key, input or expected."
    )
    change = serializers.ChoiceField(
        [(kind.value, kind.label) for kind in CHANGE_KINDS],
        required=False,
        help_text="What became of the case since `baseline`.",
    )
    baseline = serializers.UUIDField(
        required=False,
        help_text="Another run of the dataset, for `change`. Left out, the one pinned for the "
        "series, else the previous run of the series.",
    )
    reviewed = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether a person has reviewed the output.",
    )
    unsteady = serializers.BooleanField(
        default=False, help_text="true: cases of which some trials pass and others fail."
    )
    ordering = serializers.ChoiceField(
        ORDERINGS,
        default="position",
        help_text="The dataset's order, or the score of `scorer`; unscored cases come last.",
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if "baseline" in values and "change" not in values:
            text = "A baseline says nothing by itself: add change=broke or another change."
            raise serializers.ValidationError({"baseline": [text]}, "change_required")
        return values

    def chosen(
        self, scorers: list[RunScorer], change: ChangeFilter | None
    ) -> tuple[CaseFilters, CaseOrder]:
        """Filters and order among the run's scorers. Raises a problem for an unknown scorer."""
        asked = self.validated_data
        named = _scorer(asked, scorers)
        filters = CaseFilters(
            verdict=next((v for v in Verdict if v.label == asked.get("verdict")), None),
            scorer=named if _asks_scores(asked) else None,
            minimum=asked.get("min"),
            maximum=asked.get("max"),
            tag=asked.get("tag", ""),
            change=change,
            reviewed=asked["reviewed"],
            unsteady=asked["unsteady"],
            text=asked.get("search", ""),
        )
        by_score = asked["ordering"] != "position"
        order = CaseOrder(named if by_score else None, asked["ordering"] == "-score")
        return filters, order


class MissingShape(serializers.Serializer[object]):
    """A case of the dataset version that has no output in the run, in no trial."""

    key = serializers.CharField()
    position = serializers.IntegerField(min_value=1, help_text="In the dataset version.")


class MissingsShape(PageShape):
    results = MissingShape(many=True)


def _asks_scores(asked: dict[str, Any]) -> bool:
    return bool({"scorer", "min", "max"} & asked.keys())


def _scorer(asked: dict[str, Any], scorers: list[RunScorer]) -> RunScorer | None:
    if "scorer" in asked:
        found = [scorer for scorer in scorers if scorer.name == asked["scorer"]]
        if found:
            return found[0]
        names = ", ".join(scorer.name for scorer in scorers)
        text = f"The run has no scorer of this name. It has: {names}."
        raise serializers.ValidationError({"scorer": [text]}, "invalid_choice")
    if not _asks_scores(asked) and asked["ordering"] == "position":
        return None
    if len(scorers) == 1:
        return scorers[0]
    raise Problem(400, "scorer_required", "Say which scorer's score is meant: add scorer=NAME.")


class ScoreShape(serializers.Serializer[object]):
    scorer = serializers.CharField()
    status = serializers.ChoiceField(["scored", "error", "skipped"])
    score = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    verdict = serializers.ChoiceField(["pass", "fail"], allow_null=True)
    relabelled_verdict = serializers.ChoiceField(
        ["pass", "fail"], allow_null=True, help_text=f"Of the score. {RELABELLED_HELP}"
    )
    reason = serializers.CharField(allow_blank=True)
    metadata = JsonObjectField()


class OutcomeShape(serializers.Serializer[object]):
    key = serializers.CharField()
    trial = serializers.IntegerField(min_value=0)
    verdict = serializers.ChoiceField([verdict.label for verdict in Verdict])
    relabelled_verdict = serializers.ChoiceField(
        [verdict.label for verdict in Verdict],
        allow_null=True,
        help_text=f"Of the case. {RELABELLED_HELP}",
    )
    output = JsonField(help_text="A text or a JSON value; null where nothing was produced.")
    scores = ScoreShape(many=True)


class OutcomesShape(PageShape):
    results = OutcomeShape(many=True)
