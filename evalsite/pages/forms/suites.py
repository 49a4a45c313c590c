"""Forms of suites: which scorers, each with its threshold; or a whole suite from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db import IntegrityError, transaction

from evalsite.pages.forms.config_fields import code_area
from evalsite.pages.forms.scorers import free_name
from evalsite.pages.forms.shared import SharedForm
from scoring.core.contract import ConfigError
from scoring.core.json_text import text_of
from scoring.core.suite_text import MAX_CHARS, SuiteText, read_suite, spelling_of
from scoring.engine.suite_file import Plan
from scoring.models import AuditEntry, Scorer, Suite, SuiteEntry, Team, User
from scoring.models.audit import AuditQuerySet
from scoring.models.scorer import UNIT

THRESHOLD: Final = "threshold-"  # before a scorer's id


@dataclass(frozen=True)
class Row:
    """A scorer of the team and the field of its threshold, None where that is not to be changed."""

    scorer: Scorer
    is_in: bool
    kept: float | None  # what the suite has for it now
    threshold: forms.BoundField | None


class SuiteForm(SharedForm):
    """A suite's name and which of the team's scorers are in it, each with its threshold.

    A threshold that counts already is changed by whoever `may_change_thresholds`, with a reason.
    """

    name = forms.CharField(max_length=120)
    scorers = forms.ModelMultipleChoiceField(Scorer.objects.none(), to_field_name="uuid")
    reason = forms.CharField(
        required=False,
        label="Why thresholds change",
        help_text="Kept with each change, for whoever asks why later.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(
        self,
        *args: Any,
        team: Team,
        suite: Suite | None = None,
        may_change_thresholds: bool = False,
        **kwargs: Any,
    ) -> None:
        self.team, self.suite = team, suite
        super().__init__(*args, **kwargs)
        entries = suite.entries.select_related("scorer") if suite else ()
        self._present: dict[int, SuiteEntry] = {entry.scorer_id: entry for entry in entries}
        self._all = list(Scorer.objects.filter(team=team).order_by("name"))
        self.fields["scorers"].queryset = Scorer.objects.filter(team=team)  # type: ignore[attr-defined]
        for scorer in self._all:
            if may_change_thresholds or scorer.pk not in self._present:
                self.fields[f"{THRESHOLD}{scorer.uuid}"] = self._threshold(scorer)
        if not (may_change_thresholds and self._present):
            del self.fields["reason"]

    def _threshold(self, scorer: Scorer) -> forms.FloatField:
        entry = self._present.get(scorer.pk)
        attrs = {"step": "any", "placeholder": text_of(scorer.threshold), "class": "short"}
        attrs["aria-label"] = f"Threshold of {scorer.name}"
        return forms.FloatField(
            required=False,
            min_value=0,
            max_value=1,
            validators=UNIT,
            label=f"Threshold of {scorer.name}",
            initial=text_of(entry.threshold) if entry else None,
            widget=forms.NumberInput(attrs=attrs),
        )

    def rows(self) -> Iterator[Row]:
        """The team's scorers, those that are in the suite first and in its order."""
        chosen = {str(value) for value in self["scorers"].value() or ()}
        places = list(self._present)
        for scorer in sorted(self._all, key=lambda s: s.pk not in places):
            field = f"{THRESHOLD}{scorer.uuid}"
            entry = self._present.get(scorer.pk)
            bound = self[field] if field in self.fields else None
            kept = entry.threshold if entry else None
            yield Row(scorer, str(scorer.uuid) in chosen, kept, bound)

    def audited(self) -> AuditQuerySet:
        """What was done to the suite and to the thresholds in it."""
        return AuditEntry.objects.about(
            *self._present.values(), *[self.suite] if self.suite else []
        )

    def clean_name(self) -> str:
        others = Suite.objects.filter(team=self.team)
        return free_name(self.cleaned_data["name"], others, self.suite)

    def clean(self) -> dict[str, Any]:
        if "reason" in self.fields and self._steps() and not self.cleaned_data["reason"].strip():
            self.add_error("reason", "Say why the threshold changes.")
        return self.cleaned_data

    def _chosen(self) -> list[tuple[Scorer, float | None]]:
        """In the suite's order, new ones behind; a threshold that is left empty is the default."""
        places = {pk: place for place, pk in enumerate(self._present)}
        scorers = self.cleaned_data.get("scorers") or ()
        ordered = sorted(scorers, key=lambda s: (places.get(s.pk, len(places)), s.name))
        return [(scorer, self._given(scorer)) for scorer in ordered]

    def _given(self, scorer: Scorer) -> float | None:
        given: float | None = self.cleaned_data.get(f"{THRESHOLD}{scorer.uuid}")
        return given

    def _steps(self) -> list[tuple[SuiteEntry, float]]:
        """The entries that stay with another threshold."""
        pairs = ((self._present.get(scorer.pk), new) for scorer, new in self._chosen())
        return [(e, new) for e, new in pairs if e and new is not None and new != e.threshold]

    def save(self, by: User) -> Suite | None:
        """The suite, new or changed; scorers that stay keep their thresholds or get new ones.

        None where somebody else took the name a moment ago, or changed the suite since the form was
        opened, which is now shown.
        """
        if self.is_overtaken(by):
            return None
        try:
            with transaction.atomic():
                return self._saved(by)
        except IntegrityError:
            self.add_error("name", "The team has just got a suite of that name.")
        return None

    def _saved(self, by: User) -> Suite:
        name, entries = self.cleaned_data["name"], self._chosen()
        if self.suite is None:
            return Suite.objects.define(self.team, name, entries, by)
        self.suite.rename(name, by=by)
        for entry, new in self._steps():
            entry.change_threshold(new, by=by, reason=self.cleaned_data["reason"])
        if list(self._present) != [scorer.pk for scorer, _ in entries]:
            self.suite.replace_entries(entries, by=by)
        return self.suite


class SuiteImportForm(forms.Form):
    """A suite's file, or its text; and other names for what cannot have those of the file."""

    file = forms.FileField(required=False, help_text="JSON or YAML.")
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=MAX_CHARS,
        label="Or its text",
        widget=code_area(12),
    )
    name = forms.CharField(required=False, max_length=120, label="Name of the suite")

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        self.team = team
        super().__init__(*args, **kwargs)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > 4 * MAX_CHARS:
            raise forms.ValidationError(f"A suite's file has at most {MAX_CHARS:,} characters.")
        return file

    def clean(self) -> dict[str, Any]:
        try:
            self.cleaned_data["suite"] = self._read() if not self.errors else None
        except UnicodeDecodeError:
            self.add_error("file", "The file is not UTF-8 text.")
        except ConfigError as fault:
            for name, texts in fault.errors.items():
                start = "" if name == "suite" else f"{name}: "
                self.add_error(None, [f"{start}{text}" for text in texts])
        return self.cleaned_data

    def _read(self) -> SuiteText:
        """A file counts before a text that was there already."""
        file, text = self.cleaned_data["file"], self.cleaned_data["text"]
        called = ""
        if file:
            called, text = file.name, file.read().decode("utf-8-sig")
        if not text.strip():
            raise ConfigError({"suite": ["Choose a file, or paste its text."]})
        self.source = text
        stem = called.rpartition(".")[0]
        spelling = spelling_of(called.lower(), text)
        found = read_suite(text, spelling=spelling, name=stem, where="The suite")
        names = {} if file else self._names(len(found.scorers))
        return found.renamed("" if file else self.cleaned_data["name"], names)

    def _names(self, count: int) -> dict[int, str]:
        return {place: self.data.get(f"name-{place}", "").strip() for place in range(count)}

    @property
    def plan(self) -> Plan | None:
        """What importing would do; None where there is nothing that could be imported."""
        suite = self.cleaned_data.get("suite") if self.is_bound and self.is_valid() else None
        return Plan(self.team, suite) if suite else None
