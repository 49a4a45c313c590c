"""Which drift lines of a dataset are shown; the choice lives in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from scoring.engine.drift import Line

ALL_SCORERS = "all scorers"


class DriftForm(forms.Form):
    """One scorer or all, and any of the series; nothing chosen is everything."""

    scorer = forms.ChoiceField(required=False)
    series = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, query: QueryDict, lines: Sequence[Line]) -> None:
        super().__init__(query, label_suffix="")
        scorers, series = (
            sorted({getattr(line, name) for line in lines}) for name in ("scorer", "series")
        )
        self._choices("scorer", [("", ALL_SCORERS), *((name, name) for name in scorers)])
        self._choices("series", [(name, name) for name in series])
        self.fields["scorer"].widget.attrs["data-submits"] = ""
        self.has_several_series = len(series) > 1

    def chosen(self, lines: Sequence[Line]) -> list[Line]:
        """Those of the lines that the address names; none where it names what is not there."""
        if not self.is_valid():
            return []
        scorer, series = self.cleaned_data["scorer"], self.cleaned_data["series"]
        return [
            line
            for line in lines
            if scorer in ("", line.scorer) and (not series or line.series in series)
        ]

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field: Any = self.fields[name]
        field.choices = choices
