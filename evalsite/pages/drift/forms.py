"""Which drift lines of a dataset are shown; the choice lives in the address."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from scoring.engine.drift.line_runs import LineName

ALL_SCORERS = "all scorers"


class DriftForm(forms.Form):
    """One scorer or all, and any of the series; nothing chosen is everything. `until` is the run
    that the shown part of a long line ends with.
    """

    scorer = forms.ChoiceField(required=False)
    series = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, query: QueryDict, names: Sequence[LineName]) -> None:
        super().__init__(query, label_suffix="")
        self.names = names
        self.all_series = list(dict.fromkeys(name.series for name in names))
        scorers = dict.fromkeys(name.scorer for name in names)
        self._offer("scorer", [("", ALL_SCORERS), *((scorer, scorer) for scorer in scorers)])
        self._offer("series", ((series, series) for series in self.all_series))
        self.fields["scorer"].widget.attrs["data-submits"] = ""

    @property
    def has_several_series(self) -> bool:
        return len(self.all_series) > 1

    @property
    def chosen(self) -> list[LineName]:
        """The lines that the address names; none where it names a line that does not exist."""
        if not self.is_valid():
            return []
        scorer, series = self.cleaned_data["scorer"], self.cleaned_data["series"]
        return [
            name
            for name in self.names
            if scorer in ("", name.scorer) and (not series or name.series in series)
        ]

    @property
    def until(self) -> uuid.UUID | None:
        """None, which shows the newest runs, for anything that is no UUID."""
        try:
            return uuid.UUID(self.data.get("until", ""))
        except ValueError:
            return None

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field: Any = self.fields[name]
        field.choices = list(choices)
