"""Searches and filters. A filter with an invalid value matches nothing."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django import forms

from scoring.models.data.dataset import CaseQuerySet

MAX_TEXT = 200


class Chip(NamedTuple):
    """An active filter, and the address without it."""

    text: str
    url: str


class SearchForm(forms.Form):
    """The search in the top bar."""

    q = forms.CharField(max_length=MAX_TEXT, required=False)

    @property
    def text(self) -> str:
        return self.cleaned_data["q"] if self.is_valid() else ""


class CaseSearchForm(forms.Form):
    """The filter of cases and the dataset version; without a number, the latest."""

    q = forms.CharField(max_length=MAX_TEXT, required=False)
    tag = forms.CharField(max_length=MAX_TEXT, required=False)
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)

    def filter_cases(self, cases: CaseQuerySet) -> CaseQuerySet:
        if not self.is_valid():
            return cases.none()
        if text := self.cleaned_data["q"]:
            cases = cases.matching(text)
        if tag := self.cleaned_data["tag"]:
            cases = cases.tagged(tag)
        return cases

    @property
    def are_on(self) -> bool:
        return bool(self.data.get("q") or self.data.get("tag"))

    @property
    def is_by_tag(self) -> bool:
        """Whether a tag is the only filter."""
        return bool(self.data.get("tag") and not self.data.get("q"))

    @property
    def query(self) -> str:
        """The query string of the same filters; "" for all cases of the latest version."""
        chosen = {name: self.data[name] for name in self.fields if self.data.get(name)}
        return f"?{urlencode(chosen)}" if chosen else ""
