"""What a person types to find something. A filter that cannot be used finds nothing."""

from __future__ import annotations

from urllib.parse import urlencode

from django import forms

from scoring.models.dataset import CaseQuerySet

MAX_TEXT = 200


class SearchForm(forms.Form):
    """The search in the top bar."""

    q = forms.CharField(max_length=MAX_TEXT, required=False)

    @property
    def text(self) -> str:
        return self.cleaned_data["q"] if self.is_valid() else ""


class CaseFilters(forms.Form):
    """Which cases of which dataset version are shown; without a number, of the latest."""

    q = forms.CharField(max_length=MAX_TEXT, required=False)
    tag = forms.CharField(max_length=MAX_TEXT, required=False)
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)

    def applied_to(self, cases: CaseQuerySet) -> CaseQuerySet:
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
        """Whether a tag alone tells the cases from the others."""
        return bool(self.data.get("tag") and not self.data.get("q"))

    @property
    def query(self) -> str:
        """The query string that chooses the same again; "" for all of the latest version."""
        chosen = {name: self.data[name] for name in self.fields if self.data.get(name)}
        return f"?{urlencode(chosen)}" if chosen else ""
