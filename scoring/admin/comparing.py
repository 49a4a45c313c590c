"""Baselines and the figures kept of compared runs: to look at; pages pin, the site computes."""

from __future__ import annotations

from django.contrib import admin

from scoring import models as rows
from scoring.admin.base import ReadOnlyAdmin


@admin.register(rows.Baseline)
class BaselineAdmin(ReadOnlyAdmin):
    list_display = ["dataset", "series", "run", "pinned_by", "pinned_at"]
    search_fields = ["dataset__name", "series", "run__name"]
    list_select_related = ["dataset", "run", "pinned_by"]


@admin.register(rows.Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = ["baseline", "candidate", "computed_at"]
    search_fields = ["baseline__name", "candidate__name"]
    list_select_related = ["baseline", "candidate"]


@admin.register(rows.PairPlaces)
class PairPlacesAdmin(ReadOnlyAdmin):
    list_display = ["comparison", "kind", "scorer", "total"]
    list_filter = ["kind"]
    list_select_related = ["comparison__baseline", "comparison__candidate"]


@admin.register(rows.RunStep)
class RunStepAdmin(ReadOnlyAdmin):
    list_display = ["before", "after", "pairs", "fixed", "broke"]
    search_fields = ["before__name", "after__name"]
    list_select_related = ["before", "after"]


@admin.register(rows.RunDrift)
class RunDriftAdmin(ReadOnlyAdmin):
    list_display = ["run", "against", "similarity", "compared", "distinct", "sampled"]
    search_fields = ["run__name"]
    list_select_related = ["run", "against"]
