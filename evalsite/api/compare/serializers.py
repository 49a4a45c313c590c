"""Compared runs: which ones are asked for, and how what changed looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rest_framework import serializers

from evalsite.api.fields import BodySerializer, JsonField, TextField, interval_field
from evalsite.api.pagination import PageShape, PlacesQuery
from evalsite.api.runs.serializers import RelabelShape
from scoring.core.stats.paired_tests import Method
from scoring.models import Output, Verdict
from scoring.models.pairs.rows import Pair, PairFilters, PairKind, PairPage, RunSide
from scoring.models.reviews.broken_cases import BrokenCases, CaseState

MAX_ROWS = 200  # their outputs come whole


class CompareQuery(BodySerializer):
    """Two runs of one dataset, by their ids."""

    baseline = serializers.UUIDField()
    candidate = serializers.UUIDField()


class CasesQuery(CompareQuery, PlacesQuery):
    kind = serializers.ChoiceField(
        PairKind.choices, default=PairKind.BROKE, help_text="What became of the case."
    )
    scorer = TextField(required=False, help_text="By name: its verdicts decide, not the cases'.")
    tag = TextField(required=False, max_length=200)
    search = TextField(
        required=False, max_length=200, help_text="A text in an output, key, input or expected."
    )
    state = serializers.ChoiceField(
        CaseState.choices, required=False, help_text="What was decided of a broken case."
    )
    page_size = serializers.IntegerField(default=50, min_value=1, max_value=MAX_ROWS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_broken = attrs["kind"] == PairKind.BROKE and not attrs.get("scorer")
        if "state" in attrs and not is_broken:
            text = "Only broken cases have a state: leave out kind and scorer."
            raise serializers.ValidationError({"state": text})
        return attrs

    def filters_for(self, broken: BrokenCases) -> PairFilters:
        """The filters with the outputs that are in the wanted state."""
        if not (state := self.validated_data.get("state")):
            return self.filters
        outputs = broken.outputs_in(CaseState(state))
        if state == CaseState.OPEN:
            return replace(self.filters, without=outputs)
        return replace(self.filters, only=outputs)

    @property
    def filters(self) -> PairFilters:
        values = self.validated_data
        return PairFilters(*(values.get(name, "") for name in ("scorer", "tag", "search")))


def both_runs_field(child: Any, help_text: str, **more: Any) -> serializers.ListField:
    """The baseline's and the candidate's."""
    return serializers.ListField(
        child=child, min_length=2, max_length=2, help_text=help_text, **more
    )


def probability_field(help_text: str) -> serializers.FloatField:
    return serializers.FloatField(min_value=0, max_value=1, allow_null=True, help_text=help_text)


METHODS: tuple[Method, ...] = ("exact", "resampled", "counted", "normal")
CORRECTED: Final = "By Holm, over all claims of the answer; significant at 0.05 or less."


class FlipsShape(serializers.Serializer[object]):
    """Verdicts of a scorer that changed."""

    n = serializers.IntegerField(min_value=0, help_text="Cases scored in both runs.")
    broke = serializers.IntegerField(min_value=0)
    fixed = serializers.IntegerField(min_value=0)
    p = probability_field(
        "Of McNemar's exact test; with several trials of the share of a case's trials that pass."
    )
    p_corrected = probability_field(CORRECTED)


class ChangeShape(serializers.Serializer[object]):
    """One scorer that both runs have, candidate minus baseline."""

    name = serializers.CharField()
    versions = both_runs_field(serializers.IntegerField(min_value=1), "Of the scorer.")
    thresholds = both_runs_field(serializers.FloatField(), "That the verdicts rest on.")
    n = serializers.IntegerField(min_value=0, help_text="Cases with a score in both runs.")
    means = both_runs_field(serializers.FloatField(), "Over those cases.", allow_null=True)
    delta = serializers.FloatField(allow_null=True, help_text="The mean difference.")
    interval = interval_field()
    p = probability_field("That chance alone makes so large a difference.")
    p_corrected = probability_field(CORRECTED)
    detectable = serializers.FloatField(
        allow_null=True,
        help_text="The smallest true difference shown with 80 % power after correction.",
    )
    method = serializers.ChoiceField(METHODS)
    improved = serializers.IntegerField(min_value=0, help_text="Cases whose score rose.")
    regressed = serializers.IntegerField(min_value=0, help_text="Cases whose score fell.")
    flips = FlipsShape()
    noise = serializers.FloatField(
        allow_null=True, help_text="How far the judge alone moves the mean."
    )
    sentence = serializers.CharField()


class SliceShape(serializers.Serializer[object]):
    """One scorer over the cases with a tag."""

    tag = serializers.CharField()
    scorer = serializers.CharField()
    n = serializers.IntegerField(min_value=0)
    delta = serializers.FloatField()
    interval = interval_field()
    p = probability_field("")
    q = probability_field("By Benjamini and Hochberg, over all slices.")
    q_corrected = probability_field("The same, corrected for the other claims, too.")
    method = serializers.ChoiceField(METHODS)


class RelabelsShape(serializers.Serializer[object]):
    """The later labels of both runs; null for a run without any."""

    baseline = RelabelShape(allow_null=True)
    candidate = RelabelShape(allow_null=True)


class CompareShape(serializers.Serializer[object]):
    """What changed from the baseline to the candidate; cases match by key, and count by the mean of
    their trials.
    """

    sentence = serializers.CharField()
    scorers = ChangeShape(many=True)
    pairs = serializers.IntegerField(min_value=0, help_text="Cases that both runs have.")
    fixed = serializers.IntegerField(min_value=0, help_text="From fail to pass.")
    broke = serializers.IntegerField(min_value=0, help_text="From pass to fail.")
    unchanged = serializers.IntegerField(
        min_value=0, help_text="Pass or fail as before, in both runs."
    )
    unclear = serializers.IntegerField(min_value=0, help_text="An error or a skip in one run.")
    judged_in_neither = serializers.IntegerField(
        min_value=0, help_text="An error or a skip in both runs."
    )
    only_baseline = serializers.IntegerField(min_value=0)
    only_candidate = serializers.IntegerField(min_value=0)
    edited = serializers.IntegerField(
        min_value=0, help_text="Pairs whose input or expected differs between dataset versions."
    )
    p = probability_field("That chance alone breaks and fixes so unevenly.")
    p_corrected = probability_field(CORRECTED)
    slices_p_corrected = probability_field("That no slice changed; null without slices.")
    claims = serializers.IntegerField(
        min_value=0, help_text="Means, flips, cases and slices whose p are corrected together."
    )
    slices = SliceShape(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    relabel = RelabelsShape(help_text="Figures and cases use the stored verdicts of both runs.")
    cases = serializers.URLField(help_text="The cases that broke; add kind= for others.")


class WaitingShape(serializers.Serializer[object]):
    """The worker compares large runs first; ask again after the seconds of Retry-After."""

    state = serializers.ChoiceField(["waiting"])


class HalfShape(serializers.Serializer[object]):
    verdict = serializers.ChoiceField([verdict.label for verdict in Verdict])
    output = JsonField(help_text="A text or a JSON value; null where nothing was produced.")


class PairShape(serializers.Serializer[object]):
    """A case in both runs; null for the run that has it not. Of several trials, the verdict is that
    of their mean, and the output that of the first.
    """

    key = serializers.CharField()
    trial = serializers.IntegerField(min_value=0, help_text="Whose output is shown.")
    is_edited = serializers.BooleanField()
    baseline = HalfShape(allow_null=True)
    candidate = HalfShape(allow_null=True)
    state = serializers.ChoiceField(
        CaseState.choices, allow_null=True, help_text="Of a broken case; null for others."
    )


class PairsShape(PageShape):
    results = PairShape(many=True)


def pair_bodies(page: PairPage, broken: BrokenCases | None) -> list[dict[str, Any]]:
    """The page's pairs as PairShape describes them; `broken` where they are broken cases."""
    halves = [half for row in page.rows for half in (row.baseline, row.candidate) if half]
    outputs = Output.objects.in_bulk([half.output for half in halves])
    return [_pair_body(row, outputs, broken) for row in page.rows]


def _pair_body(row: Pair, outputs: dict[int, Output], broken: BrokenCases | None) -> dict[str, Any]:
    state = broken.state_of(row.candidate.output).value if broken and row.candidate else None
    return {
        "key": row.key,
        "trial": row.place.trial,
        "is_edited": row.is_edited,
        "baseline": _half(row.baseline, outputs),
        "candidate": _half(row.candidate, outputs),
        "state": state,
    }


def _half(half: RunSide | None, outputs: dict[int, Output]) -> dict[str, Any] | None:
    if half is None:
        return None
    return {"verdict": half.verdict.label, "output": outputs[half.output].value}
